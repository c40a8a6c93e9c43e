import type { FuzzTarget } from "../target.ts";
import { CONFIG_TEXT, CONFIG_VALUES } from "./config.ts";
import { EDITS } from "./edits.ts";
import { CHECKPOINT_FILES, HISTORIES, SESSION_FILES, STORE_FILES } from "./sessions.ts";
import { STREAM_CUTS, STREAM_NOISE } from "./streams.ts";
import { SCREEN_VIEWS, TERMINAL_TEXT } from "./text.ts";

/** All properties that must hold for all values of a kind. */
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
