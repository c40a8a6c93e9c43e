import {
  type AgentEvent,
  addUsage,
  EMPTY_USAGE,
  type Model,
  messageText,
  type RunStopReason,
  type SerializableError,
  type Usage,
} from "@diligent/core/run";

/** What a run came to, from its events alone. */
export interface RunSummary {
  /** The text of the last assistant message. */
  result: string;
  /** Undefined while the run goes on. */
  stopReason?: RunStopReason;
  usage: Usage;
  /** US dollars; null when the model's price is unknown. */
  cost: number | null;
  /** Model replies, each with its tool results. */
  turns: number;
  error?: SerializableError;
}

/** The summary of a run of which nothing has happened; without both prices its cost stays unknown. */
export function createRunSummary(model: Pick<Model, "inputCostPer1M" | "outputCostPer1M">): RunSummary {
  const hasPrice = model.inputCostPer1M !== undefined && model.outputCostPer1M !== undefined;
  return { result: "", usage: EMPTY_USAGE, cost: hasPrice ? 0 : null, turns: 0 };
}

/** The summary after one more event. */
export function applyEvent(summary: RunSummary, event: AgentEvent): RunSummary {
  switch (event.type) {
    case "message_end":
      return { ...summary, result: messageText(event.message) };
    case "usage":
      return {
        ...summary,
        usage: addUsage(summary.usage, event.usage),
        cost: summary.cost === null || event.cost === null ? null : summary.cost + event.cost,
      };
    case "turn_end":
      // A request that got no reply at all is no turn.
      return event.message.content.length === 0 && event.message.stopReason !== "end_turn"
        ? summary
        : { ...summary, turns: summary.turns + 1 };
    case "agent_end":
      return { ...summary, stopReason: event.stopReason, ...(event.error && { error: event.error }) };
    default:
      return summary;
  }
}

/** The summary of a run that broke off without its last event. */
export function endSummary(
  summary: RunSummary,
  stopReason: RunStopReason,
  error?: SerializableError,
): RunSummary {
  return { ...summary, stopReason, ...(error && { error }) };
}
