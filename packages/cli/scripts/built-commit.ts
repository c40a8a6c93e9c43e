import { readCheckoutCommit } from "../src/version.ts";

/**
 * What a build says it was made from, such as `1a2b3c4`, or `1a2b3c4, changed` where the checkout has more than that
 * commit; empty where the sources are no checkout.
 * @param checkout absolute.
 */
export async function describeBuiltCommit(checkout: string): Promise<string> {
  const commit = await readCheckoutCommit(checkout);
  if (commit === undefined) return "";
  return (await isChanged(checkout)) ? `${commit}, changed` : commit;
}

/** Whether git knows of changes; what it cannot tell is not said. Who builds runs what the checkout brings in any case. */
async function isChanged(checkout: string): Promise<boolean> {
  const git = Bun.which("git");
  if (git === null) return false;
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const command = [git, "--no-optional-locks", "status", "--porcelain"];
  const status = Bun.spawn(command, { cwd: checkout, env, stdin: "ignore", stderr: "ignore" });
  return (await status.stdout.text()) !== "";
}
