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

/** The file is no longer what it was when the caller looked at it; nothing was written. */
export class FileChangedError extends Error {
  override name = "FileChangedError";
}

/**
 * Writes a file whole or not at all. `path` must be real (no link in it); `before` is what the caller saw there, undefined
 * for a file that must not exist yet. Returns what is there afterwards. Throws system errors, `FileChangedError` and
 * `MovedPathError`, with the old content in place and nothing left beside it.
 *
 * A plain file is replaced by a new one with its mode, owner and group. A file that has other names (hard links) or
 * extended attributes, and one whose directory or owner do not allow a replacement, is rewritten in place instead, with
 * a copy beside it for as long as that takes. New files get 0666 less the umask. Whatever another process does to the
 * directories of the path meanwhile, nothing is written outside of the one that was at `path` in the beginning.
 */
export function writeWholeFile(
  path: string,
  content: Uint8Array,
  before: BigIntStats | undefined,
): BigIntStats {
  using directory = HeldDirectory.open(dirname(path));
  const place: FileLocation = { directory, name: basename(path) };
  if (before === undefined) {
    createFile(place, content, () => new FileChangedError(`${path} has come into being in the meantime.`));
  } else {
    overwriteFile(place, content, before);
  }
  return lstatSync(directory.at(place.name), { bigint: true });
}

function overwriteFile(place: FileLocation, content: Uint8Array, before: BigIntStats): void {
  const { directory, name } = place;
  const path = directory.at(name);
  const assertUnchanged = () => {
    if (isUnchanged(path, before)) return;
    throw new FileChangedError(`${join(directory.realPath, name)} has changed in the meantime.`);
  };
  assertUnchanged();
  // Replacing asks only for a writable directory: without this a file its owner made read-only would be overwritten.
  accessSync(path, constants.W_OK);
  const mayReplace = before.nlink === 1n && !hasExtendedAttributes(path);
  if (!mayReplace || !replaceByRename(place, content, { before, assertUnchanged })) {
    rewriteInPlace(place, content, before);
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

/** A file by the directory it lies in, which stays the same whatever becomes of its path. */
interface FileLocation {
  directory: HeldDirectory;
  name: string;
}

/** A name beside a file, so that a rename stays within one file system. Short: the file's own may be the longest allowed. */
function temporaryName(): string {
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
function createFile(place: FileLocation, content: Uint8Array, alreadyThere: () => Error): void {
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
interface Replacement {
  /** Of the file that is replaced: owner, group and mode are taken over. */
  before: BigIntStats;
  /** Called at the last moment; throws to stop. */
  assertUnchanged: () => void;
}

/** False, with nothing changed, where the file cannot be replaced by one with the same owner and mode. */
function replaceByRename(
  place: FileLocation,
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

/** Neither the new content could be written whole nor the old one put back. */
export class DamagedFileError extends Error {
  override name = "DamagedFileError";
}

/**
 * Gives an existing file new content and keeps everything else: its other names, owner, mode and attributes. The old
 * content stands in a file beside it meanwhile, which stays only if it could not be put back; the error then names it.
 */
export function rewriteInPlace(place: FileLocation, content: Uint8Array, before: BigIntStats): void {
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
  { place, backup, error }: { place: FileLocation; backup: string | undefined; error: unknown },
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

// Given to every file by the system itself, and given again to the file that takes its place.
const GIVEN_BY_THE_SYSTEM = new Set(["security.selinux", "com.apple.provenance"]);
const MAX_NAMES_BYTES = 64 * 1024;

type ListNames = (path: Uint8Array, names: Uint8Array) => bigint | number;

let listNames: ListNames | undefined;

/**
 * True when the file carries attributes that a new file in its place would lose: access lists, capabilities, the
 * user's own. False also where the system cannot be asked.
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
      // Not this library; the next one, or in the end the answer "no attributes".
    }
  }
  return () => 0;
}

/**
 * A private file (0600) that always holds one whole content, whenever the process may die: it is there from the first
 * write on, and every later one replaces it by a finished one.
 */
export class WholeFile {
  private isMade = false;

  /**
   * @param path absolute.
   * @throws Error where it could not be made, also when there is something already: nothing is ever overwritten.
   */
  constructor(readonly path: string) {
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error("it is there already");
    accessSync(dirname(path), constants.W_OK);
  }

  /** @throws errors of the file system; what the file held before stays. */
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
    // A full disk: half a content is none.
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
