import type { RunStopReason } from "@diligent/core/run";
import type { SignalName } from "./cli-io.ts";

/** What was asked for is done; also where nobody reads the answer any more. */
export const EXIT_SUCCESS = 0;
/** It was begun and not done, or not all of it; or something that was checked is not in order. */
export const EXIT_FAILURE = 1;
/** Bad usage or configuration, no key, unknown model: nothing was sent. */
export const EXIT_USAGE = 2;

/** The exit code of a run by the reason it ended for, the same in every output format. */
export const RUN_EXIT_CODES: Readonly<Record<RunStopReason, number>> = {
  end_turn: EXIT_SUCCESS,
  max_tokens: EXIT_FAILURE,
  refusal: EXIT_FAILURE,
  error: EXIT_FAILURE,
  max_turns: 3,
  max_cost: 3,
  loop: 3,
  approval: 4,
  aborted: 130,
};

/** 128 and the signal's number, as shells report it. */
export const SIGNAL_EXIT_CODES: Readonly<Record<SignalName, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGQUIT: 131,
  SIGTERM: 143,
};
