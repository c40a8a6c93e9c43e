import type { FaultTrial } from "../trial.ts";
import { ASKING } from "./asking.ts";
import { CLOCK } from "./clock.ts";
import { COMMANDS } from "./commands.ts";
import { CUT } from "./cut.ts";
import { DAMAGED_FILE } from "./damaged-file.ts";
import { EDITS } from "./edits.ts";
import { ENTER } from "./enter.ts";
import { FLOOD } from "./flood.ts";
import { FULL_DISK } from "./full-disk.ts";
import { GARBAGE } from "./garbage.ts";
import { KILL } from "./kill.ts";
import { OUTPUT_CLOSED } from "./output-closed.ts";
import { PLACES } from "./places.ts";
import { PROCESSES } from "./processes.ts";
import { READ_ONLY_DISK } from "./read-only-disk.ts";
import { REPOSITORY } from "./repository.ts";
import { SIGNAL } from "./signal.ts";
import { SILENCE } from "./silence.ts";
import { SLOW } from "./slow.ts";
import { STATUS } from "./status.ts";
import { STATUSES } from "./statuses.ts";
import { TERMINAL } from "./terminal.ts";
import { TOGETHER } from "./together.ts";

/** Every way to disturb the program, in the order in which they take turns. */
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
  STATUS,
  STATUSES,
  GARBAGE,
  SILENCE,
  SLOW,
  CUT,
  REPOSITORY,
  COMMANDS,
  EDITS,
  FLOOD,
];
