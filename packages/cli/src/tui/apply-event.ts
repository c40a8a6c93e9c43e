import {
  type AgentEvent,
  type AssistantMessage,
  assertNever,
  isWebSearchBlock,
  type MessageDelta,
} from "@diligent/core/run";
import { formatEvidence } from "../evidence/format-evidence.ts";
import { describeCompaction, describePruning, describeStop, describeWebSearches } from "../print/summary.ts";
import { withoutQueued } from "./prompt/prompt-queue.ts";
import { countTokens } from "./session-status.ts";
import {
  type Activity,
  type Block,
  finish,
  notice,
  rememberExpandable,
  type ToolCallView,
  type View,
} from "./view.ts";

/** The context in which an event is applied. */
interface EventContext {
  /** Milliseconds of any clock, the same one for all events. */
  now: number;
  /** Splits streaming Markdown into complete blocks and the open rest; see `cutFinished`. */
  cut(markdown: string): { finished: string; rest: string };
}

/** The view after one more event of a run. Pure. */
export function applyEvent(view: View, event: AgentEvent, context: EventContext): View {
  const { now } = context;
  switch (event.type) {
    case "agent_start":
    case "turn_start":
      return { ...view, activity: { type: "waiting", since: now } };
    case "message_start":
      // A second start means that the response restarts, so the text streamed so far is discarded.
      return { ...view, live: view.live.filter((block) => block.type === "tool") };
    case "message_delta":
      return applyDelta(view, event.delta, context);
    case "message_end":
      return endMessage(view, event.message, now);
    case "tool_start":
      return startTool(view, event, now);
    case "tool_update":
      return changeTool(view, event.toolCallId, (call) => ({
        ...call,
        partial: event.partialResult,
        ...(event.input && { input: event.input }),
      }));
    case "tool_end":
      return endTool(view, event, now);
    case "usage":
      return countUsage(view, event);
    case "agent_event":
      return countAgentUsage(view, event);
    case "todo":
      return { ...view, todos: event.todos };
    case "evidence":
      return finish(view, notice("info", formatEvidence(event).join("\n")));
    case "prune":
      return notePruning(view, event);
    case "compaction_start":
      return { ...view, activity: { type: "compacting", since: now, tokens: event.estimatedTokens } };
    case "compaction_end":
      return endCompaction(view, event, now);
    case "knowledge_saved":
      return noteKnowledge(view, event);
    case "steering":
      return takeSteering(view, event);
    case "status_change":
      return { ...view, activity: toActivity(event, view.activity, now) };
    case "notice":
      return event.code === "retry"
        ? noteRetry(view, event)
        : finish(view, notice(event.level, event.message));
    case "mcp_server":
      return event.state === "failed"
        ? finish(view, notice("warning", `The server ${event.name} is not available. ${event.error ?? ""}`))
        : view;
    case "error":
      return event.fatal ? view : finish(view, notice("error", event.error.message));
    case "agent_end":
      return endRun(view, event, now);
    case "turn_end":
    case "approval_request":
    // The session itself reports these, between runs too.
    case "job_update":
    // What was refused is in the command's result; /network lists everything.
    case "network":
      return view;
    // /secrets lists them.
    case "masked":
      return view;
    // The call's result quotes the rule.
    case "rule_violation":
      return view;
    case "hook":
      return noteHook(view, event);
    default:
      return assertNever(event);
  }
}

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

function applyDelta(view: View, delta: MessageDelta, context: EventContext): View {
  const { now } = context;
  switch (delta.type) {
    case "thinking_delta":
      return growThinking(view, delta.delta, now);
    case "text_delta":
      return growAnswer(endThinking(view, now), delta.delta, context);
    case "tool_call_delta":
      return view;
    default:
      return assertNever(delta);
  }
}

function growThinking(view: View, delta: string, now: number): View {
  const last = view.live.at(-1);
  const activity = keepActivity(view.activity, "thinking", now);
  if (last?.type !== "thinking" || last.endedAt !== undefined) {
    return { ...view, activity, live: [...view.live, { type: "thinking", text: delta, startedAt: now }] };
  }
  return { ...view, activity, live: replaceLast(view.live, { ...last, text: last.text + delta }) };
}

function growAnswer(view: View, delta: string, { now, cut }: EventContext): View {
  const last = view.live.at(-1);
  const activity = keepActivity(view.activity, "answering", now);
  const open = last?.type === "answer" ? last : undefined;
  const markdown = (open?.markdown ?? "") + delta;
  // Only a line end can end a block.
  const isExamined = delta.includes("\n") && markdown.length >= (open?.uncutChars ?? 0) * UNCUT_GROWTH;
  const { finished, rest } = isExamined ? cut(markdown) : { finished: "", rest: markdown };
  const before = open ? view.live.slice(0, -1) : view.live;
  if (finished === "") {
    const uncutChars = isExamined && markdown.length > MIN_UNCUT_CHARS ? markdown.length : open?.uncutChars;
    const block: Block = {
      type: "answer",
      markdown,
      ...(uncutChars !== undefined && { uncutChars }),
    };
    return { ...view, activity, live: [...before, block] };
  }
  const written: Block[] = [...before, { type: "answer", markdown: finished }];
  return {
    ...finish(view, ...written),
    activity,
    live: [{ type: "answer", markdown: rest }],
  };
}

// A block of this length is not searched again with every line, but only after it has grown by a tenth.
const MIN_UNCUT_CHARS = 16_000;
const UNCUT_GROWTH = 1.1;

function endThinking(view: View, now: number): View {
  const last = view.live.at(-1);
  if (last?.type !== "thinking" || last.endedAt !== undefined) return view;
  return settle({ ...view, live: replaceLast(view.live, { ...last, endedAt: now }) });
}

/**
 * The streamed text equals the message, so only its end is missing; an answer that was not streamed is shown
 * now.
 */
function endMessage(view: View, message: AssistantMessage, now: number): View {
  const ended = endThinking(view, now);
  const streamed = ended.live.filter(({ type }) => type !== "tool");
  // A streamed answer always has an open rest, possibly empty.
  const blocks = streamed.length > 0 ? streamed : messageBlocks(message);
  const shown = blocks.filter((block) => block.type !== "answer" || block.markdown.trim() !== "");
  const activity: Activity = { type: "waiting", since: now };
  return { ...finish(ended, ...shown, ...searchBlocks(message)), activity, live: [] };
}

/** What the provider searched for, and the pages that the answer cites. */
function searchBlocks(message: AssistantMessage): Block[] {
  const searches = describeWebSearches(message);
  return searches === undefined ? [] : [notice("info", searches)];
}

function messageBlocks(message: AssistantMessage): Block[] {
  return message.content.flatMap((block): Block[] => {
    if (block.type === "text") return [{ type: "answer", markdown: block.text }];
    if (block.type === "opaque" && !isWebSearchBlock(block)) {
      return [notice("info", `(${block.provider} content that cannot be shown)`)];
    }
    return [];
  });
}

function startTool(view: View, { toolCallId, toolName, input }: EventOf<"tool_start">, now: number): View {
  const call: ToolCallView = { toolCallId, toolName, input, startedAt: now };
  const activity: Activity = { type: "tool", since: now, toolName };
  return { ...view, activity, live: [...view.live, { type: "tool", call }] };
}

function endTool(view: View, event: EventOf<"tool_end">, now: number): View {
  const { toolCallId, output, isError, outcome, metadata = {} } = event;
  const changed = changeTool(view, toolCallId, (call) => ({
    ...call,
    ...(event.input && { input: event.input }),
    result: { output, isError, outcome, metadata, endedAt: now },
  }));
  return settle(changed);
}

function changeTool(view: View, toolCallId: string, change: (call: ToolCallView) => ToolCallView): View {
  const live = view.live.map((block) =>
    block.type === "tool" && block.call.toolCallId === toolCallId
      ? { ...block, call: change(block.call) }
      : block,
  );
  return { ...view, live };
}

/** Moves finished blocks out of the live part, in order: no block overtakes one above it. */
function settle(view: View): View {
  const open = view.live.findIndex((block) => !isFinished(block));
  const count = open < 0 ? view.live.length : open;
  if (count === 0) return view;
  const done = view.live.slice(0, count);
  const lastCall = done.findLast((block) => block.type === "tool");
  return {
    ...rememberExpandable(finish(view, ...done), done),
    live: view.live.slice(count),
    ...(lastCall?.type === "tool" && { lastCall }),
  };
}

function isFinished(block: Block): boolean {
  if (block.type === "tool") return block.call.result !== undefined;
  if (block.type === "thinking") return block.endedAt !== undefined;
  return block.type !== "answer";
}

function countUsage(
  view: View,
  { usage, cost, purpose }: EventOf<"usage">,
  { isSideRequest = purpose !== undefined } = {},
): View {
  const tokens = countTokens(usage);
  const { status } = view;
  const total = cost === null || status.cost === null ? null : status.cost + cost;
  // A side request costs money but is not part of the context.
  return {
    ...view,
    status: {
      ...status,
      contextTokens: isSideRequest ? status.contextTokens : tokens,
      isContextEstimated: isSideRequest && status.isContextEstimated,
      sessionTokens: status.sessionTokens + tokens,
      cost: total,
    },
  };
}

/** What a hook decides is shown with the call or the prompt; one that failed did not guard anything. */
function noteHook(view: View, { event, command, problem }: EventOf<"hook">): View {
  return problem === undefined
    ? view
    : finish(view, notice("warning", `The ${event} hook ${command} failed: ${problem}.`));
}

/** What a sub-agent does is shown with its call; its requests cost money, and are not part of the context. */
function countAgentUsage(view: View, { event }: EventOf<"agent_event">): View {
  if (event.type === "agent_event") return countAgentUsage(view, event);
  return event.type === "usage" ? countUsage(view, event, { isSideRequest: true }) : view;
}

function endCompaction(view: View, event: EventOf<"compaction_end">, now: number): View {
  const text = describeCompaction(event);
  const status = { ...view.status, contextTokens: event.tokensAfter, isContextEstimated: true };
  return finish({ ...view, status, activity: { type: "waiting", since: now } }, notice("info", text));
}

function notePruning(view: View, event: EventOf<"prune">): View {
  const status = { ...view.status, contextTokens: event.tokensAfter, isContextEstimated: true };
  return finish({ ...view, status }, notice("info", describePruning(event)));
}

function takeSteering(view: View, { text, id, isNote }: EventOf<"steering">): View {
  // The user's shell command has been in the transcript since it ended.
  if (isNote) return view;
  return finish(withoutQueued(view, id === undefined ? [] : [id]), { type: "prompt", text });
}

function toActivity({ status, retry }: EventOf<"status_change">, before: Activity, now: number): Activity {
  if (status === "idle") return { type: "idle" };
  if (status === "retry" && retry) {
    const attempt = { attempt: retry.attempt, until: now + retry.delayMs };
    return before.type === "compacting"
      ? { ...before, retry: attempt }
      : { type: "retry", since: now, ...attempt };
  }
  if (before.type === "compacting") return { type: "compacting", since: before.since, tokens: before.tokens };
  return before.type === "idle" || before.type === "retry" ? { type: "waiting", since: now } : before;
}

/**
 * The reason for a retry is in the line that counts down to it, not in the transcript, where every attempt
 * would add a line.
 */
function noteRetry(view: View, event: EventOf<"notice">): View {
  const { activity } = view;
  const reason = event.message.replace(/\s*Attempt \d+ in [\d.,]+ m?s\b.*$/s, "");
  // The written part of an answer stays there; the notice of a restart must appear below it.
  const isRestart = /Restarting the response/.test(event.message);
  const shown = isRestart ? finish(view, notice(event.level, event.message)) : view;
  if (activity.type === "retry") return { ...shown, activity: { ...activity, reason } };
  if (activity.type === "compacting" && activity.retry)
    return { ...shown, activity: { ...activity, retry: { ...activity.retry, reason } } };
  return finish(view, notice(event.level, event.message));
}

function endRun(view: View, event: EventOf<"agent_end">, now: number): View {
  const ended = endThinking(view, now);
  const idle: View = { ...finish(ended, ...ended.live), live: [], activity: { type: "idle" } };
  const text = event.stopReason === "approval" ? "Stopped: request denied" : describeStop(event);
  if (text === undefined) return idle;
  return finish(idle, notice(END_LEVELS[event.stopReason] ?? "warning", text));
}

/** The user's own actions need no warning. */
const END_LEVELS: Partial<Record<EventOf<"agent_end">["stopReason"], "info" | "error">> = {
  aborted: "info",
  approval: "info",
  error: "error",
};

/** A call that is on the screen shows what it saves. */
function noteKnowledge(view: View, { knowledgeId, content }: EventOf<"knowledge_saved">): View {
  const live = view.live.flatMap((block) => (block.type === "tool" ? [block.call] : []));
  const isShown = [...live, view.lastCall?.call].some(
    (call) => call?.result?.metadata.knowledgeId === knowledgeId,
  );
  return isShown ? view : finish(view, notice("info", `💡 Knowledge saved: ${content}`));
}

function keepActivity(activity: Activity, type: "thinking" | "answering", now: number): Activity {
  return activity.type === type ? activity : { type, since: now };
}

function replaceLast(blocks: readonly Block[], block: Block): Block[] {
  return [...blocks.slice(0, -1), block];
}
