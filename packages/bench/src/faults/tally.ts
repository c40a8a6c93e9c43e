import { PROMISES, type PromiseName } from "./promises.ts";

const NAMES = Object.keys(PROMISES).filter((name): name is PromiseName => name in PROMISES);

/** Counts how often each promise was tried and broken. */
export class Tally {
  private readonly tried = new Map<PromiseName, number>();
  private readonly broken = new Map<PromiseName, number>();
  /** In words, in the order in which they were found. */
  readonly problems: string[] = [];

  note(promise: PromiseName, problem: string | undefined): void {
    this.tried.set(promise, (this.tried.get(promise) ?? 0) + 1);
    if (problem === undefined) return;
    this.broken.set(promise, (this.broken.get(promise) ?? 0) + 1);
    this.problems.push(`${PROMISES[promise]}: ${problem}`);
  }

  /** A line for each promise, those that were not tried included. */
  format(): string {
    const width = Math.max(...NAMES.map((name) => PROMISES[name].length));
    const rows = NAMES.map((name) => [PROMISES[name], this.tried.get(name) ?? 0, this.broken.get(name) ?? 0]);
    return [["promise", "tried", "broken"], ...rows]
      .map(([what, tried, broken]) =>
        [String(what).padEnd(width), String(tried).padStart(8), String(broken).padStart(8)].join(""),
      )
      .join("\n");
  }
}
