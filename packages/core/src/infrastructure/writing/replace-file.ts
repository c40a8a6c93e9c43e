import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { randomHex } from "../random-hex.ts";
import type { HeldDirectory } from "../reading/held-directory.ts";
import { systemErrorCode } from "../system-error.ts";

const MODE_BITS = 0o7777;

/** A file by the directory it lies in, which stays the same whatever becomes of its path. */
export interface FilePlace {
  directory: HeldDirectory;
  name: string;
}

/** A name beside a file, so that a rename stays within one file system. Short: the file's own may be the longest allowed. */
export function temporaryName(): string {
  return `.diligent-${randomHex(6)}.tmp`;
}

/** A new path in the directory of `path`; nothing is made there. */
export function temporaryPathBeside(path: string): string {
  return join(dirname(path), temporaryName());
}

/** Writes all bytes from `position` on; one `write` may take fewer than it was given. */
export function writeAll(fd: number, content: Uint8Array, position = 0): void {
  for (let done = 0; done < content.length; ) {
    done += writeSync(fd, content, done, content.length - done, position + done);
  }
}

/** Makes a file that was not there; `alreadyThere` makes the error if it is by now. */
export function createFile(place: FilePlace, content: Uint8Array, alreadyThere: () => Error): void {
  const path = place.directory.at(place.name);
  withTemporaryFile(place, 0o666, (temporaryPath, fd) => {
    writeAll(fd, content);
    fsyncSync(fd);
    try {
      // Unlike a rename, a link never takes the place of something.
      linkSync(temporaryPath, path);
    } catch (error) {
      if (systemErrorCode(error) === "EEXIST") throw alreadyThere();
      if (lstatSync(path, { throwIfNoEntry: false })) throw alreadyThere();
      // Some file systems know no hard links.
      renameSync(temporaryPath, path);
    }
  });
}

/** What a file that takes another's place is checked against and made like. */
export interface Replacement {
  /** Of the file that is replaced: owner, group and mode are taken over. */
  before: BigIntStats;
  /** Called at the last moment; throws to stop. */
  assertUnchanged: () => void;
}

/** False, with nothing changed, where the file cannot be replaced by one with the same owner and mode. */
export function replaceByRename(
  place: FilePlace,
  content: Uint8Array,
  { before, assertUnchanged }: Replacement,
): boolean {
  try {
    return withTemporaryFile(place, 0o600, (temporaryPath, fd) => {
      if (!adoptOwnerAndMode(fd, before)) return false;
      writeAll(fd, content);
      // Writing takes the setuid and setgid bits away from whoever is not the superuser.
      if (!adoptOwnerAndMode(fd, before)) return false;
      fsyncSync(fd);
      assertUnchanged();
      renameSync(temporaryPath, place.directory.at(place.name));
      return true;
    });
  } catch (error) {
    // No new files in this directory, or something is mounted on the file.
    if (["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(systemErrorCode(error) ?? "")) return false;
    throw error;
  }
}

function withTemporaryFile<T>(
  { directory }: FilePlace,
  mode: number,
  use: (temporaryPath: string, fd: number) => T,
): T {
  const name = temporaryName();
  const temporaryPath = directory.at(name);
  const fd = openSync(temporaryPath, "wx", mode);
  try {
    directory.assertHolds(fd, name);
    return use(temporaryPath, fd);
  } finally {
    closeSync(fd);
    removeIfThere(temporaryPath);
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // After a rename it is gone; and an error of the write itself is worth more than one of tidying up.
  }
}

/** Owner first: changing it clears the setuid and setgid bits. */
function adoptOwnerAndMode(fd: number, { uid, gid, mode }: BigIntStats): boolean {
  const own = fstatSync(fd, { bigint: true });
  const wantedMode = Number(mode) & MODE_BITS;
  try {
    if (own.uid !== uid || own.gid !== gid) fchownSync(fd, Number(uid), Number(gid));
    fchmodSync(fd, wantedMode);
  } catch {
    return false; // Only the superuser may give files away; the caller has another way.
  }
  const adopted = fstatSync(fd, { bigint: true });
  return adopted.uid === uid && adopted.gid === gid && (Number(adopted.mode) & MODE_BITS) === wantedMode;
}
