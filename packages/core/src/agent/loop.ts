import type { EventStream } from "../event-stream.ts";
import { NOT_STARTED } from "../result-texts.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../types.ts";
import { EMPTY_USAGE, isRefusal, messageText, toolCallsOf, unknownStopReason } from "../types.ts";
import { createAgentStream } from "./agent-stream.ts";
import { Run } from "./run.ts";
import { toSerializableError } from "./serializable-error.ts";
import { streamReply } from "./turn.ts";
import type { AgentEvent, AgentLoopConfig, RunStopReason } from "./types.ts";

// A reply cut at the output limit may be mended by a shorter one; the second time in a row it will not be.
const MAX_CUT_REPLIES = 2;
// A provider pauses a long turn of its own tools a few times at most.
const MAX_PAUSES = 10;

/**
 * Lets the model work on `messages` until it is done: ask, run its tool calls, ask again. It never throws and its
 * result never rejects: a failure is an `error` event, and the last event is always `agent_end`. The result is the
 * messages that were added. After any end, abort included, every tool call has exactly one result.
 */
export function agentLoop(
  messages: readonly Message[],
  config: AgentLoopConfig,
): EventStream<AgentEvent, Message[]> {
  const stream = createAgentStream();
  // Begins after the caller has had the chance to subscribe.
  queueMicrotask(() => void runToEnd(messages, config, stream));
  return stream;
}

async function runToEnd(
  messages: readonly Message[],
  config: AgentLoopConfig,
  stream: EventStream<AgentEvent, Message[]>,
): Promise<void> {
  const emit = (event: AgentEvent) => stream.push(event);
  let added: Message[] = [];
  let outcome: Outcome;
  emit({ type: "agent_start" });
  emit({ type: "status_change", status: "busy" });
  try {
    const run = new Run(messages, config, emit);
    added = run.history.added;
    outcome = await runTurns(run);
  } catch (error) {
    outcome = { stopReason: "error", error };
  }
  await config.changes?.settled();
  const error = outcome.error === undefined ? undefined : toSerializableError(outcome.error);
  if (error) emit({ type: "error", error, fatal: true });
  emit({ type: "status_change", status: "idle" });
  emit({ type: "agent_end", messages: added, stopReason: outcome.stopReason, ...(error && { error }) });
}

interface Outcome {
  stopReason: RunStopReason;
  error?: unknown;
}

async function runTurns(run: Run): Promise<Outcome> {
  const { maxTurns = Number.POSITIVE_INFINITY } = run.config;
  let cutReplies = 0;
  let pauses = 0;
  for (let turn = 1; turn <= maxTurns; turn++) {
    if (run.signal.aborted) return { stopReason: "aborted" };
    if (run.isOverCost) return { stopReason: stopAtCost(run) };
    run.takeSteering();
    await run.prepareContext();
    // Summarising takes a while: what happened meanwhile counts.
    if (run.signal.aborted) return { stopReason: "aborted" };
    if (run.isOverCost) return { stopReason: stopAtCost(run) };
    const { message, toolResults, outcome } = await runTurn(run, `turn-${turn}`);
    if (outcome) return outcome;
    cutReplies = message.stopReason === "max_tokens" ? cutReplies + 1 : 0;
    if (cutReplies >= MAX_CUT_REPLIES) return { stopReason: finalStopReason(run, message) };
    if (toolResults.length > 0) continue;
    pauses = message.stopReason === "tool_use" ? pauses + 1 : 0;
    if (pauses > MAX_PAUSES)
      return { stopReason: "error", error: new Error(`The provider paused ${pauses} times.`) };
    if (pauses === 0 && !run.takeSteering()) return { stopReason: finalStopReason(run, message) };
  }
  run.notice(
    "warning",
    "limit",
    `Stopped: the limit of ${maxTurns === 1 ? "one turn" : `${maxTurns} turns`} is reached.`,
  );
  return { stopReason: "max_turns" };
}

interface Turn {
  message: AssistantMessage;
  toolResults: ToolResultMessage[];
  /** Set when the run ends with this turn. */
  outcome?: Outcome | undefined;
}

async function runTurn(run: Run, turnId: string): Promise<Turn> {
  run.emit({ type: "turn_start", turnId });
  const { message, error } = await streamReply(run);
  const turn = message ? await answerCalls(run, message) : { toolResults: [] };
  const outcome = error && !run.signal.aborted ? { stopReason: "error" as const, error } : turn.outcome;
  const shown = message ?? emptyReply(run, error ? "error" : "aborted");
  run.emit({ type: "turn_end", turnId, message: shown, toolResults: turn.toolResults });
  if (!message && !outcome) return { message: shown, toolResults: [], outcome: { stopReason: "aborted" } };
  return { message: shown, toolResults: turn.toolResults, outcome };
}

async function answerCalls(run: Run, message: AssistantMessage): Promise<Omit<Turn, "message">> {
  // What runs tools is loaded behind the first reply: not before the first request.
  const { runToolCalls, skipToolCalls } = await import("./tool-calls.ts");
  if (message.stopReason === "aborted") {
    return { toolResults: skipToolCalls(run, message, NOT_STARTED), outcome: { stopReason: "aborted" } };
  }
  if (message.stopReason === "error") {
    const toolResults = skipToolCalls(run, message, "Not run: the reply broke off in an error.");
    if (isRefusal(message)) return { toolResults, outcome: { stopReason: "refusal" } };
    const error = new Error(`The provider ended its reply with "${message.rawStopReason ?? "error"}".`);
    return { toolResults, outcome: { stopReason: "error", error } };
  }
  if (message.stopReason === "max_tokens") return { toolResults: skipToolCalls(run, message, CUT_REPLY) };
  if (run.isOverCost && toolCallsOf(message).length > 0) {
    const toolResults = skipToolCalls(run, message, LIMIT_REACHED);
    return { toolResults, outcome: { stopReason: stopAtCost(run) } };
  }
  const { results, stop } = await runToolCalls(run, message);
  return { toolResults: results, outcome: stop && { stopReason: stop } };
}

const CUT_REPLY =
  "Not run: the reply was cut off at the output limit. Say it in smaller parts, for instance several smaller edits.";
const LIMIT_REACHED = "Not run: limit reached.";

function stopAtCost(run: Run): "max_cost" {
  run.notice("warning", "limit", `Stopped: the limit of $${run.config.maxCost} is reached.`);
  return "max_cost";
}

function finalStopReason(run: Run, message: AssistantMessage): RunStopReason {
  if (message.stopReason === "max_tokens") {
    run.notice("warning", "cut_reply", cutText(message));
    return "max_tokens";
  }
  const unknown = unknownStopReason(message);
  if (unknown !== undefined)
    run.notice("warning", "stop_reason", `The model stopped for the reason "${unknown}".`);
  if (messageText(message).trim() === "")
    run.notice("warning", "empty_answer", "The model ended without an answer.");
  return run.tools.unattendedRejection ? "approval" : "end_turn";
}

/** The limit that a cut reply has met: the wrong one would be raised in vain. */
function cutText({ rawStopReason, model }: AssistantMessage): string {
  switch (rawStopReason) {
    case "model_context_window_exceeded":
      return `The answer was cut off: the context window of ${model} is full.`;
    case "content_filter":
      return "The answer was cut off by the provider's content filter.";
    default:
      return `The answer was cut off at the output limit of ${model}.`;
  }
}

function emptyReply(run: Run, stopReason: "error" | "aborted"): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    model: run.config.model.id,
    usage: EMPTY_USAGE,
    stopReason,
    timestamp: run.now(),
  };
}
