import { describe, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setAttribute } from "./extended-attribute.ts";
import { makeTempDir } from "./temp-dir.ts";

/**
 * Declares a test that `obstacle` makes impossible on this machine: where there is one, it is skipped and its title
 * gives the reason.
 */
export function testUnless(obstacle: string | undefined) {
  return (title: string, run: Parameters<typeof test>[1], timeoutMs?: number): void => {
    if (obstacle === undefined) test(title, run, timeoutMs);
    else test.skip(`${title} (skipped: ${obstacle})`, run, timeoutMs);
  };
}

/** The same for a group of tests. */
export function describeUnless(obstacle: string | undefined) {
  return (title: string, declare: () => void): void => {
    if (obstacle === undefined) describe(title, declare);
    else describe.skip(`${title} (skipped: ${obstacle})`, declare);
  };
}

const IS_ROOT = process.getuid?.() === 0;

/** Of tests that change owners. */
export const ONLY_ROOT_CAN = IS_ROOT ? undefined : "needs root";

/** Of tests in which permissions refuse something. */
export const ROOT_CAN_ANYWAY = IS_ROOT ? "permissions do not bind root" : undefined;

/** Why nothing can be mounted here: only root may, and not in every container. */
export function findMountObstacle(): string | undefined {
  const directory = join(makeTempDir(), "mount");
  mkdirSync(directory);
  if (Bun.which("mount") === null) return "mount is not installed";
  const { success, stderr } = Bun.spawnSync(["mount", "-t", "tmpfs", "diligent-test", directory]);
  if (!success) return firstLineOf(stderr) ?? "mount fails";
  Bun.spawnSync(["umount", directory]);
  return undefined;
}

/** Why files of the temporary directory have no extended attributes. */
export function findAttributeObstacle(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  const file = join(makeTempDir(), "file");
  writeFileSync(file, "");
  return setAttribute(file, "user.note", "x")
    ? undefined
    : "no extended attributes in the temporary directory";
}

function firstLineOf(output: Buffer): string | undefined {
  return /\S.*/.exec(output.toString())?.[0];
}
