import type { RunStopReason, SerializableError, Usage } from "@diligent/core/run";
import type { RunResult } from "./run-output.ts";

/** The object that `json` prints, and that the last line of `stream-json` holds. */
export interface ResultFields {
  sessionId: string;
  result: string;
  stopReason: RunStopReason;
  usage: Usage;
  cost: number | null;
  turns: number;
  durationMs: number;
  error?: SerializableError;
}

/** A run that never ended counts as `error`. `cost` in US dollars, to nine decimals; `durationMs` whole. */
export function toResultFields({ sessionId, summary, durationMs }: RunResult): ResultFields {
  const { result, stopReason = "error", usage, cost, turns, error } = summary;
  return {
    sessionId,
    result,
    stopReason,
    usage,
    cost: cost === null ? null : Math.round(cost * 1e9) / 1e9,
    turns,
    durationMs: Math.round(durationMs),
    ...(error && { error }),
  };
}
