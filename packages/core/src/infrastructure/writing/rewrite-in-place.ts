import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  unlinkSync,
} from "node:fs";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { temporaryPathBeside, writeAll } from "./replace-file.ts";

const MODE_BITS = 0o7777;

/** Neither the new content could be written whole nor the old one put back. */
export class DamagedFileError extends Error {
  override name = "DamagedFileError";
}

/**
 * Gives an existing file new content and keeps everything else: its other names, owner, mode and attributes. The old
 * content stands in a file beside it meanwhile, which stays only if it could not be put back; the error then names it.
 */
export function rewriteInPlace(path: string, content: Uint8Array, before: BigIntStats): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const old = readFileSync(fd);
    const backupPath = keepBackup(path, old);
    try {
      overwrite(fd, content, old.length);
    } catch (error) {
      restore(fd, old, { path, backupPath, error });
      if (backupPath !== undefined) unlinkSync(backupPath);
      throw error;
    }
    if (backupPath !== undefined) unlinkSync(backupPath);
    restoreMode(fd, before);
  } finally {
    closeSync(fd);
  }
}

/** What lies beyond the old end is written first: only that needs new space, and it can be taken back by cutting. */
function overwrite(fd: number, content: Uint8Array, oldLength: number): void {
  writeAll(fd, content.subarray(oldLength), oldLength);
  writeAll(fd, content.subarray(0, oldLength));
  ftruncateSync(fd, content.length);
  fsyncSync(fd);
}

/** Undefined where the directory takes no new file; then only memory holds the old content. */
function keepBackup(path: string, old: Uint8Array): string | undefined {
  const backupPath = temporaryPathBeside(path);
  let fd: number;
  try {
    fd = openSync(backupPath, "wx", 0o600);
  } catch (error) {
    if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    writeAll(fd, old);
    fsyncSync(fd);
    return backupPath;
  } catch (error) {
    unlinkSync(backupPath);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function restore(
  fd: number,
  old: Uint8Array,
  { path, backupPath, error }: { path: string; backupPath: string | undefined; error: unknown },
): void {
  try {
    ftruncateSync(fd, old.length);
    writeAll(fd, old);
    fsyncSync(fd);
  } catch {
    const place = backupPath === undefined ? "" : ` The old content is in ${backupPath}.`;
    throw new DamagedFileError(
      `${path} was damaged while it was written: ${systemErrorText(error)}.${place}`,
    );
  }
}

/** Writing takes the setuid and setgid bits away from whoever is not the superuser. */
function restoreMode(fd: number, { mode }: BigIntStats): void {
  if (fstatSync(fd, { bigint: true }).mode === mode) return;
  try {
    fchmodSync(fd, Number(mode) & MODE_BITS);
  } catch {
    // Not ours: the system has decided that the bits go, and the content is written.
  }
}
