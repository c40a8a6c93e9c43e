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
import { join } from "node:path";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { type FilePlace, temporaryName, writeAll } from "./replace-file.ts";

const MODE_BITS = 0o7777;

/** Neither the new content could be written whole nor the old one put back. */
export class DamagedFileError extends Error {
  override name = "DamagedFileError";
}

/**
 * Gives an existing file new content and keeps everything else: its other names, owner, mode and attributes. The old
 * content stands in a file beside it meanwhile, which stays only if it could not be put back; the error then names it.
 */
export function rewriteInPlace(place: FilePlace, content: Uint8Array, before: BigIntStats): void {
  const { directory, name } = place;
  const fd = openSync(directory.at(name), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    directory.assertHolds(fd, name);
    const old = readFileSync(fd);
    const backup = keepBackup(place, old);
    try {
      overwrite(fd, content, old.length);
    } catch (error) {
      restore(fd, old, { place, backup, error });
      removeBackup(place, backup);
      throw error;
    }
    removeBackup(place, backup);
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

/** The name of the copy; undefined where the directory takes no new file: then only memory holds the old content. */
function keepBackup({ directory }: FilePlace, old: Uint8Array): string | undefined {
  const name = temporaryName();
  let fd: number;
  try {
    fd = openSync(directory.at(name), "wx", 0o600);
  } catch (error) {
    if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    directory.assertHolds(fd, name);
    writeAll(fd, old);
    fsyncSync(fd);
    return name;
  } catch (error) {
    unlinkSync(directory.at(name));
    throw error;
  } finally {
    closeSync(fd);
  }
}

function removeBackup({ directory }: FilePlace, name: string | undefined): void {
  if (name !== undefined) unlinkSync(directory.at(name));
}

function restore(
  fd: number,
  old: Uint8Array,
  { place, backup, error }: { place: FilePlace; backup: string | undefined; error: unknown },
): void {
  try {
    ftruncateSync(fd, old.length);
    writeAll(fd, old);
    fsyncSync(fd);
  } catch {
    const { realPath } = place.directory;
    const copy = backup === undefined ? "" : ` The old content is in ${join(realPath, backup)}.`;
    throw new DamagedFileError(
      `${join(realPath, place.name)} was damaged while it was written: ${systemErrorText(error)}.${copy}`,
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
