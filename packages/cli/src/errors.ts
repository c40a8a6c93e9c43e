import type { RunStopReason } from "@diligent/core/run";
import type { SignalName } from "./io/io.ts";

export { describeError, orUsageError, UsageError } from "@diligent/core/light";

/** Success; also if nobody reads the output any more. */
export const EXIT_SUCCESS = 0;
/** It failed, completely or in part; or a check found a problem. */
export const EXIT_FAILURE = 1;
/** Bad usage or configuration, no key, unknown model: nothing was sent. */
export const EXIT_USAGE = 2;

/** The run ended well, and the evidence that `--require-evidence` asks for is missing. */
export const EXIT_EVIDENCE = 5;

/** The exit code for each stop reason, the same in every output format. */
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
