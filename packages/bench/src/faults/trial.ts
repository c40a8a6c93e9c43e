import type { TemporaryProject } from "../../../cli/test/support/temporary-project.ts";

/** Notes whether a promise was kept; `problem` is undefined, or says in words what broke it. */
type Check = (promise: PromiseName, problem: string | undefined) => void;

/** What one disturbance works with: a home and a project that are thrown away, and chance that a seed repeats. */
export interface TrialStage {
  place: TemporaryProject;
  /** From 0 up to 1. */
  random(): number;
  check: Check;
}

/** What is disturbed: the program as users start it, or a part of the library in the process of the trial. */
export type Subject = "program" | "library";

/** One way to disturb the program or a part of it, and what has to hold all the same. */
export interface FaultTrial {
  name: string;
  subject: Subject;
  /** One line. */
  about: string;
  /** How often it is tried in the long form, where that differs from the others. */
  longRuns?: number;
  /** Why it cannot be tried on this machine; undefined where it can. */
  obstacle?(): string | undefined;
  /** What of it cannot be tried on this machine while the rest can, with the reason; nothing when left out. */
  leftOut?(): readonly string[];
  /** Disturbs once and looks. @throws what is a fault of the trial itself. */
  run(stage: TrialStage): Promise<void>;
}

/** What diligent promises its users, whatever happens. */
export const PROMISES = {
  foreign: "Opening a repository runs nothing from it",
  key: "The key goes only to the endpoint the user set",
  unasked: "Nothing unproven runs unasked",
  saved: "What was shown is saved",
  opens: "No session is ever bricked",
  patient: "Never hangs in silence, never storms",
  traceless: "Leaves no trace",
  exact: "Only the asked bytes change",
  light: "Stays light",
} as const;

/** Which of the `PROMISES` a check is about. */
export type PromiseName = keyof typeof PROMISES;

/** One of `items`, by chance. */
export function pick<const T>(random: () => number, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

/** A whole number from `least` up to `most`, both included. */
export function between(random: () => number, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}
