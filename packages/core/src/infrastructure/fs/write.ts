import { dlopen, FFIType } from "bun:ffi";
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { libcNames } from "../libc-names.ts";
import { platformName, randomHex } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { HeldDirectory } from "./real-path.ts";

/** The file has changed since the caller read it; nothing was written. */
export class FileChangedError extends Error {
  override name = "FileChangedError";
}

/**
 * Writes a file atomically. `path` must be real; `before` is the state that the caller saw, undefined for a file that
 * must not exist. Returns the new state. @throws system errors, `FileChangedError` and `MovedPathError`, with the old
 * content in place and no temporary file left.
 *
 * A plain file is replaced by a new one with its mode, owner and group. A file with other names (hard links) or
 * extended attributes, or whose directory or owner does not allow a replacement, is rewritten in place instead, with a
 * temporary copy next to it. New files get 0666 less the umask. Even if another process replaces directories of the
 * path meanwhile, nothing is written outside the directory that was at `path` in the beginning.
 */
export function writeWholeFile(
  path: string,
  content: Uint8Array,
  before: BigIntStats | undefined,
): BigIntStats {
  using directory = HeldDirectory.open(dirname(path));
  const location: FileLocation = { directory, name: basename(path) };
  if (before === undefined) {
    createFile(location, content, () => new FileChangedError(`${path} was created in the meantime.`));
  } else {
    overwriteFile(location, content, before);
  }
  return lstatSync(directory.at(location.name), { bigint: true });
}

function overwriteFile(location: FileLocation, content: Uint8Array, before: BigIntStats): void {
  const { directory, name } = location;
  const path = directory.at(name);
  const assertUnchanged = () => {
    if (isUnchanged(path, before)) return;
    throw new FileChangedError(`${join(directory.realPath, name)} has changed in the meantime.`);
  };
  assertUnchanged();
  // A replacement only needs a writable directory: without this check a read-only file would be overwritten.
  accessSync(path, constants.W_OK);
  const mayReplace = before.nlink === 1n && !hasExtendedAttributes(path);
  if (!mayReplace || !replaceByRename(location, content, { before, assertUnchanged })) {
    rewriteInPlace(location, content, before);
  }
}

function isUnchanged(path: string, before: BigIntStats): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return (
    now?.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs
  );
}

const MODE_BITS = 0o7777;

/** A file in an open directory, which stays the same if its path changes. */
interface FileLocation {
  directory: HeldDirectory;
  name: string;
}

/**
 * A name next to a file, so that a rename stays within one file system. It is short because the file's name may have
 * the maximum length.
 */
function temporaryName(): string {
  return `.diligent-${randomHex(6)}.tmp`;
}

/** A new path in the directory of `path`; nothing is created there. */
export function temporaryPathBeside(path: string): string {
  return join(dirname(path), temporaryName());
}

/** Writes all bytes from `position` on; a single `write` may write fewer. */
export function writeAll(fd: number, content: Uint8Array, position = 0): void {
  for (let done = 0; done < content.length; ) {
    done += writeSync(fd, content, done, content.length - done, position + done);
  }
}

/** Creates a file that does not exist; `alreadyExists` creates the error if it does. */
function createFile(location: FileLocation, content: Uint8Array, alreadyExists: () => Error): void {
  const path = location.directory.at(location.name);
  withTemporaryFile(location, 0o666, (temporaryPath, fd) => {
    writeAll(fd, content);
    fsyncSync(fd);
    try {
      // Unlike a rename, a link never replaces a file.
      linkSync(temporaryPath, path);
    } catch (error) {
      if (systemErrorCode(error) === "EEXIST") throw alreadyExists();
      if (lstatSync(path, { throwIfNoEntry: false })) throw alreadyExists();
      // Some file systems have no hard links.
      renameSync(temporaryPath, path);
    }
  });
}

/** The requirements for a file that replaces another one. */
interface Replacement {
  /** The stats of the replaced file: owner, group and mode are copied. */
  before: BigIntStats;
  /** Called just before the replacement; throws to prevent it. */
  assertUnchanged: () => void;
}

/** False, with nothing changed, when a new file cannot have the same owner and mode. */
function replaceByRename(
  location: FileLocation,
  content: Uint8Array,
  { before, assertUnchanged }: Replacement,
): boolean {
  try {
    return withTemporaryFile(location, 0o600, (temporaryPath, fd) => {
      if (!adoptOwnerAndMode(fd, before)) return false;
      writeAll(fd, content);
      // Writing clears the setuid and setgid bits for everyone except the superuser.
      if (!adoptOwnerAndMode(fd, before)) return false;
      fsyncSync(fd);
      assertUnchanged();
      renameSync(temporaryPath, location.directory.at(location.name));
      return true;
    });
  } catch (error) {
    // The directory allows no new files, or the file is a mount point.
    if (["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(systemErrorCode(error) ?? "")) return false;
    throw error;
  }
}

function withTemporaryFile<T>(
  { directory }: FileLocation,
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
    removeIfExists(temporaryPath);
  }
}

function removeIfExists(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // After a rename the file is gone, and an error of the write itself is more useful.
  }
}

/** Sets the owner first, because that clears the setuid and setgid bits. */
function adoptOwnerAndMode(fd: number, { uid, gid, mode }: BigIntStats): boolean {
  const own = fstatSync(fd, { bigint: true });
  const wantedMode = Number(mode) & MODE_BITS;
  try {
    if (own.uid !== uid || own.gid !== gid) fchownSync(fd, Number(uid), Number(gid));
    fchmodSync(fd, wantedMode);
  } catch {
    return false; // Only the superuser may change the owner; the caller rewrites in place instead.
  }
  const adopted = fstatSync(fd, { bigint: true });
  return adopted.uid === uid && adopted.gid === gid && (Number(adopted.mode) & MODE_BITS) === wantedMode;
}

/** Neither could the new content be written completely nor the old one restored. */
export class DamagedFileError extends Error {
  override name = "DamagedFileError";
}

/**
 * Replaces the content of an existing file and keeps its other names, owner, mode and attributes. A copy of the old
 * content exists next to it meanwhile. The copy stays only if the old content could not be restored; the error then
 * names it.
 */
export function rewriteInPlace(location: FileLocation, content: Uint8Array, before: BigIntStats): void {
  const { directory, name } = location;
  const fd = openSync(directory.at(name), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    directory.assertHolds(fd, name);
    const old = readFileSync(fd);
    const backup = keepBackup(location, old);
    try {
      overwrite(fd, content, old.length);
    } catch (error) {
      restore(fd, old, { location, backup, error });
      removeBackup(location, backup);
      throw error;
    }
    removeBackup(location, backup);
    restoreMode(fd, before);
  } finally {
    closeSync(fd);
  }
}

/** The part beyond the old end is written first: only that needs new space, and truncating reverts it. */
function overwrite(fd: number, content: Uint8Array, oldLength: number): void {
  writeAll(fd, content.subarray(oldLength), oldLength);
  writeAll(fd, content.subarray(0, oldLength));
  ftruncateSync(fd, content.length);
  fsyncSync(fd);
}

/** The name of the copy; undefined when the directory allows no new file: then the old content is only in memory. */
function keepBackup({ directory }: FileLocation, old: Uint8Array): string | undefined {
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

function removeBackup({ directory }: FileLocation, name: string | undefined): void {
  if (name !== undefined) unlinkSync(directory.at(name));
}

function restore(
  fd: number,
  old: Uint8Array,
  { location, backup, error }: { location: FileLocation; backup: string | undefined; error: unknown },
): void {
  try {
    ftruncateSync(fd, old.length);
    writeAll(fd, old);
    fsyncSync(fd);
  } catch {
    const { realPath } = location.directory;
    const copy = backup === undefined ? "" : ` The old content is in ${join(realPath, backup)}.`;
    throw new DamagedFileError(
      `${join(realPath, location.name)} was damaged while it was written: ${systemErrorText(error)}.${copy}`,
    );
  }
}

/** Writing clears the setuid and setgid bits for everyone except the superuser. */
function restoreMode(fd: number, { mode }: BigIntStats): void {
  if (fstatSync(fd, { bigint: true }).mode === mode) return;
  try {
    fchmodSync(fd, Number(mode) & MODE_BITS);
  } catch {
    // Not permitted: the system has cleared the bits, and the content is written.
  }
}

// Attributes that the system itself sets on every file, including a replacement.
const GIVEN_BY_THE_SYSTEM = new Set(["security.selinux", "com.apple.provenance"]);
const MAX_NAMES_BYTES = 64 * 1024;

type ListNames = (path: Uint8Array, names: Uint8Array) => bigint | number;

let listNames: ListNames | undefined;

/**
 * True when the file has attributes that a replacement would lose: access lists, capabilities, the user's own. False
 * also when they cannot be read.
 */
export function hasExtendedAttributes(path: string): boolean {
  listNames ??= loadListNames();
  const names = new Uint8Array(MAX_NAMES_BYTES);
  const length = Number(listNames(Buffer.from(`${path}\0`), names));
  if (length <= 0) return false;
  const text = Buffer.from(names.subarray(0, length)).toString();
  return text.split("\0").some((name) => name !== "" && !GIVEN_BY_THE_SYSTEM.has(name));
}

/** Neither Node nor Bun can list extended attributes, so the C library is called. */
function loadListNames(): ListNames {
  const { ptr, u64, i64, int } = FFIType;
  for (const library of libcNames()) {
    try {
      if (platformName() === "darwin") {
        const { symbols } = dlopen(library, { listxattr: { args: [ptr, ptr, u64, int], returns: i64 } });
        return (path, names) => symbols.listxattr(path, names, names.length, 0);
      }
      const { symbols } = dlopen(library, { listxattr: { args: [ptr, ptr, u64], returns: i64 } });
      return (path, names) => symbols.listxattr(path, names, names.length);
    } catch {
      // Try the next library; without any, the result is "no attributes".
    }
  }
  return () => 0;
}

/**
 * A private file (0600) whose content is always complete, even after a crash: it is created by the first write, and
 * every later write replaces it atomically.
 */
export class WholeFile {
  private isMade = false;

  /**
   * @param path absolute.
   * @throws Error if it cannot be created, also if it exists: no file is ever overwritten.
   */
  constructor(readonly path: string) {
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error("it already exists");
    accessSync(dirname(path), constants.W_OK);
  }

  /** @throws errors of the file system; the previous content stays. */
  write(content: string): void {
    if (this.isMade) this.replace(content);
    else writeNew(this.path, content);
    this.isMade = true;
  }

  private replace(content: string): void {
    const temporaryPath = temporaryPathBeside(this.path);
    writeNew(temporaryPath, content);
    try {
      renameSync(temporaryPath, this.path);
    } catch (error) {
      unlinkSync(temporaryPath);
      throw error;
    }
  }
}

function writeNew(path: string, content: string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeAll(descriptor, new TextEncoder().encode(content));
  } catch (error) {
    // The disk is full: a partial file is useless.
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
