import { assertNever } from "@diligent/core/run";
import type { RunSummary } from "./run-summary.ts";

/** Why a run did not come to its proper end, for a person; undefined when it did, or when a notice has said so. */
export function describeStop({
  stopReason,
  error,
}: Pick<RunSummary, "stopReason" | "error">): string | undefined {
  switch (stopReason) {
    case undefined:
    case "end_turn":
    case "max_turns":
    case "max_cost":
    case "loop":
    case "max_tokens":
      return undefined;
    case "error":
      return error?.message ?? "the run failed";
    case "refusal":
      return "the model declined to answer";
    case "approval":
      return "something needed an approval and nobody could give it; --approval auto allows everything";
    case "aborted":
      return "interrupted";
    default:
      return assertNever(stopReason);
  }
}
