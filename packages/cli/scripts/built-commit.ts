import { readCheckoutCommit } from "../src/version.ts";

/**
 * The commit that a build comes from, such as `1a2b3c4`, or `1a2b3c4, changed` if the checkout has further
 * changes; empty if the sources are not in a checkout.
 * @param checkout absolute.
 */
export async function describeBuiltCommit(checkout: string): Promise<string> {
  const commit = await readCheckoutCommit(checkout);
  if (commit === undefined) return "";
  return (await isChanged(checkout)) ? `${commit}, changed` : commit;
}

/**
 * Whether git reports changes; if it fails, none are reported. Building runs the checkout's code in any case,
 * so running git is acceptable here.
 */
async function isChanged(checkout: string): Promise<boolean> {
  const git = Bun.which("git");
  if (git === null) return false;
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const command = [git, "--no-optional-locks", "status", "--porcelain"];
  const status = Bun.spawn(command, { cwd: checkout, env, stdin: "ignore", stderr: "ignore" });
  return (await status.stdout.text()) !== "";
}
