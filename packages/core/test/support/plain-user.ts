import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryBase } from "./temp-dir.ts";

// The number that systems give to nobody.
const NOBODY = 65_534;

/** Words before a command line that let it run as a user without the administrator's rights, if this process has them. */
export const AS_PLAIN_USER: readonly string[] =
  process.geteuid?.() === 0 ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];

/** Gives these to the user as whom `AS_PLAIN_USER` lets something run. */
export function giveToPlainUser(...paths: readonly string[]): void {
  if (process.geteuid?.() === 0) for (const path of paths) chownSync(path, NOBODY, NOBODY);
}

/** Acts as a user whom permissions mean something to: an administrator lists every directory. */
export function asPlainUser<T>(act: () => T): T {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(NOBODY);
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}

/** Why such a user does not reach the directories that tests make. */
export function findPlainUserObstacle(): string | undefined {
  const isReached = asPlainUser(() => existsSync(join(temporaryBase(), ".")));
  return isReached ? undefined : "the temporary directory is closed to other users";
}

/** Why such a user cannot start this Bun, or read `script`: a checkout may be below a home that is closed to others. */
export function findPlainProcessObstacle(script: string): string | undefined {
  const [setpriv] = AS_PLAIN_USER;
  if (setpriv !== undefined && Bun.which(setpriv) === null) return `${setpriv} is not installed`;
  const trial = ["sh", "-c", START_AND_READ, process.execPath, script];
  const { success } = Bun.spawnSync([...AS_PLAIN_USER, ...trial], { stdout: "ignore", stderr: "ignore" });
  return success ? findPlainUserObstacle() : "another user can start no Bun here or not read the checkout";
}

const START_AND_READ = '"$0" --version && cat "$1"';

/** Why such a user cannot start this Bun in a box here, or read `script`. */
export function findPlainBoxObstacle(script: string): string | undefined {
  const obstacle = findPlainProcessObstacle(script);
  if (obstacle !== undefined) return obstacle;
  const box = [
    "bwrap",
    "--unshare-user",
    "--unshare-net",
    "--unshare-pid",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
  ];
  const trial = ["sh", "-c", START_AND_READ, process.execPath, script];
  const { success } = Bun.spawnSync([...AS_PLAIN_USER, ...box, ...trial], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return success ? undefined : "another user can make no box here";
}
