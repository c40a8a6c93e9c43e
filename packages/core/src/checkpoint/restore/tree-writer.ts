import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { DESCRIPTORS, HeldDirectory, pathOfDescriptor } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { rewriteInPlace, writeAll } from "../../infrastructure/fs/write.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { FileEntry, Owned, TreeEntry } from "../entries.ts";
import { readTarget } from "../tree/project-state.ts";

const MODE_BITS = 0o7777;
const PRIVATE_DIRECTORY = 0o700;
// Of what others own, the bits that would let anybody act as whoever restores it.
const ACTS_AS_OWNER = 0o6000;

/** What is to stand at a path. */
type NewFile = Pick<FileEntry, "mode" | "uid" | "gid"> & { content: Uint8Array };

/** A directory has something in it that is not to be taken away. */
export class NotEmptyError extends Error {
  override name = "NotEmptyError";
}

/**
 * Changes single paths of a project, each whole or not at all. Every directory on the way is held open and no link is
 * followed, so nothing outside of the project is ever changed, whatever another process does meanwhile. All methods throw
 * errors of the file system, `MovedPathError` and the two above.
 */
export class TreeWriter {
  /**
   * @param root absolute and real.
   * @param temporaryName of a file while it is written beside the one it replaces.
   */
  constructor(
    private readonly root: string,
    private readonly temporaryName: string,
  ) {}

  /** @param present what was seen there. */
  remove(path: string, present: TreeEntry): void {
    this.within(path, (directory, name) => {
      const target = at(directory, name);
      assertPresent(target, present);
      if (present.kind !== "directory") return unlinkSync(target);
      try {
        rmdirSync(target);
      } catch (error) {
        if (!["ENOTEMPTY", "EEXIST"].includes(systemErrorCode(error) ?? "")) throw error;
        throw new NotEmptyError(path);
      }
    });
  }

  /** For this user only, until its mode is set. False: it could not be given to whom it belonged. */
  makeDirectory(path: string, owned: Owned): boolean {
    return this.within(path, (directory, name) => {
      try {
        mkdirSync(at(directory, name), PRIVATE_DIRECTORY);
      } catch (error) {
        throw systemErrorCode(error) === "EEXIST" ? new ChangedMeanwhileError(path) : error;
      }
      const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
      const made = openSync(at(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        return giveOwner(made, owned);
      } finally {
        closeSync(made);
      }
    });
  }

  /** @param present what was seen there: a file or link that gives way, or nothing. */
  putLink(path: string, target: string, present: TreeEntry | undefined): void {
    this.within(path, (directory, name) => {
      const place = present ? this.temporaryName : name;
      try {
        symlinkSync(toSystemPath(target), at(directory, place));
      } catch (error) {
        throw systemErrorCode(error) === "EEXIST" ? new ChangedMeanwhileError(path) : error;
      }
      if (present) this.moveInto(directory, name, present);
    });
  }

  /**
   * @param present what was seen there: a file or link that gives way, or nothing.
   * @returns false: it could not be given to whom it belonged.
   */
  putFile(path: string, file: NewFile, present: TreeEntry | undefined): boolean {
    return this.within(path, (directory, name) => {
      const temporary = at(directory, this.temporaryName);
      const descriptor = openSync(temporary, "wx", 0o600);
      let isMoved = false;
      try {
        directory.assertHolds(descriptor, this.temporaryName);
        writeAll(descriptor, file.content);
        const isOwned = giveOwner(descriptor, file);
        fchmodSync(descriptor, isOwned ? file.mode : file.mode & ~ACTS_AS_OWNER);
        if (present) this.moveInto(directory, name, present);
        else isMoved = linkOrMove(temporary, at(directory, name));
        isMoved ||= present !== undefined;
        return isOwned;
      } finally {
        closeSync(descriptor);
        if (!isMoved) removeQuietly(temporary);
      }
    });
  }

  /**
   * Another name for a file that was just restored. @throws also where the file system knows no such names.
   * @param twin the path of that file.
   * @param present as `putFile` has it.
   */
  linkFile(path: string, twin: string, present: TreeEntry | undefined): void {
    this.within(twin, (from, twinName) =>
      this.within(path, (directory, name) => {
        linkSync(at(from, twinName), at(directory, present ? this.temporaryName : name));
        if (!present) return;
        this.moveInto(directory, name, present);
        // A rename onto another name of the same file does nothing.
        removeQuietly(at(directory, this.temporaryName));
      }),
    );
  }

  /** For a file with other names, an owner or attributes that a new one would not have. Its mode is set afterwards. */
  rewriteFile(path: string, content: Uint8Array, present: TreeEntry): void {
    this.within(path, (directory, name) => {
      const target = at(directory, name);
      assertPresent(target, present);
      const before = lstatSync(target, { bigint: true });
      const mode = Number(before.mode) & MODE_BITS;
      const isOpen = (mode & 0o600) === 0o600;
      if (isOpen) return rewriteInPlace({ directory, name }, content, before);
      changeMode(target, mode | 0o600);
      try {
        rewriteInPlace({ directory, name }, content, before);
      } catch (error) {
        // As it was seen, or the next attempt would take the mode for somebody else's change.
        changeModeQuietly(target, mode);
        throw error;
      }
      changeMode(target, mode);
    });
  }

  /** Of a file or a directory. */
  setMode(path: string, mode: number): void {
    this.within(path, (directory, name) => changeMode(at(directory, name), mode));
  }

  /** The mode of a directory; undefined where there is none. */
  directoryMode(path: string): number | undefined {
    try {
      return this.within(path, (directory, name) => {
        const stats = findStats(at(directory, name));
        return stats?.isDirectory() ? stats.mode & MODE_BITS : undefined;
      });
    } catch {
      return undefined; // A part of its path is gone or may not be entered: what is to be done there will say so.
    }
  }

  /** Takes away what a restoration that was cut off has left in a directory. */
  removeTemporary(directory: string, temporaryName: string): void {
    const path = directory === "" ? temporaryName : `${directory}/${temporaryName}`;
    try {
      this.within(path, (held, name) => unlinkSync(at(held, name)));
    } catch {
      // As a rule there is none.
    }
  }

  private moveInto(directory: HeldDirectory, name: string, present: TreeEntry): void {
    const temporary = at(directory, this.temporaryName);
    try {
      assertPresent(at(directory, name), present);
      renameSync(temporary, at(directory, name));
    } catch (error) {
      removeQuietly(temporary);
      throw error;
    }
  }

  private within<T>(path: string, use: (directory: HeldDirectory, name: string) => T): T {
    const isElsewhere = path.startsWith("/");
    const names = (isElsewhere ? path.slice(1) : path).split("/");
    const name = names.pop() ?? "";
    let directory = HeldDirectory.open(isElsewhere ? "/" : this.root);
    try {
      for (const each of names) {
        const child = directory.openChild(each);
        directory[Symbol.dispose]();
        directory = child;
      }
      return use(directory, name);
    } finally {
      directory[Symbol.dispose]();
    }
  }
}

function at(directory: HeldDirectory, name: string): string | Buffer {
  return toSystemPath(directory.at(name));
}

/** @throws ChangedMeanwhileError when something else stands there. */
function assertPresent(path: string | Buffer, present: TreeEntry): void {
  const stats = findStats(path);
  if (!stats || !isPresent(path, stats, present)) throw new ChangedMeanwhileError(String(path));
}

function isPresent(path: string | Buffer, stats: Stats, present: TreeEntry): boolean {
  switch (present.kind) {
    case "file":
      return stats.isFile() && stats.ino === present.inode && stats.mtimeMs === present.modifiedMs;
    case "link":
      return stats.isSymbolicLink() && readTarget(path) === present.target;
    case "directory":
      return stats.isDirectory();
    case "cache":
    case "control":
      return false; // Nothing is ever done to one.
  }
}

/** Puts a file where nothing is; unlike a rename, a link never takes the place of something. True: its first name is gone. */
function linkOrMove(temporary: string | Buffer, path: string | Buffer): boolean {
  try {
    linkSync(temporary, path);
    return false;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST" || findStats(path)) throw new ChangedMeanwhileError(String(path));
    // Some file systems know no hard links.
    renameSync(temporary, path);
    return true;
  }
}

function changeModeQuietly(path: string | Buffer, mode: number): void {
  try {
    changeMode(path, mode);
  } catch {
    // The error that led here is worth more than this one.
  }
}

function removeQuietly(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // The error that led here is worth more than this one.
  }
}

// Linux's O_PATH: a file of which nothing may be read can be held with it.
const O_PATH = 0o10000000;

/** Somebody has changed what stands at a path since it was looked at; nothing was done there. */
export class ChangedMeanwhileError extends Error {
  override name = "ChangedMeanwhileError";
}

/** Never through a link: what is changed is held open. @throws ChangedMeanwhileError, and errors of the file system. */
function changeMode(path: string | Buffer, mode: number): void {
  const file = openToChange(path);
  try {
    const stats = fstatSync(file.descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw new ChangedMeanwhileError(String(path));
    if (file.isReadable) fchmodSync(file.descriptor, mode);
    else chmodSync(`${DESCRIPTORS}/${file.descriptor}`, mode);
  } finally {
    closeSync(file.descriptor);
  }
}

function openToChange(path: string | Buffer): { descriptor: number; isReadable: boolean } {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return { descriptor: openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), isReadable: true };
  } catch (error) {
    if (systemErrorCode(error) === "ELOOP") throw new ChangedMeanwhileError(String(path));
    if (systemErrorCode(error) !== "EACCES") throw error;
    const descriptor = openSync(path, O_PATH | O_NOFOLLOW);
    if (pathOfDescriptor(descriptor) !== undefined) return { descriptor, isReadable: false };
    closeSync(descriptor);
    throw error; // This system has no such way.
  }
}

/**
 * Gives what was just made the owner and the group that it had; only an administrator may give something away, others as a
 * rule their own groups at most. False where not both are as they were.
 */
function giveOwner(descriptor: number, { uid, gid }: Owned): boolean {
  if (uid === undefined || gid === undefined) return true;
  const now = fstatSync(descriptor);
  if (now.uid === uid && now.gid === gid) return true;
  for (const owner of new Set([uid, now.uid])) {
    try {
      fchownSync(descriptor, owner, gid);
      return owner === uid;
    } catch {
      // Not for us to do: then the group alone, or neither.
    }
  }
  return false;
}
