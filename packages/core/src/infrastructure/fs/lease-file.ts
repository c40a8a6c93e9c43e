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
 * A private file of this process in a directory of its own kind, for a later process that finds it after this one was killed.
 * The file's time says until when its content counts, unless it is touched again. What cannot be written
 * is not kept, and nothing is thrown.
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

  /** Written only where it differs from before. Where it cannot be, what was written before no longer counts either. */
  keep(text: string): void {
    if (this.isOver || text === this.kept) return;
    const draft = `${this.path}.draft`;
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      writeFileSync(draft, text, { mode: 0o600 });
      // A reader finds one whole text, and a time that is not too early.
      utimesSync(draft, this.untilSeconds, this.untilSeconds);
      renameSync(draft, this.path);
      this.kept = text;
    } catch {
      this.drop(); // A full disk, as a rule.
    }
  }

  drop(): void {
    this.kept = undefined;
    try {
      // Where it cannot be removed, nothing is as old as it says.
      utimesSync(this.path, 0, 0);
      rmSync(this.path, { force: true });
    } catch {
      // There is none, or the file system has become read-only: its moment is over in some seconds anyway.
    }
  }

  /** It counts from now on, until the next call or for the time of the lease. */
  extend(): void {
    this.isAtRest = false;
    this.touch(now() + this.leaseMs);
  }

  /** It counts until now, whenever this is called again. */
  rest(): void {
    if (this.isAtRest) return;
    this.isAtRest = true;
    // What was made in the last millisecond has a fraction more.
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
      this.kept = undefined; // Somebody has removed it: it is written again with the next text.
    }
  }
}

const MAX_BYTES = 4 * 1024 * 1024;

/** What a process that has died has left. */
export interface LeftFile {
  text: string;
  /** Until when it counted, in milliseconds since the epoch. */
  untilMs: number;
}

/** Takes what dead processes have left in a directory, and removes it. @param take may throw, which `fail` is told of. */
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
        // Somebody else may have written it.
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

/** Whose a file is, by its name alone. */
function parseName(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^([1-9]\d{0,9})-(\d*)-[0-9a-f]+\.json$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), ...(startTime && { startTime }) };
}
