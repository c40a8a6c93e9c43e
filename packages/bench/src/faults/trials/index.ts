import type { FaultTrial } from "../trial.ts";
import { DAMAGED_FILE, EDITS_TRIAL, FULL_DISK, PLACES, READ_ONLY_DISK } from "./disk.ts";
import { ASKING, COMMANDS, REPOSITORY } from "./hostile.ts";
import { CUT, GARBAGE, SILENCE, SLOW, STATUS_TRIAL, STATUSES } from "./network.ts";
import {
  CLOCK,
  ENTER,
  FLOOD,
  KILL,
  OUTPUT_CLOSED,
  PROCESSES,
  SIGNAL,
  TERMINAL,
  TOGETHER,
} from "./process.ts";

/** All ways to disturb the program, in execution order. */
export const FAULT_TRIALS: readonly FaultTrial[] = [
  KILL,
  ENTER,
  SIGNAL,
  TERMINAL,
  OUTPUT_CLOSED,
  PROCESSES,
  ASKING,
  TOGETHER,
  DAMAGED_FILE,
  PLACES,
  FULL_DISK,
  READ_ONLY_DISK,
  CLOCK,
  STATUS_TRIAL,
  STATUSES,
  GARBAGE,
  SILENCE,
  SLOW,
  CUT,
  REPOSITORY,
  COMMANDS,
  EDITS_TRIAL,
  FLOOD,
];
