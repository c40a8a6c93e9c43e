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
  const commit =
    typeof BUILD_COMMIT === "string"
      ? BUILD_COMMIT
      : await (await import("./checkout-commit.ts")).readCheckoutCommit();
  return commit ? `${VERSION} (${commit})` : VERSION;
}
