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
import { findStats, readLinkTarget, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { rewriteInPlace, writeAll } from "../../infrastructure/fs/write.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { FileEntry, Owned, TreeEntry } from "../entries.ts";

const MODE_BITS = 0o7777;
const PRIVATE_DIRECTORY = 0o700;
// Mode bits that would let anyone run a file with the rights of the user who restores it.
const ACTS_AS_OWNER = 0o6000;

/** The entry to create. */
type NewFile = Pick<FileEntry, "mode" | "uid" | "gid"> & { content: Uint8Array };

/** A directory contains entries that must not be removed. */
export class NotEmptyError extends Error {
  override name = "NotEmptyError";
}

/**
 * Changes single paths of a project, each completely or not at all. Every directory on the path is held open and no
 * link is followed, so nothing outside the project is ever changed, even if another process replaces directories
 * meanwhile. All methods throw errors of the file system, `MovedPathError` and the two above.
 */
export class TreeWriter {
  /**
   * @param root absolute and real.
   * @param temporaryName the name of a file while it is written next to the one it replaces.
   */
  constructor(
    private readonly root: string,
    private readonly temporaryName: string,
  ) {}

  /** @param present the entry found there. */
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

  /** Accessible only to this user until its mode is set. False when the owner could not be restored. */
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
        return restoreOwner(made, owned);
      } finally {
        closeSync(made);
      }
    });
  }

  /** @param present the file or link found there, which is replaced, or nothing. */
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
   * @param present the file or link found there, which is replaced, or nothing.
   * @returns false when the owner could not be restored.
   */
  putFile(path: string, file: NewFile, present: TreeEntry | undefined): boolean {
    return this.within(path, (directory, name) => {
      const temporary = at(directory, this.temporaryName);
      const descriptor = openSync(temporary, "wx", 0o600);
      let isMoved = false;
      try {
        directory.assertHolds(descriptor, this.temporaryName);
        writeAll(descriptor, file.content);
        const isOwned = restoreOwner(descriptor, file);
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
   * Adds another name for a file that was just restored. @throws also if the file system has no hard links.
   * @param firstName the path of that file.
   * @param present as for `putFile`.
   */
  linkFile(path: string, firstName: string, present: TreeEntry | undefined): void {
    this.within(firstName, (from, linkName) =>
      this.within(path, (directory, name) => {
        linkSync(at(from, linkName), at(directory, present ? this.temporaryName : name));
        if (!present) return;
        this.moveInto(directory, name, present);
        // A rename onto another name of the same file does nothing.
        removeQuietly(at(directory, this.temporaryName));
      }),
    );
  }

  /**
   * Makes a file that was kept whole one of the project again: nothing is copied.
   * @param kept the absolute path of what was kept, on the same file system.
   * @param present as for `putFile`.
   */
  putWholeFile(path: string, kept: string, present: TreeEntry | undefined): void {
    this.within(path, (directory, name) => {
      try {
        linkSync(kept, at(directory, present ? this.temporaryName : name));
      } catch (error) {
        throw systemErrorCode(error) === "EEXIST" ? new ChangedMeanwhileError(path) : error;
      }
      if (present) this.moveInto(directory, name, present);
    });
  }

  /** For a file whose other names, owner or attributes a new file would not have. Its mode is set afterwards. */
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
        // As found before; otherwise the next attempt would regard the mode as a change by another process.
        changeModeQuietly(target, mode);
        throw error;
      }
      changeMode(target, mode);
    });
  }

  /** Sets the mode of a file or a directory. */
  setMode(path: string, mode: number): void {
    this.within(path, (directory, name) => changeMode(at(directory, name), mode));
  }

  /** The mode of a directory; undefined when there is none. */
  directoryMode(path: string): number | undefined {
    try {
      return this.within(path, (directory, name) => {
        const stats = findStats(at(directory, name));
        return stats?.isDirectory() ? stats.mode & MODE_BITS : undefined;
      });
    } catch {
      return undefined; // A part of its path is missing or inaccessible: the restoration of that path reports it.
    }
  }

  /** Removes the temporary file of an interrupted restoration from a directory. */
  removeTemporary(directory: string, temporaryName: string): void {
    const path = directory === "" ? temporaryName : `${directory}/${temporaryName}`;
    try {
      this.within(path, (held, name) => unlinkSync(at(held, name)));
    } catch {
      // Usually there is none.
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

/** @throws ChangedMeanwhileError when another entry is there. */
function assertPresent(path: string | Buffer, present: TreeEntry): void {
  const stats = findStats(path);
  if (!stats || !isPresent(path, stats, present)) throw new ChangedMeanwhileError(String(path));
}

function isPresent(path: string | Buffer, stats: Stats, present: TreeEntry): boolean {
  switch (present.kind) {
    case "file":
      return stats.isFile() && stats.ino === present.inode && stats.mtimeMs === present.modifiedMs;
    case "link":
      return stats.isSymbolicLink() && readLinkTarget(path) === present.target;
    case "directory":
      return stats.isDirectory();
    case "cache":
    case "control":
      return false; // Special files are never changed.
  }
}

/**
 * Moves a file to a path that must not exist; unlike a rename, a link never replaces a file. True when its first name
 * is gone.
 */
function linkOrMove(temporary: string | Buffer, path: string | Buffer): boolean {
  try {
    linkSync(temporary, path);
    return false;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST" || findStats(path)) throw new ChangedMeanwhileError(String(path));
    // Some file systems have no hard links.
    renameSync(temporary, path);
    return true;
  }
}

function changeModeQuietly(path: string | Buffer, mode: number): void {
  try {
    changeMode(path, mode);
  } catch {
    // The original error is more useful than this one.
  }
}

function removeQuietly(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // The original error is more useful than this one.
  }
}

// Linux's O_PATH: opens a file without permission to read it.
const O_PATH = 0o10000000;

/** Another process has changed the entry at a path since it was read; the path was left unchanged. */
export class ChangedMeanwhileError extends Error {
  override name = "ChangedMeanwhileError";
}

/** Never follows a link: the entry is held open. @throws ChangedMeanwhileError, and errors of the file system. */
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
    throw error; // The platform does not support this.
  }
}

/**
 * Restores the owner and group of a new entry. Only an administrator may change the owner; other users may usually only
 * choose one of their groups. False when either differs.
 */
function restoreOwner(descriptor: number, { uid, gid }: Owned): boolean {
  if (uid === undefined || gid === undefined) return true;
  const now = fstatSync(descriptor);
  if (now.uid === uid && now.gid === gid) return true;
  for (const owner of new Set([uid, now.uid])) {
    try {
      fchownSync(descriptor, owner, gid);
      return owner === uid;
    } catch {
      // Without permission to change the owner, only the group is restored, if possible.
    }
  }
  return false;
}
