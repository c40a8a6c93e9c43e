import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { SpendingLimitError } from "../../agent/budget.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, localDate } from "../../infrastructure/runtime.ts";

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

/**
 * What was spent on this day and in this project, by all programs of the user: a file each in the user's state directory,
 * to which every request adds a line with its cost.
 */
export class Spending {
  private reserved = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly sums = new Map<string, SpendingFile>();

  constructor(
    private readonly limits: SpendingLimits,
    private readonly place: SpendingPlace,
  ) {}

  /** Adds what a request has cost. Never throws: what cannot be written counts in this program. */
  add(cost: number | null): void {
    if (cost === null || cost <= 0) return;
    for (const file of this.files()) file.add(cost);
  }

  /** The limit that is reached, as a sentence; undefined while none is reached. */
  findReached(reserved = 0): string | undefined {
    const { day, project } = this.limits;
    const [ofDay, ofProject] = this.files();
    if (day !== undefined && ofDay && ofDay.sum() + reserved >= day)
      return `The budget of $${day} for a day is spent ($${ofDay.sum().toFixed(2)} today, "budget.day" in your configuration).`;
    if (project !== undefined && ofProject && ofProject.sum() + reserved >= project)
      return `The budget of $${project} for this project is spent ($${ofProject.sum().toFixed(2)} so far, "budget.project" in your configuration).`;
    return undefined;
  }

  /**
   * Resolves when a request may be made that costs at most `estimate` US dollars (null: unknown): the requests of this
   * program exceed a limit by one at most. Call the result when its cost was added.
   * @throws SpendingLimitError when a limit is reached.
   */
  async admit(estimate: number | null, signal: AbortSignal): Promise<() => void> {
    const most = estimate ?? 0;
    while (this.reserved > 0 && !signal.aborted && this.findReached(this.reserved) !== undefined)
      await this.nextRelease(signal);
    const reached = this.findReached();
    if (reached !== undefined) throw new SpendingLimitError(reached);
    this.reserved += most;
    return () => {
      this.reserved = Math.max(0, this.reserved - most);
      for (const resume of this.waiting.splice(0)) resume();
    };
  }

  private nextRelease(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }

  /** That of today, and that of the project. */
  private files(): SpendingFile[] {
    const { environment, root } = this.place;
    const state = userStateDirectory(environment);
    const project = Bun.SHA256.hash(root, "hex").slice(0, NAME_DIGITS);
    return [join("days", localDate()), join("projects", project)].map((name) => {
      const known = this.sums.get(name);
      if (known) return known;
      const file = new SpendingFile(state && join(state, "spending", `${name}.jsonl`));
      this.sums.set(name, file);
      return file;
    });
  }
}

const LINE = /^\{"cost":(\d+(?:\.\d+)?(?:e-?\d+)?)\}$/;

/** A file that several programs add lines to; only what was added since is read. */
class SpendingFile {
  private offset = 0;
  private read = 0;
  /** What could not be written. */
  private unwritten = 0;
  /** An incomplete line at the end. */
  private rest = "";

  constructor(private readonly path: string | undefined) {}

  add(cost: number): void {
    try {
      if (this.path === undefined) throw new Error("There is no home directory.");
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      // One write in append mode: lines of several programs do not mix.
      appendFileSync(this.path, `${JSON.stringify({ cost })}\n`, { mode: 0o600 });
    } catch {
      // A full disk or a read-only home must not end a run; the limit holds for this program.
      this.unwritten += cost;
    }
  }

  sum(): number {
    this.readMore();
    return this.read + this.unwritten;
  }

  private readMore(): void {
    const text = this.path === undefined ? "" : this.readFrom(this.path);
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.read += Number(LINE.exec(line)?.[1] ?? 0);
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
      if (size < this.offset) Object.assign(this, { offset: 0, read: 0, rest: "" });
      const bytes = Buffer.alloc(size - this.offset);
      const count = readSync(file, bytes, 0, bytes.length, this.offset);
      this.offset += count;
      return bytes.toString("latin1", 0, count);
    } finally {
      closeSync(file);
    }
  }
}
