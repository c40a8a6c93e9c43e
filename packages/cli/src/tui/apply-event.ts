import { type AgentEvent, type AssistantMessage, assertNever, type MessageDelta } from "@diligent/core/run";
import { describeStop } from "../describe-stop.ts";
import { formatTokens } from "../progress-lines.ts";
import type { Block, ToolCallView } from "./blocks.ts";
import { cutFinished } from "./markdown/cut-finished.ts";
import type { Activity, View } from "./view.ts";

/** The view after one more event of a run. Pure: `now` is milliseconds of any clock, the same for all events. */
export function applyEvent(view: View, event: AgentEvent, now: number): View {
  switch (event.type) {
    case "agent_start":
    case "turn_start":
      return { ...view, activity: { type: "waiting", since: now } };
    case "message_start":
      // A second one means that the answer begins anew: what was streamed of it is void.
      return { ...view, live: view.live.filter((block) => block.type === "tool") };
    case "message_delta":
      return applyDelta(view, event.delta, now);
    case "message_end":
      return endMessage(view, event.message, now);
    case "tool_start":
      return startTool(view, event, now);
    case "tool_update":
      return changeTool(view, event.toolCallId, (call) => ({ ...call, partial: event.partialResult }));
    case "tool_end":
      return endTool(view, event, now);
    case "usage":
      return countUsage(view, event);
    case "compaction_start":
      return { ...view, activity: { type: "compacting", since: now, tokens: event.estimatedTokens } };
    case "compaction_end":
      return endCompaction(view, event, now);
    case "knowledge_saved":
      return notice(view, "info", `💡 Knowledge saved: ${event.content}`);
    case "steering":
      return takeSteering(view, event.text);
    case "status_change":
      return { ...view, activity: toActivity(event, view.activity, now) };
    case "notice":
      return notice(view, event.level, event.message);
    case "error":
      return event.fatal ? view : notice(view, "error", event.error.message);
    case "agent_end":
      return endRun(view, event, now);
    case "turn_end":
    case "approval_request":
      return view;
    default:
      return assertNever(event);
  }
}

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

function applyDelta(view: View, delta: MessageDelta, now: number): View {
  switch (delta.type) {
    case "thinking_delta":
      return growThinking(view, delta.delta, now);
    case "text_delta":
      return growAnswer(endThinking(view, now), delta.delta, now);
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

function growAnswer(view: View, delta: string, now: number): View {
  const last = view.live.at(-1);
  const activity = keepActivity(view.activity, "answering", now);
  const open = last?.type === "answer" ? last : undefined;
  const markdown = (open?.markdown ?? "") + delta;
  const isFirst = open?.isFirst ?? true;
  // Only the end of a line can end a block.
  const { finished, rest } = delta.includes("\n") ? cutFinished(markdown) : { finished: "", rest: markdown };
  const before = open ? view.live.slice(0, -1) : view.live;
  if (finished === "") return { ...view, activity, live: [...before, { type: "answer", markdown, isFirst }] };
  const written: Block[] = [...before, { type: "answer", markdown: finished, isFirst }];
  return {
    ...view,
    activity,
    finished: [...view.finished, ...written],
    live: [{ type: "answer", markdown: rest, isFirst: false }],
  };
}

function endThinking(view: View, now: number): View {
  const last = view.live.at(-1);
  if (last?.type !== "thinking" || last.endedAt !== undefined) return view;
  return settle({ ...view, live: replaceLast(view.live, { ...last, endedAt: now }) });
}

/** What streamed is what the message holds, so it only has to be finished; an answer that was never streamed is shown now. */
function endMessage(view: View, message: AssistantMessage, now: number): View {
  const ended = endThinking(view, now);
  const streamed = ended.live.filter(({ type }) => type !== "tool");
  // Of an answer that was streamed an open rest is always there, be it empty.
  const blocks = streamed.length > 0 ? streamed : messageBlocks(message);
  const shown = blocks.filter((block) => block.type !== "answer" || block.markdown.trim() !== "");
  const activity: Activity = { type: "waiting", since: now };
  return { ...ended, activity, finished: [...ended.finished, ...shown], live: [] };
}

function messageBlocks(message: AssistantMessage): Block[] {
  return message.content.flatMap((block): Block[] => {
    if (block.type === "text") return [{ type: "answer", markdown: block.text, isFirst: true }];
    if (block.type === "opaque") {
      return [{ type: "notice", level: "info", text: `(something of ${block.provider} that is not shown)` }];
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
  const { toolCallId, output, isError, metadata = {} } = event;
  const changed = changeTool(view, toolCallId, (call) => ({
    ...call,
    result: { output, isError, metadata, endedAt: now },
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

/** Moves what is finished out of the live part, in order: nothing overtakes what stands above it. */
function settle(view: View): View {
  const open = view.live.findIndex((block) => !isFinished(block));
  const count = open < 0 ? view.live.length : open;
  if (count === 0) return view;
  const done = view.live.slice(0, count);
  const lastTool = done.findLast((block) => block.type === "tool");
  return {
    ...view,
    finished: [...view.finished, ...done],
    live: view.live.slice(count),
    ...(lastTool?.type === "tool" && { lastCall: lastTool.call }),
  };
}

function isFinished(block: Block): boolean {
  if (block.type === "tool") return block.call.result !== undefined;
  if (block.type === "thinking") return block.endedAt !== undefined;
  return block.type !== "answer";
}

function countUsage(view: View, { usage, cost }: EventOf<"usage">): View {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const { status } = view;
  const total = cost === null || status.cost === null ? null : status.cost + cost;
  return {
    ...view,
    status: {
      ...status,
      contextTokens: view.activity.type === "compacting" ? status.contextTokens : tokens,
      sessionTokens: status.sessionTokens + tokens,
      cost: total,
    },
  };
}

function endCompaction(view: View, event: EventOf<"compaction_end">, now: number): View {
  const { tokensBefore, tokensAfter } = event;
  const text = `Context compacted: ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
  const status = { ...view.status, contextTokens: tokensAfter };
  return notice({ ...view, status, activity: { type: "waiting", since: now } }, "info", text);
}

function takeSteering(view: View, text: string): View {
  const index = view.queued.indexOf(text);
  return {
    ...view,
    queued: index < 0 ? view.queued : view.queued.toSpliced(index, 1),
    finished: [...view.finished, { type: "prompt", text }],
  };
}

function toActivity({ status, retry }: EventOf<"status_change">, before: Activity, now: number): Activity {
  if (status === "idle") return { type: "idle" };
  if (status === "retry" && retry) {
    return { type: "retry", since: now, attempt: retry.attempt, until: now + retry.delayMs };
  }
  return before.type === "idle" || before.type === "retry" ? { type: "waiting", since: now } : before;
}

function endRun(view: View, event: EventOf<"agent_end">, now: number): View {
  const ended = endThinking(view, now);
  const idle: View = {
    ...ended,
    finished: [...ended.finished, ...ended.live],
    live: [],
    activity: { type: "idle" },
  };
  const text = event.stopReason === "approval" ? "stopped: you said no" : describeStop(event);
  if (text === undefined) return idle;
  return notice(idle, event.stopReason === "error" ? "error" : "warning", text);
}

function notice(view: View, level: "info" | "warning" | "error", text: string): View {
  return { ...view, finished: [...view.finished, { type: "notice", level, text }] };
}

function keepActivity(activity: Activity, type: "thinking" | "answering", now: number): Activity {
  return activity.type === type ? activity : { type, since: now };
}

function replaceLast(blocks: readonly Block[], block: Block): Block[] {
  return [...blocks.slice(0, -1), block];
}
