import {
  type BigIntStats,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { locateFile } from "../reading/file-target.ts";
import { readWholeFile } from "../reading/regular-file.ts";
import { systemErrorCode } from "../system-error.ts";
import { withFileLock } from "./file-lock.ts";
import { temporaryPathBeside, writeAll } from "./replace-file.ts";

/**
 * Changes a file that only this user may read (0600, directories that are missing 0700), whole or not at all. `change`
 * gets the content, undefined when there is none yet, and returns the new one. Processes of ours that change the file
 * at the same time wait for each other, so none of their changes is lost.
 * @throws what `change` throws, and errors of the file system; the file is as it was then.
 */
export async function updatePrivateFile(
  path: string,
  change: (content: Uint8Array | undefined) => Uint8Array,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await withFileLock(path, () => {
    const { realPath, stats } = locateFile(path);
    const content = change(stats === undefined ? undefined : readWholeFile(realPath));
    if (!replaceIfUnchanged(realPath, content, stats))
      throw new Error(`${path} was changed by another program meanwhile; nothing was written.`);
  });
}

/** False when the file is no longer what `before` says. */
function replaceIfUnchanged(path: string, content: Uint8Array, before: BigIntStats | undefined): boolean {
  const temporaryPath = temporaryPathBeside(path);
  const fd = openSync(temporaryPath, "wx", 0o600);
  let isMoved = false;
  try {
    writeAll(fd, content);
    fsyncSync(fd);
    if (before === undefined) return linkIfFree(temporaryPath, path);
    if (!isUnchanged(path, before)) return false;
    renameSync(temporaryPath, path);
    isMoved = true;
    return true;
  } finally {
    closeSync(fd);
    if (!isMoved) unlinkSync(temporaryPath);
  }
}

function linkIfFree(temporaryPath: string, path: string): boolean {
  try {
    linkSync(temporaryPath, path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isUnchanged(path: string, before: BigIntStats): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return now?.ino === before.ino && now.size === before.size && now.mtimeNs === before.mtimeNs;
}
