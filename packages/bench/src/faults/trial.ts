import type { TemporaryProject } from "../../../cli/test/support/temporary-project.ts";

/** Records whether a promise was kept; `problem` is undefined, or describes what broke it. */
type Check = (promise: PromiseName, problem: string | undefined) => void;

/**
 * The environment of one disturbance: a disposable home and project, and random numbers that a seed repeats.
 */
export interface TrialStage {
  place: TemporaryProject;
  /** From 0 up to 1. */
  random(): number;
  check: Check;
}

/** What is disturbed: the program as users start it, or a part of the library in the trial's process. */
export type Subject = "program" | "library";

/** One way to disturb the program or a part of it, and what must still hold. */
export interface FaultTrial {
  name: string;
  subject: Subject;
  /** One line. */
  about: string;
  /** How often it is tried in the long form, if that differs from the others. */
  longRuns?: number;
  /** Why it cannot be tried on this machine; undefined if it can. */
  obstacle?(): string | undefined;
  /**
   * The parts that cannot be tried on this machine while the others can, with the reason; omitted if there
   * are none.
   */
  leftOut?(): readonly string[];
  /** Disturbs once and checks. @throws if the trial itself fails. */
  run(stage: TrialStage): Promise<void>;
}

/** What diligent promises its users, whatever happens. */
export const PROMISES = {
  foreign: "Opening a repository runs nothing from it",
  key: "The key goes only to the endpoint that the user set",
  unasked: "Nothing unproven runs without approval",
  saved: "What was shown is saved",
  opens: "No session ever becomes unusable",
  patient: "Never hangs silently, never floods a server",
  traceless: "Leaves no trace",
  exact: "Only the requested bytes change",
  light: "Stays small",
} as const;

/** One of the `PROMISES` that a check is about. */
export type PromiseName = keyof typeof PROMISES;

/** One of `items`, at random. */
export function pick<const T>(random: () => number, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

/** A whole number from `least` to `most`, both included. */
export function between(random: () => number, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}
