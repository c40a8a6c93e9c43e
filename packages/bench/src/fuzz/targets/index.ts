import type { FuzzTarget } from "../fuzz-target.ts";
import { CHECKPOINT_FILES } from "./checkpoints.ts";
import { CONFIG_TEXT, CONFIG_VALUES } from "./config.ts";
import { EDITS } from "./edits.ts";
import { HISTORIES } from "./histories.ts";
import { SCREEN_VIEWS } from "./screen-views.ts";
import { SESSION_FILES } from "./session-files.ts";
import { STORE_FILES } from "./stores.ts";
import { STREAM_CUTS, STREAM_NOISE } from "./streams.ts";
import { TERMINAL_TEXT } from "./terminal-text.ts";

/** Everything that has to hold for all values of a kind. */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  HISTORIES,
  SESSION_FILES,
  STREAM_CUTS,
  STREAM_NOISE,
  EDITS,
  TERMINAL_TEXT,
  SCREEN_VIEWS,
  CONFIG_TEXT,
  CONFIG_VALUES,
  STORE_FILES,
  CHECKPOINT_FILES,
];
