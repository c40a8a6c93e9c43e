import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { randomHex } from "../../infrastructure/runtime.ts";
import type { FileEntry } from "../entries.ts";

/** What tells one content of a large file from every other. */
type LargeFile = Pick<FileEntry, "inode" | "size" | "modifiedMs" | "mode">;

/**
 * Keeps large git objects as whole files at no cost: as reflinks, which share the blocks on disk until one is changed,
 * or as hard links where the file system has no reflinks. Git never changes an object in place, and neither does
 * removing it change the other name.
 */
export class LargeFileStore {
  private readonly added: string[] = [];

  /** @param directories those of packs that are read. @param ownDirectory the one that is written. */
  constructor(
    private readonly directories: readonly string[],
    private readonly ownDirectory: string,
  ) {}

  /** False where it cannot be kept so: on another file system, or where hard links are not permitted. */
  add(absolute: string, stats: Stats): boolean {
    const file = { inode: stats.ino, size: stats.size, modifiedMs: stats.mtimeMs, mode: stats.mode };
    if (this.find(file) !== undefined) return true;
    const directory = filesOf(this.ownDirectory);
    const path = join(directory, nameOf(file));
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      if (!copyByReference(absolute, path, file)) linkSync(toSystemPath(absolute), path);
    } catch {
      return false; // What cannot be kept is reported with the files that are not recorded.
    }
    this.added.push(path);
    if (this.find(file) !== undefined) return true;
    rmSync(path, { force: true }); // Another file has taken its place meanwhile.
    return false;
  }

  /** The path of the kept file; undefined if there is none, or if it was changed in place since. */
  find(file: LargeFile): string | undefined {
    for (const directory of this.directories) {
      const path = join(filesOf(directory), nameOf(file));
      const stats = findStats(path);
      // A time that was set again has lost its last digits.
      const isUnchanged = stats?.size === file.size && Math.abs(stats.mtimeMs - file.modifiedMs) < 1;
      if (stats?.isFile() && isUnchanged) return path;
    }
    return undefined;
  }

  /** Deletes the files that this process has added. */
  discard(): void {
    for (const path of this.added.splice(0)) rmSync(path, { force: true });
  }
}

function filesOf(packs: string): string {
  return join(packs, "files");
}

function nameOf({ inode, size, modifiedMs }: LargeFile): string {
  return `${inode}-${size}-${Math.round(modifiedMs * 1_000)}`;
}

/** False where the file system cannot. */
function copyByReference(absolute: string, path: string, { mode, modifiedMs }: LargeFile): boolean {
  const draft = `${path}.${randomHex(4)}.tmp`;
  try {
    copyFileSync(toSystemPath(absolute), draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    chmodSync(draft, mode);
    utimesSync(draft, modifiedMs / 1_000, modifiedMs / 1_000);
    renameSync(draft, path);
    return true;
  } catch {
    rmSync(draft, { force: true });
    return false;
  }
}
