import {
  type BigIntStats,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { userStateDirectory } from "../paths/user.ts";
import { type Environment, now } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { withFileLock } from "./lock.ts";
import { locateFile, readWholeFile } from "./read.ts";
import { HeldDirectory, MovedPathError } from "./real-path.ts";
import { isExistingPath } from "./stat.ts";
import { temporaryPathBeside, writeAll } from "./write.ts";

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

/**
 * Makes the directories above `path` that are missing, as any program of the user's would (0777 less the umask), and
 * calls `use`. If that throws, the directories made here go again. `path` must be real as far as it exists; nothing is
 * made or removed where another process makes it lead meanwhile.
 * @throws Error that says which directory could not be made, `MovedPathError`, and what `use` throws.
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

/** The directories that were made, the innermost first. */
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

/** Each of `missing` lies in the one before it, the first in `existing`. What was made is put in front of `made`. */
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

/** False when somebody else has just made it. */
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
    // No longer empty or no longer there: somebody else has begun to use it.
  }
}

const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;
// Sixteen digits tell all projects and sessions of a person apart.
const OWNER_DIGITS = 16;

/** Whose draft it is. */
interface DraftOwner {
  /** The project, absolute and real. */
  root: string;
  /** The session; left out for those in which nothing was said yet. */
  sessionId?: string | undefined;
  /** The process that writes; this one when left out. */
  processId?: number;
}

/**
 * The prompt that is being written in a session of a project, in a private file in the user's state directory
 * (directory 0700, file 0600), so that it outlives the program. Every process has a file of its own. Nothing here
 * throws: a draft that cannot be saved must not interrupt typing.
 */
export class DraftFile {
  private readonly directory: string | undefined;
  private readonly owner: string;
  private readonly processId: number;
  /** A file under the number of this process is its own, and not one that an earlier process has left. */
  private hasWritten = false;

  constructor(environment: Environment, { root, sessionId = "", processId = process.pid }: DraftOwner) {
    const state = userStateDirectory(environment);
    this.directory = state && join(state, "drafts");
    this.processId = processId;
    const owner = sessionId === "" ? root : `${root}\0${sessionId}`;
    this.owner = Bun.SHA256.hash(owner, "hex").slice(0, OWNER_DIGITS);
  }

  /**
   * The newest draft that a process which has ended left behind here; it is this process's from now on. Older
   * ones wait for the next who asks. Undefined without any.
   */
  takeOver(): string | undefined {
    for (const { path } of this.leftovers()) {
      const text = this.claim(path);
      if (text !== undefined && text.trim() !== "") return text;
    }
    return undefined;
  }

  /** Keeps a text in place of the one before; a blank one is not kept. */
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
      // A read-only home or a full disk: the text is still on the screen.
    }
  }

  remove(): void {
    const path = this.pathOf(this.processId);
    try {
      if (path !== undefined) rmSync(path, { force: true });
    } catch {
      // A file system that has become read-only; the draft is then offered once more.
    }
  }

  private pathOf(processId: number): string | undefined {
    return this.directory && join(this.directory, `${this.owner}-${processId}.txt`);
  }

  /** Drafts of processes that are gone, the newest first; those nobody has asked for in a month are removed. */
  private leftovers(): { path: string; writtenAt: number }[] {
    const { directory } = this;
    if (directory === undefined) return [];
    const found = namesIn(directory).flatMap((name) => {
      const [, owner, processId] = /^([0-9a-f]+)-(\d{1,10})\.txt$/.exec(name) ?? [];
      const isLeft = owner !== undefined && !this.isAlive(Number(processId));
      const stats = isLeft ? statSync(join(directory, name), { throwIfNoEntry: false }) : undefined;
      return stats ? [{ path: join(directory, name), owner, writtenAt: stats.mtimeMs }] : [];
    });
    for (const { path } of found.filter(({ writtenAt }) => now() - writtenAt > KEPT_FOR_MS))
      rmSync(path, { force: true });
    return found
      .filter(({ owner }) => owner === this.owner)
      .sort((left, right) => right.writtenAt - left.writtenAt);
  }

  /** The text of a leftover, unless another process was quicker. */
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
      return undefined; // Taken by another, or not ours to read.
    }
  }

  private isAlive(processId: number): boolean {
    return processId === this.processId ? this.hasWritten : isRunning(processId);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Nothing was ever kept.
  }
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // Somebody else's process with the same number is alive too.
    return systemErrorCode(error) === "EPERM";
  }
}
