import type { TemporaryProject } from "../../../cli/test/support/temporary-project.ts";
import type { PromiseName } from "./promises.ts";

/** Notes whether a promise was kept; `problem` is undefined, or says in words what broke it. */
export type Check = (promise: PromiseName, problem: string | undefined) => void;

/** What one disturbance works with: a home and a project that are thrown away, and chance that a seed repeats. */
export interface TrialStage {
  place: TemporaryProject;
  /** From 0 up to 1. */
  random(): number;
  check: Check;
}

/** One way to disturb the program, and what has to hold all the same. */
export interface FaultTrial {
  name: string;
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
