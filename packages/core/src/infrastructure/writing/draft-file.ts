import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { now } from "../clock.ts";
import type { Environment } from "../environment.ts";
import { userStateDirectory } from "../places/user-directories.ts";
import { systemErrorCode } from "../system-error.ts";

const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;
// Sixteen digits tell all projects of a person apart.
const PROJECT_DIGITS = 16;

/**
 * The prompt that is being written in a project, in a private file in the user's state directory (directory 0700, file
 * 0600), so that it outlives the program. Every process has a file of its own. Nothing here throws: a draft that cannot be
 * kept is no reason to stop anybody's writing.
 */
export class DraftFile {
  private readonly directory: string | undefined;
  private readonly project: string;

  /** @param root the project, absolute and real. */
  constructor(
    environment: Environment,
    root: string,
    private readonly processId: number = process.pid,
  ) {
    const state = userStateDirectory(environment);
    this.directory = state && join(state, "drafts");
    this.project = Bun.SHA256.hash(root, "hex").slice(0, PROJECT_DIGITS);
  }

  /**
   * The newest draft that a process which has ended left behind in this project; it is this process's from now on. Older
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
    return this.directory && join(this.directory, `${this.project}-${processId}.txt`);
  }

  /** Drafts of processes that are gone, the newest first; those nobody has asked for in a month are removed. */
  private leftovers(): { path: string; writtenAt: number }[] {
    const { directory } = this;
    if (directory === undefined) return [];
    const found = namesIn(directory).flatMap((name) => {
      const [, project, processId] = /^([0-9a-f]+)-(\d{1,10})\.txt$/.exec(name) ?? [];
      const isLeft = project !== undefined && !this.isAlive(Number(processId));
      const stats = isLeft ? statSync(join(directory, name), { throwIfNoEntry: false }) : undefined;
      return stats ? [{ path: join(directory, name), project, writtenAt: stats.mtimeMs }] : [];
    });
    for (const { path } of found.filter(({ writtenAt }) => now() - writtenAt > KEPT_FOR_MS))
      rmSync(path, { force: true });
    return found
      .filter(({ project }) => project === this.project)
      .sort((left, right) => right.writtenAt - left.writtenAt);
  }

  /** The text of a leftover, unless another process was quicker. */
  private claim(path: string): string | undefined {
    const own = this.pathOf(this.processId);
    if (own === undefined) return undefined;
    try {
      if (path !== own) renameSync(path, own);
      return readFileSync(own, "utf8");
    } catch {
      return undefined; // Taken by another, or not ours to read.
    }
  }

  /** This process has only just begun: a file under its number was written by an earlier one. */
  private isAlive(processId: number): boolean {
    return processId !== this.processId && isRunning(processId);
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
