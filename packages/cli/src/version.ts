import packageJson from "../package.json" with { type: "json" };

/**
 * What was checked out when this program was built, such as `1a2b3c4` or `1a2b3c4, changed`; only what is built has it.
 * Empty where nobody could tell.
 */
declare const BUILD_COMMIT: string | undefined;

/** This program's version, such as `0.1.0`; bundlers take it in at build time. */
export const VERSION: string = packageJson.version;

/**
 * The version with the commit it was made from, such as `0.1.0 (1a2b3c4)`; without it where that is not known. What a
 * checkout has beyond its commit is not told when it is run, since that would take git.
 */
export async function describeVersion(): Promise<string> {
  const commit = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : await readCheckoutCommit();
  return commit ? `${VERSION} (${commit})` : VERSION;
}

const CHECKOUT = `${import.meta.dir}/../../..`;
const FULL_HASH = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const REFERENCE = /^ref: (refs\/[\w./-]+)$/;
// As git abbreviates by itself in a repository of this size.
const SHOWN_DIGITS = 7;

/**
 * The commit that is checked out where these sources stand, abbreviated; undefined where they are no checkout. Read from
 * the files of the repository: running git would run what it configures.
 * @param checkout absolute.
 */
export async function readCheckoutCommit(checkout = CHECKOUT): Promise<string | undefined> {
  const gitDirectory = await findGitDirectory(checkout);
  const head = gitDirectory && (await readTrimmed(`${gitDirectory}/HEAD`));
  if (gitDirectory === undefined || head === undefined) return undefined;
  const reference = REFERENCE.exec(head)?.[1];
  const hash =
    reference === undefined ? head : await readReference(await commonDirectory(gitDirectory), reference);
  return hash !== undefined && FULL_HASH.test(hash) ? hash.slice(0, SHOWN_DIGITS) : undefined;
}

/** In a worktree and in a submodule `.git` is a file that names the directory. */
async function findGitDirectory(checkout: string): Promise<string | undefined> {
  const text = await readTrimmed(`${checkout}/.git`);
  if (text === undefined) return `${checkout}/.git`;
  const named = /^gitdir: (.+)$/m.exec(text)?.[1];
  return named && from(checkout, named);
}

/** A worktree has a HEAD of its own; branches are kept with the repository. */
async function commonDirectory(gitDirectory: string): Promise<string> {
  const common = await readTrimmed(`${gitDirectory}/commondir`);
  return common === undefined ? gitDirectory : from(gitDirectory, common);
}

async function readReference(directory: string, reference: string): Promise<string | undefined> {
  const loose = await readTrimmed(`${directory}/${reference}`);
  if (loose !== undefined) return loose;
  const packed = (await readTrimmed(`${directory}/packed-refs`)) ?? "";
  return packed
    .split("\n")
    .find((line) => line.endsWith(` ${reference}`))
    ?.split(" ")[0];
}

function from(directory: string, path: string): string {
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

/** With Bun's own means: loading node:fs takes half as long as the whole of `--version`. */
async function readTrimmed(path: string): Promise<string | undefined> {
  try {
    return (await Bun.file(path).text()).trim();
  } catch {
    // Not there, a directory, or not ours to read: what depends on it is not known then.
    return undefined;
  }
}
