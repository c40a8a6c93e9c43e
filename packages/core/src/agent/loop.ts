import { EventStream } from "../event-stream.ts";
import { NOT_STARTED } from "../history.ts";
import { ProviderError } from "../provider/types.ts";
import {
  type AssistantMessage,
  EMPTY_USAGE,
  isRefusal,
  type Message,
  messageText,
  type ToolResultMessage,
  toolCallsOf,
  unknownStopReason,
} from "../types.ts";
import { SpendingLimitError } from "./budget.ts";
import { Run } from "./run.ts";
import { streamReply } from "./turn.ts";
import type { AgentEvent, AgentLoopConfig, RunStopReason, SerializableError } from "./types.ts";

// A reply cut at the output limit may be followed by a shorter one that fits; the second time in a row it will not
// be.
const MAX_CUT_REPLIES = 2;
// A provider may pause a long turn of its own server-side tools; more pauses than this are an error.
const MAX_PAUSES = 10;

/**
 * Runs the model on `messages` until it is done: request, run its tool calls, request again. It never throws and its
 * result never rejects: a failure is an `error` event, and the last event is always `agent_end`. The result is the
 * messages that were added. However the run ends, aborted included, every tool call has exactly one result.
 */
export function agentLoop(
  messages: readonly Message[],
  config: AgentLoopConfig,
): EventStream<AgentEvent, Message[]> {
  const stream = createAgentStream();
  // Starts after the caller has had the chance to subscribe.
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
    if (!run.budget.takeTurn()) return { stopReason: stopAtTurns(run, run.budget.limits.maxTurns) };
    run.takeSteering();
    run.takeNotes();
    await run.prepareContext();
    await run.beginRequest();
    // Summarizing takes a while: include what arrived meanwhile.
    if (run.signal.aborted || run.isOverCost) {
      run.endRequest();
      return { stopReason: run.signal.aborted ? "aborted" : stopAtCost(run) };
    }
    const { message, toolResults, outcome } = await runTurn(run, run.toTurnId(turn));
    if (outcome) return outcome;
    cutReplies = message.stopReason === "max_tokens" ? cutReplies + 1 : 0;
    if (cutReplies >= MAX_CUT_REPLIES) return { stopReason: finalStopReason(run, message) };
    if (toolResults.length > 0) continue;
    pauses = message.stopReason === "tool_use" ? pauses + 1 : 0;
    if (pauses > MAX_PAUSES)
      return { stopReason: "error", error: new Error(`The provider paused ${pauses} times.`) };
    if (pauses > 0 || run.takeSteering() || (await run.reviewAnswer(message))) continue;
    // The review takes a while: include what arrived meanwhile.
    if (run.takeSteering()) continue;
    return { stopReason: finalStopReason(run, message) };
  }
  return { stopReason: stopAtTurns(run, maxTurns) };
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
  const outcome = error && !run.signal.aborted ? toOutcome(run, error) : turn.outcome;
  const shown = message ?? emptyReply(run, error ? "error" : "aborted");
  run.emit({ type: "turn_end", turnId, message: shown, toolResults: turn.toolResults });
  if (!message && !outcome) return { message: shown, toolResults: [], outcome: { stopReason: "aborted" } };
  return { message: shown, toolResults: turn.toolResults, outcome };
}

/** A request that a limit has prevented is no failure. */
function toOutcome(run: Run, error: Error): Outcome {
  if (!(error instanceof SpendingLimitError)) return { stopReason: "error", error };
  if (run.isOverCost) return { stopReason: stopAtCost(run) };
  run.notice("warning", "limit", `Stopped: ${error.message}`);
  return { stopReason: "max_cost" };
}

async function answerCalls(run: Run, message: AssistantMessage): Promise<Omit<Turn, "message">> {
  const calls = toolCallsOf(message);
  // What runs calls is loaded with the first one: most of it is needed by no answer in words.
  const runner = calls.length > 0 ? await import("./tool-calls.ts") : undefined;
  const skip = (reason: string) => runner?.skipToolCalls(run, message, reason) ?? [];
  // A refusal that the model has worked around since does not count.
  if (calls.length > 0) run.tools.unattendedRejection = false;
  if (message.stopReason === "aborted") {
    return { toolResults: skip(NOT_STARTED), outcome: { stopReason: "aborted" } };
  }
  if (message.stopReason === "error") {
    const toolResults = skip("Not run: the reply broke off in an error.");
    if (isRefusal(message)) return { toolResults, outcome: { stopReason: "refusal" } };
    const error = new Error(`The provider ended its reply with "${message.rawStopReason ?? "error"}".`);
    return { toolResults, outcome: { stopReason: "error", error } };
  }
  if (message.stopReason === "max_tokens") return { toolResults: skip(CUT_REPLY) };
  if (run.isOverCost && calls.length > 0) {
    const toolResults = skip(LIMIT_REACHED);
    return { toolResults, outcome: { stopReason: stopAtCost(run) } };
  }
  if (!runner)
    return { toolResults: [], outcome: run.signal.aborted ? { stopReason: "aborted" } : undefined };
  const { results, stop } = await runner.runToolCalls(run, message);
  return { toolResults: results, outcome: stop && { stopReason: stop } };
}

const CUT_REPLY =
  "Not run: the reply was cut off at the output limit. Split it into smaller parts, for instance several smaller edits.";
const LIMIT_REACHED = "Not run: limit reached.";

function stopAtCost(run: Run): "max_cost" {
  run.notice("warning", "limit", `Stopped: the limit of $${run.budget.limits.maxCost} was reached.`);
  return "max_cost";
}

function stopAtTurns(run: Run, maxTurns: number | undefined): "max_turns" {
  const turns = maxTurns === 1 ? "one turn" : `${maxTurns} turns`;
  run.notice("warning", "limit", `Stopped: the limit of ${turns} was reached.`);
  return "max_turns";
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

/** Names the limit that the cut reply hit, so that the user raises the right one. */
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

/** The stream of one run: it ends with `agent_end`, and its result is the messages that were added. */
export function createAgentStream(): EventStream<AgentEvent, Message[]> {
  return new EventStream(
    (event) => event.type === "agent_end",
    (event) => (event.type === "agent_end" ? event.messages : []),
  );
}

/** An error as data. The stack is kept only for bugs; other errors name their cause in the message. */
export function toSerializableError(error: unknown): SerializableError {
  if (error instanceof ProviderError) {
    return { name: error.name, message: error.message, errorType: error.errorType };
  }
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack } = error;
  return { name, message, ...(stack !== undefined && { stack }) };
}
