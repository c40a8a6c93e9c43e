import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { SpendingLimitError } from "../../agent/budget.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { isProcessAlive, ownIdentity, type ProcessIdentity } from "../../infrastructure/process/tree.ts";
import { type Environment, localDate, sleep } from "../../infrastructure/runtime.ts";

/** US dollars. */
export interface SpendingLimits {
  /** For a local day, in all projects together. */
  day?: number | undefined;
  /** For this project. */
  project?: number | undefined;
}

interface SpendingPlace {
  environment: Environment;
  /** Of the project, absolute and real. */
  root: string;
}

// Sixteen digits are enough to distinguish all projects of a user.
const NAME_DIGITS = 16;

/** How often a request that waits for those of other programs looks whether they have ended. */
const CHECK_MS = 50;

/**
 * What was spent on this day and in this project, by all programs of the user: a file each in the user's state directory,
 * to which every request adds a line with its cost, and before that one that announces it.
 */
export class Spending {
  private readonly waiting = new Set<() => void>();
  private readonly sums = new Map<string, SpendingFile>();

  constructor(
    private readonly limits: SpendingLimits,
    private readonly place: SpendingPlace,
  ) {}

  /** Adds what a request has cost. Never throws: what cannot be written counts in this program. */
  add(cost: number | null): void {
    if (cost === null || cost <= 0) return;
    for (const { file } of this.files()) file.add(cost);
  }

  /** The limit that is reached, as a sentence; undefined while none is reached. */
  findReached(): string | undefined {
    for (const { file, limit, describe } of this.files())
      if (limit !== undefined && file.sum() >= limit) return describe(limit, file.sum());
    return undefined;
  }

  /**
   * Resolves when a request may be made that costs at most `estimate` US dollars (null: unknown): the requests of all
   * programs exceed a limit by one at most. Call the result when its cost was added.
   * @throws SpendingLimitError when a limit is reached.
   */
  async admit(estimate: number | null, signal: AbortSignal): Promise<() => void> {
    const id = crypto.randomUUID();
    const files = this.files();
    const [{ file: ofDay }] = files;
    const release = () => {
      ofDay.release(id);
      for (const resume of this.waiting) resume();
    };
    // All are announced in one file, and then compared with those before them: of two at the same time, one is second.
    ofDay.announce(id, estimate ?? 0, this.project);
    const mustWait = () =>
      files.some(({ file, limit, project }) => {
        const before = limit === undefined ? 0 : ofDay.announcedBefore(id, project);
        return limit !== undefined && before > 0 && file.sum() + before >= limit;
      });
    while (!signal.aborted && this.findReached() === undefined && mustWait()) await this.nextRelease(signal);
    const reached = this.findReached();
    if (reached === undefined) return release;
    release();
    throw new SpendingLimitError(reached);
  }

  private async nextRelease(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.add(resolve);
    await Promise.race([promise, sleep(CHECK_MS, signal)]);
    this.waiting.delete(resolve);
  }

  /** The name of the project in files. */
  private get project(): string {
    return Bun.SHA256.hash(this.place.root, "hex").slice(0, NAME_DIGITS);
  }

  /** That of today, and that of the project. */
  private files(): [LimitedFile, LimitedFile] {
    const { environment } = this.place;
    const { day, project } = this.limits;
    const state = userStateDirectory(environment);
    const open = (name: string): SpendingFile => {
      const known = this.sums.get(name);
      if (known) return known;
      const file = new SpendingFile(state && join(state, "spending", `${name}.jsonl`));
      this.sums.set(name, file);
      return file;
    };
    return [
      {
        file: open(join("days", localDate())),
        limit: day,
        describe: (limit, sum) =>
          `The budget of $${limit} for a day is spent ($${sum.toFixed(2)} today, "budget.day" in your configuration).`,
      },
      {
        file: open(join("projects", this.project)),
        limit: project,
        project: this.project,
        describe: (limit, sum) =>
          `The budget of $${limit} for this project is spent ($${sum.toFixed(2)} so far, "budget.project" in your configuration).`,
      },
    ];
  }
}

/** A file of what was spent, and the limit that it counts for. */
interface LimitedFile {
  file: SpendingFile;
  limit: number | undefined;
  /** Whose requests count; all if left out. */
  project?: string;
  describe(limit: number, sum: number): string;
}

/** A request that was announced and has not ended. */
interface Announcement extends ProcessIdentity {
  cost: number;
  project: string;
}

const NUMBER = "\\d+(?:\\.\\d+)?(?:e-?\\d+)?";
const SPENT = new RegExp(`^\\{"cost":(${NUMBER})\\}$`);
const ANNOUNCED = new RegExp(
  `^\\{"announced":"([\\w-]{1,64})","cost":(${NUMBER}),"project":"([0-9a-f]+)","pid":(\\d+)(?:,"startTime":"(\\d+)")?\\}$`,
);
const ENDED = /^\{"ended":"([\w-]{1,64})"\}$/;

/** A file that several programs add lines to; only what was added since is read. */
class SpendingFile {
  private offset = 0;
  private spent = 0;
  /** What could not be written. */
  private unwritten = 0;
  /** In the order of the file; those of other programs too. */
  private announced = new Map<string, Announcement>();
  /** An incomplete line at the end. */
  private rest = "";

  constructor(private readonly path: string | undefined) {}

  add(cost: number): void {
    if (!this.append({ cost })) this.unwritten += cost;
  }

  /** @param cost in US dollars, at most. */
  announce(id: string, cost: number, project: string): void {
    const announcement = { cost, project, ...ownIdentity() };
    if (!this.append({ announced: id, ...announcement })) this.announced.set(id, announcement);
  }

  release(id: string): void {
    this.append({ ended: id });
    this.announced.delete(id);
  }

  sum(): number {
    this.readMore();
    return this.spent + this.unwritten;
  }

  /** What the requests that were announced before this one may still cost. Those of programs that were killed do not. */
  announcedBefore(id: string, project?: string): number {
    this.readMore();
    let cost = 0;
    for (const [each, announcement] of this.announced) {
      if (each === id) break;
      if (project !== undefined && announcement.project !== project) continue;
      if (isProcessAlive(announcement)) cost += announcement.cost;
      else this.announced.delete(each);
    }
    return cost;
  }

  /** False if it cannot be written: a full disk or a read-only home must not end a run. */
  private append(line: object): boolean {
    if (this.path === undefined) return false;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      // One write in append mode: lines of several programs do not mix.
      appendFileSync(this.path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      return true;
    } catch {
      return false; // What it says holds for this program then.
    }
  }

  private readMore(): void {
    const text = this.path === undefined ? "" : this.readFrom(this.path);
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.take(line);
  }

  private take(line: string): void {
    const [, id, cost, project = "", pid, startTime] = ANNOUNCED.exec(line) ?? [];
    if (id !== undefined)
      this.announced.set(id, { cost: Number(cost), project, pid: Number(pid), startTime });
    this.announced.delete(ENDED.exec(line)?.[1] ?? "");
    this.spent += Number(SPENT.exec(line)?.[1] ?? 0);
  }

  private readFrom(path: string): string {
    let file: number;
    try {
      file = openSync(path, "r");
    } catch {
      return ""; // Nothing was spent yet.
    }
    try {
      const { size } = fstatSync(file);
      if (size < this.offset) Object.assign(this, { offset: 0, spent: 0, rest: "", announced: new Map() });
      const bytes = Buffer.alloc(size - this.offset);
      const count = readSync(file, bytes, 0, bytes.length, this.offset);
      this.offset += count;
      return bytes.toString("latin1", 0, count);
    } finally {
      closeSync(file);
    }
  }
}
