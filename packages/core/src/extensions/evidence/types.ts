/** What a check shows. */
export type CheckKind = "tests" | "types" | "lint" | "build";

export const CHECK_KINDS: readonly CheckKind[] = ["tests", "types", "lint", "build"];

/** A check in a command line, before it has run. */
export interface CheckCall {
  /** Its command as it was written, such as `bun test`. */
  name: string;
  kind: CheckKind;
  /** Why it does not cover the whole project: an option, a path, another directory. Left out if it does. */
  part?: string;
  /**
   * The exit code of the line is not that of this check: its output goes to a program that only filters it, as in
   * `bun test | tail`, or something else decides, as in `bun test || true`. Left out if it is.
   */
  hides?: "filter" | "other";
}

/** What a runner says about its tests. */
export interface TestCounts {
  passed?: number;
  failed?: number;
}

/** A check that has run, as events and session entries carry it. */
export interface CheckRecord extends TestCounts {
  name: string;
  kind: CheckKind;
  /** The whole command line. */
  command: string;
  /** Null if it is unknown: the line's exit code was not that of the check, or a signal ended it. */
  exitCode: number | null;
  /** A file was changed after it. */
  isStale: boolean;
  /** How many files were changed after it; left out if none was. */
  laterEdits?: number;
  /** Why it does not cover the whole project. */
  part?: string;
}

/** What was checked in a turn, and what the answer claims without it. */
export interface EvidenceReport {
  checks: CheckRecord[];
  /** Kinds of checks that the project has and that did not run, although files were changed. */
  missing: CheckKind[];
  /** Sentences of the answer that claim a result which no check shows. */
  unsupported: string[];
  /** What is missing of the required evidence, each as a clause; left out if nothing was required. */
  lacking?: string[];
}

/** True for a check that shows what it is for: it succeeded as a whole, and nothing was changed since. */
export function isGreen(check: CheckRecord): boolean {
  return hasPassed(check) && !check.isStale && check.part === undefined;
}

/** True for a check that succeeded; of what, and when, is another question. */
export function hasPassed({ exitCode, failed = 0 }: CheckRecord): boolean {
  return exitCode === 0 && failed === 0;
}
