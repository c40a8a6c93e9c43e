/** Files that show how settings and secrets are written, and are meant to be shared: `.env.example`, `config.template`. */
const EXAMPLE = /\.(?:example|sample|template|dist)$/i;

/** True for the name of an example, also as the last component of a path. Its content is neither secret nor obeyed. */
export function isExampleName(name: string): boolean {
  return EXAMPLE.test(name);
}
