import {
  type BigIntStats,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { STATE_KEPT_FOR_MS, userStateDirectory } from "../paths/user.ts";
import { type Environment, isProcessRunning, now } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { withFileLock } from "./lock.ts";
import { locateFile, readWholeFile } from "./read.ts";
import { HeldDirectory, MovedPathError } from "./real-path.ts";
import { isExistingPath, listNames } from "./stat.ts";
import { temporaryPathBeside, writeAll } from "./write.ts";

/**
 * Changes a private file (0600, missing directories 0700) atomically. `change` receives the content, undefined when the
 * file is missing, and returns the new one. Diligent processes that change the file at the same time wait for each
 * other, so no change is lost.
 * @throws errors of `change`, and errors of the file system; the file is unchanged then.
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

/** False when the file no longer matches `before`. */
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

/**
 * Creates the missing directories above `path` with default permissions (0777 less the umask), and calls `use`. If that
 * throws, the created directories are removed again. `path` must be real as far as it exists; nothing is created or
 * removed elsewhere if another process replaces a directory by a link.
 * @throws Error with the directory that could not be created, `MovedPathError`, and errors of `use`.
 */
export function withParentDirectories(path: string, use: () => void): void {
  const made = makeDirectories(dirname(path));
  try {
    use();
  } catch (error) {
    removeDirectories(made);
    throw error;
  }
}

/** The same for what takes time. */
export async function inNewDirectories<T>(path: string, use: () => Promise<T>): Promise<T> {
  const made = makeDirectories(dirname(path));
  try {
    return await use();
  } catch (error) {
    removeDirectories(made);
    throw error;
  }
}

/** The created directories, the innermost first. */
function makeDirectories(directory: string): string[] {
  const missing: string[] = [];
  let existing = directory;
  for (; !isExistingPath(existing); existing = dirname(existing)) missing.unshift(existing);
  if (missing.length === 0) return [];
  const made: string[] = [];
  try {
    makeBelow(existing, missing, made);
    return made;
  } catch (error) {
    removeDirectories(made);
    if (error instanceof MovedPathError) throw error;
    throw new Error(`Cannot make the directory ${directory}: ${systemErrorText(error)}.`);
  }
}

/**
 * Each of `missing` is inside the one before it, the first in `existing`. Created directories are prepended to `made`.
 */
function makeBelow(existing: string, missing: readonly string[], made: string[]): void {
  let parent = HeldDirectory.open(existing);
  try {
    for (const path of missing) {
      if (makeDirectory(parent, path)) made.unshift(path);
      const child = parent.openChild(basename(path));
      parent[Symbol.dispose]();
      parent = child;
    }
  } finally {
    parent[Symbol.dispose]();
  }
}

/** False when another process has just created it. */
function makeDirectory(parent: HeldDirectory, path: string): boolean {
  try {
    mkdirSync(parent.at(basename(path)));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeDirectories(made: readonly string[]): void {
  try {
    for (const directory of made) {
      using parent = HeldDirectory.open(dirname(directory));
      rmdirSync(parent.at(basename(directory)));
    }
  } catch {
    // The directory is in use by another process, or gone.
  }
}

// Sixteen digits are enough to distinguish all projects and sessions of a user.
const OWNER_DIGITS = 16;

/** The project and session of a draft. */
interface DraftOwner {
  /** The project, absolute and real. */
  root: string;
  /** The session; left out for sessions without messages. */
  sessionId?: string | undefined;
  /** The process that writes it; by default this one. */
  processId?: number;
}

/**
 * The draft of a prompt in a session of a project, in a private file in the user's state directory (directory 0700,
 * file 0600), so that it survives a crash. Every process has its own file. No method throws: a draft that cannot be
 * saved must not interrupt typing.
 */
export class DraftFile {
  private readonly directory: string | undefined;
  private readonly owner: string;
  private readonly processId: number;
  /** Distinguishes this process's file from one of an earlier process with the same number. */
  private hasWritten = false;

  constructor(environment: Environment, { root, sessionId = "", processId = process.pid }: DraftOwner) {
    const state = userStateDirectory(environment);
    this.directory = state && join(state, "drafts");
    this.processId = processId;
    const owner = sessionId === "" ? root : `${root}\0${sessionId}`;
    this.owner = Bun.SHA256.hash(owner, "hex").slice(0, OWNER_DIGITS);
  }

  /**
   * Returns the newest draft that a dead process left here and removes its file. Older drafts remain for later calls.
   * Undefined without any.
   */
  takeOver(): string | undefined {
    for (const { path } of this.leftovers()) {
      const text = this.claim(path);
      if (text !== undefined && text.trim() !== "") return text;
    }
    return undefined;
  }

  /** Replaces the draft; a blank text removes it. */
  write(text: string): void {
    const path = this.pathOf(this.processId);
    if (path === undefined || this.directory === undefined) return;
    if (text.trim() === "") {
      this.remove();
      return;
    }
    try {
      this.hasWritten = true;
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      const temporary = `${path}.new`;
      rmSync(temporary, { force: true });
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
      renameSync(temporary, path);
    } catch {
      // A read-only home directory or a full disk: the text is still on the screen.
    }
  }

  remove(): void {
    const path = this.pathOf(this.processId);
    try {
      if (path !== undefined) rmSync(path, { force: true });
    } catch {
      // The file system has become read-only; the draft is then offered once more.
    }
  }

  private pathOf(processId: number): string | undefined {
    return this.directory && join(this.directory, `${this.owner}-${processId}.txt`);
  }

  /** Drafts of dead processes, the newest first; drafts older than a month are deleted. */
  private leftovers(): { path: string; writtenAt: number }[] {
    const { directory } = this;
    if (directory === undefined) return [];
    const found = listNames(directory).flatMap((name) => {
      const [, owner, processId] = /^([0-9a-f]+)-(\d{1,10})\.txt$/.exec(name) ?? [];
      const isLeft = owner !== undefined && !this.isAlive(Number(processId));
      const stats = isLeft ? statSync(join(directory, name), { throwIfNoEntry: false }) : undefined;
      return stats ? [{ path: join(directory, name), owner, writtenAt: stats.mtimeMs }] : [];
    });
    for (const { path } of found.filter(({ writtenAt }) => now() - writtenAt > STATE_KEPT_FOR_MS))
      rmSync(path, { force: true });
    return found
      .filter(({ owner }) => owner === this.owner)
      .sort((left, right) => right.writtenAt - left.writtenAt);
  }

  /** The text of a leftover, unless another process was faster. */
  private claim(path: string): string | undefined {
    const own = this.pathOf(this.processId);
    if (own === undefined) return undefined;
    try {
      if (this.hasWritten) {
        const text = readFileSync(path, "utf8");
        rmSync(path);
        return text;
      }
      if (path !== own) renameSync(path, own);
      return readFileSync(own, "utf8");
    } catch {
      return undefined; // Claimed by another process, or not readable.
    }
  }

  private isAlive(processId: number): boolean {
    return processId === this.processId ? this.hasWritten : isProcessRunning(processId);
  }
}
