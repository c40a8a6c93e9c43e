import type { FaultTrial } from "../trial.ts";
import { CLOCK } from "./clock.ts";
import { COMMANDS } from "./commands.ts";
import { DAMAGED_FILE } from "./damaged-file.ts";
import { EDITS } from "./edits.ts";
import { FLOOD } from "./flood.ts";
import { FULL_DISK } from "./full-disk.ts";
import { GARBAGE } from "./garbage.ts";
import { KILL } from "./kill.ts";
import { OUTPUT_CLOSED } from "./output-closed.ts";
import { PLACES } from "./places.ts";
import { REPOSITORY } from "./repository.ts";
import { SIGNAL } from "./signal.ts";
import { SLOW } from "./slow.ts";
import { STATUS } from "./status.ts";
import { TERMINAL } from "./terminal.ts";
import { TOGETHER } from "./together.ts";

/** Every way to disturb the program, in the order in which they take turns. */
export const FAULT_TRIALS: readonly FaultTrial[] = [
  KILL,
  SIGNAL,
  TERMINAL,
  OUTPUT_CLOSED,
  TOGETHER,
  DAMAGED_FILE,
  PLACES,
  FULL_DISK,
  CLOCK,
  STATUS,
  GARBAGE,
  SLOW,
  REPOSITORY,
  COMMANDS,
  EDITS,
  FLOOD,
];
