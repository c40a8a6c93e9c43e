import { chownSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** Whether such a user reaches the directories that tests make; said where not. */
export function canBePlainUser(): boolean {
  const isReached = asPlainUser(() => existsSync(join(tmpdir(), ".")));
  if (!isReached)
    console.log("Tests as a plain user are skipped: the temporary directory is closed to others");
  return isReached;
}

/** Whether such a user can start this Bun in a box here, and read `script`. */
export function hasPlainUserBoxes(script: string): boolean {
  const programs = ["bwrap", ...AS_PLAIN_USER.slice(0, 1)];
  if (!canBePlainUser() || !programs.every((name) => Bun.which(name))) return false;
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
  const trial = ["sh", "-c", '"$0" --version && cat "$1"', process.execPath, script];
  return Bun.spawnSync([...AS_PLAIN_USER, ...box, ...trial], { stdout: "ignore", stderr: "ignore" }).success;
}
