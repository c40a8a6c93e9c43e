import packageJson from "../package.json" with { type: "json" };

/**
 * The commit that this program was built from, such as `1a2b3c4` or `1a2b3c4, changed`. Defined only in built
 * programs; empty if the commit is unknown.
 */
declare const BUILD_COMMIT: string | undefined;

/** This program's version, such as `0.1.0`; bundlers insert it at build time. */
export const VERSION: string = packageJson.version;

/**
 * The version with its commit, such as `0.1.0 (1a2b3c4)`, or without if the commit is unknown. A checkout
 * does not report uncommitted changes at runtime, since that would require running git.
 */
export async function describeVersion(): Promise<string> {
  const commit = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : await readCheckoutCommit();
  return commit ? `${VERSION} (${commit})` : VERSION;
}

const CHECKOUT = `${import.meta.dir}/../../..`;
const FULL_HASH = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const REFERENCE = /^ref: (refs\/[\w./-]+)$/;
// Git's own abbreviation length for a repository of this size.
const SHOWN_DIGITS = 7;

/**
 * The abbreviated commit that is checked out where these sources are; undefined if they are not in a
 * checkout. Reads the repository's files: running git would run the programs that its settings name.
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

/** In a worktree and in a submodule, `.git` is a file that names the directory. */
async function findGitDirectory(checkout: string): Promise<string | undefined> {
  const text = await readTrimmed(`${checkout}/.git`);
  if (text === undefined) return `${checkout}/.git`;
  const named = /^gitdir: (.+)$/m.exec(text)?.[1];
  return named && from(checkout, named);
}

/** A worktree has its own HEAD; its branches are in the main repository. */
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

/** Uses Bun's API: loading node:fs takes half as long as all of `--version`. */
async function readTrimmed(path: string): Promise<string | undefined> {
  try {
    return (await Bun.file(path).text()).trim();
  } catch {
    // Missing, a directory, or not readable: the commit is unknown then.
    return undefined;
  }
}
