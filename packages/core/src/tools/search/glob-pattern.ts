/** A glob as a directory without wildcards and the rest, which is matched against paths below that directory. */
export interface GlobPattern {
  /** Empty for the directory the pattern starts from; absolute or beginning with `~/` where the pattern was. */
  directory: string;
  rest: string;
}

const WILDCARDS = /[*?[\]{}!\\]/;

/**
 * Splits a glob at the first component with a wildcard (the last component always stays in
 * `rest`; a slash at the end means everything below), so that only the
 * named directory is walked and is what an approval is asked for.
 */
export function splitGlobPattern(pattern: string): GlobPattern {
  const components = pattern.replace(/\/+$/, "/**").split("/");
  const wild = components.findIndex((component) => WILDCARDS.test(component));
  const at = wild === -1 ? components.length - 1 : wild;
  const directory = components.slice(0, at).join("/");
  return {
    directory: directory === "" && at > 0 ? "/" : directory,
    rest: components.slice(at).join("/"),
  };
}

/**
 * Tells whether a path below the pattern's directory matches. A pattern without a slash matches at any depth, as in
 * `.gitignore`. Brackets also stand for themselves, for files such as `[id].tsx`.
 */
export function createGlobMatcher({ directory, rest }: GlobPattern): (path: string) => boolean {
  const anchored = rest.includes("/") || directory !== "";
  const glob = new Bun.Glob(anchored ? rest : `**/${rest}`);
  if (!rest.includes("[")) return (path) => glob.match(path);
  const literal = new Bun.Glob((anchored ? rest : `**/${rest}`).replace(/[[\]]/g, "\\$&"));
  return (path) => glob.match(path) || literal.match(path);
}
