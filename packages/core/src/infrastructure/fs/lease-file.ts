import {
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isProcessAlive, ownIdentity, type ProcessIdentity } from "../process/tree.ts";
import { now, randomHex } from "../runtime.ts";
import { isOwn } from "./directory.ts";
import { isOpenToOthers, readSmallText } from "./read.ts";

/**
 * A private file of this process in its own directory, for a later process that finds it after this one was killed.
 * The file's time is the end of its validity, unless the file is updated. Content that cannot be written is dropped;
 * nothing is thrown.
 */
export class LeaseFile {
  private readonly path: string;
  private kept: string | undefined;
  private isOver = false;
  private isAtRest = true;
  private untilSeconds = 0;

  /** @param directory need not exist. @param leaseMs longer than the time between two calls of `extend`. */
  constructor(
    private readonly directory: string,
    private readonly leaseMs: number,
  ) {
    const { pid, startTime = "" } = ownIdentity();
    this.path = join(directory, `${pid}-${startTime}-${randomHex(3)}.json`);
  }

  /** Writes the file if its content differs. If that fails, the previous content is no longer valid either. */
  keep(text: string): void {
    if (this.isOver || text === this.kept) return;
    const draft = `${this.path}.draft`;
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      writeFileSync(draft, text, { mode: 0o600 });
      // A reader finds a complete text with a time that is not too early.
      utimesSync(draft, this.untilSeconds, this.untilSeconds);
      renameSync(draft, this.path);
      this.kept = text;
    } catch {
      this.drop(); // Usually a full disk.
    }
  }

  drop(): void {
    this.kept = undefined;
    try {
      // If it cannot be removed, it is marked as expired.
      utimesSync(this.path, 0, 0);
      rmSync(this.path, { force: true });
    } catch {
      // There is none, or the file system has become read-only: its moment is over in some seconds anyway.
    }
  }

  /** Makes it valid from now on, until the next call or for the time of the lease. */
  extend(): void {
    this.isAtRest = false;
    this.touch(now() + this.leaseMs);
  }

  /** Makes it valid until now, with every call. */
  rest(): void {
    if (this.isAtRest) return;
    this.isAtRest = true;
    // Files of the last millisecond have a fractional part in their times.
    this.touch(now() + 1);
  }

  /** Removes it for good. */
  end(): void {
    this.isOver = true;
    this.drop();
    try {
      rmdirSync(this.directory);
    } catch {
      // Other processes keep theirs in it, or it was never made.
    }
  }

  private touch(atMs: number): void {
    this.untilSeconds = atMs / 1000;
    if (this.kept === undefined) return;
    try {
      utimesSync(this.path, this.untilSeconds, this.untilSeconds);
    } catch {
      this.kept = undefined; // Somebody has removed the file: it is written again with the next text.
    }
  }
}

const MAX_BYTES = 4 * 1024 * 1024;

/** The file of a dead process. */
export interface LeftFile {
  text: string;
  /** The end of its validity, in milliseconds since the epoch. */
  untilMs: number;
}

/**
 * Reads the files of dead processes in a directory, and removes them. @param take may throw; `fail` receives the
 * error.
 */
export function takeLeftFiles(
  directory: string,
  take: (left: LeftFile) => void,
  fail: (error: unknown) => void,
): void {
  try {
    for (const name of readdirSync(directory)) {
      const owner = parseName(name.replace(/\.draft$/, ""));
      if (owner === undefined || isProcessAlive(owner)) continue;
      const path = join(directory, name);
      try {
        const stats = lstatSync(path, { bigint: true });
        // Somebody else may have written the file.
        const isOurs = stats.isFile() && isOwn(stats) && !isOpenToOthers(stats);
        if (isOurs && !name.endsWith(".draft"))
          take({ text: readSmallText(path, MAX_BYTES) ?? "", untilMs: Number(stats.mtimeMs) });
        rmSync(path, { force: true });
      } catch (error) {
        fail(error);
      }
    }
    rmdirSync(directory);
  } catch {
    // Processes that live keep theirs in it, or none ever did.
  }
}

/** The owner of a file, by its name alone. */
function parseName(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^([1-9]\d{0,9})-(\d*)-[0-9a-f]+\.json$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), ...(startTime && { startTime }) };
}
