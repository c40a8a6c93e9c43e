import { agentLoop, createAgentStream } from "../agent/loop.ts";
import { toSteeringEvent } from "../agent/run.ts";
import type { AgentEvent, AgentLoopConfig, SteeredMessage } from "../agent/types.ts";
import { now } from "../infrastructure/runtime.ts";
import type { Model, RunConditions } from "../provider/types.ts";
import { type Message, promptText, toolCallsOf, type UserMessage } from "../types.ts";
import { type ContextManager, runConfigFor } from "./compaction/context-manager.ts";
import { buildPathContext } from "./context-builder.ts";
import { type SessionLog, saveEffort } from "./log.ts";
import { flushSession, type LiveSession } from "./open.ts";
import { findLastModelId } from "./tree.ts";

type RunEnd = Extract<AgentEvent, { type: "agent_end" }>;

/** The dependencies of a run; they belong to the session and outlive the run. */
interface SessionRunDeps {
  session: LiveSession;
  guard: ContextManager;
  agentConfig: AgentLoopConfig;
  /** See `SessionManagerConfig`. */
  conditions?: RunConditions | undefined;
  /** See `SessionManagerConfig`. */
  nudgeInterval?: number | undefined;
  steering: SteeringQueue;
  /** See `AgentLoopConfig`. */
  takeNotes?: AgentLoopConfig["takeNotes"];
  /** Notices from before the run, reported after its first event. */
  pendingNotices: AgentEvent[];
  /** Called when everything is saved, just before `agent_end` is emitted: from then on another run may start. */
  onEnd(): void;
}

/** One run of the agent loop in a session: finished messages are saved, its events are emitted. */
export class SessionRun {
  readonly stream = createAgentStream();

  constructor(private readonly parts: SessionRunDeps) {}

  /** Saves the user's message, after a change of the model or the thinking level since the last run. */
  addPrompt(message: UserMessage): void {
    const { agentConfig, session } = this.parts;
    recordModelChange(session.log, agentConfig.model);
    this.keep(message);
    saveEffort(session.log, agentConfig.effort);
  }

  /** Runs the agent on the conversation so far. */
  start(signal: AbortSignal | undefined, budget?: AgentLoopConfig["budget"]): void {
    const { agentConfig, conditions, guard, session, steering } = this.parts;
    const { tools } = agentConfig;
    const { nudgeInterval: interval } = conditions ?? this.parts;
    guard.startRun();
    const loop = agentLoop(buildPathContext(session.log.path()).messages, {
      ...runConfigFor(agentConfig, conditions),
      systemPrompt: guard.systemPrompt,
      signal,
      ...(budget && { budget }),
      sessionId: session.header.id,
      runId: toRunId(session),
      now,
      remind: createKnowledgeReminder(session.log, { interval, tools }),
      record: (message) => this.keep(message),
      takeSteering: () => steering.take(),
      takeNotes: this.parts.takeNotes,
      prepareContext: (request) => guard.prepare(request),
    });
    void loop.consume((event) => this.forward(event));
  }

  /** Ends the run before it has begun: the prompt is neither saved nor sent. */
  refuse(reason: Error): void {
    const error = { name: reason.name, message: reason.message };
    this.forward({ type: "agent_start" });
    this.forward({ type: "error", error, fatal: true });
    this.forward({ type: "agent_end", messages: [], stopReason: "error", error });
  }

  private forward(event: AgentEvent): void {
    const { session, pendingNotices } = this.parts;
    // The next request need not wait for the disk; the end of the run does.
    if (event.type === "turn_end") session.writer?.syncInBackground();
    if (event.type !== "agent_end") this.push(event);
    else this.end(event);
    const saved = toKnowledgeEvent(event);
    if (saved) this.push(saved);
    if (event.type === "agent_start") for (const notice of pendingNotices.splice(0)) this.push(notice);
  }

  /** A message that came too late for this run is kept: the next one starts with it. */
  private end(event: RunEnd): void {
    const { guard, onEnd, session, steering } = this.parts;
    const late = steering.take();
    for (const { message } of late) this.keep(message);
    for (const steered of late) this.push(toSteeringEvent(steered));
    // Written and synced: the disk has everything before the end of the run is reported.
    flushSession(session);
    guard.endRun();
    onEnd();
    this.push({ ...event, messages: [...event.messages, ...late.map(({ message }) => message)] });
  }

  /** The pieces of a reply were redacted at their source: a secret across pieces would not be recognized here. */
  private push(event: AgentEvent): void {
    const { redactor } = this.parts.agentConfig;
    this.stream.push(redactor && event.type !== "message_delta" ? redactor.redact(event) : event);
  }

  private keep(message: Message): void {
    this.parts.session.log.append((location) => ({ type: "message", ...location, message }));
  }
}

/**
 * Unique in the session: each run starts with an added entry, so the number of entries is unique among the runs of one
 * opening; `openingId` distinguishes openings in other processes. For a new session the id is the same in a replay.
 */
function toRunId({ log, openingId }: LiveSession): string {
  const count = String(log.entries.length);
  return openingId === undefined ? count : `${openingId}-${count}`;
}

/** A change of model is part of the conversation: it may continue with another model. */
function recordModelChange(log: SessionLog, { id, provider }: Model): void {
  const lastModelId = findLastModelId(log.path());
  if (lastModelId === undefined || lastModelId === id) return;
  log.append((location) => ({ type: "model_change", ...location, provider, modelId: id }));
}

const SAVED = /^Knowledge saved: \[[a-z]+\] /;

/** The event after a call that has saved knowledge; undefined for any other event. */
export function toKnowledgeEvent(event: AgentEvent): AgentEvent | undefined {
  if (event.type !== "tool_end" || event.toolName !== "add_knowledge" || event.isError) return undefined;
  const knowledgeId = event.metadata?.knowledgeId;
  if (typeof knowledgeId !== "string") return undefined;
  const content = event.metadata?.knowledgeContent;
  return {
    type: "knowledge_saved",
    knowledgeId,
    content: typeof content === "string" ? content : event.output.replace(SAVED, ""),
  };
}

const TOOL = "add_knowledge";

const REMINDER_END =
  "If you have learned something that later sessions in this project should know, record it now with " +
  `${TOOL}; otherwise continue.]`;

/**
 * Reminds the model to record knowledge once it has made `interval` replies without recording any and without a
 * reminder, including those of earlier runs. Undefined without an interval, or if nothing can be recorded.
 */
function createKnowledgeReminder(
  log: SessionLog,
  { interval, tools }: { interval: number | undefined; tools: AgentLoopConfig["tools"] },
): (() => string | undefined) | undefined {
  const tool = tools.find(({ name }) => name === TOOL);
  if (interval === undefined || tool === undefined) return undefined;
  return () => {
    if (tool.isRefused?.()) return undefined;
    if (countQuietReplies(log, interval) < interval) return undefined;
    const turns = interval === 1 ? "The last turn has" : `The last ${interval} turns have`;
    return `[Reminder: ${turns} recorded no knowledge. ${REMINDER_END}`;
  };
}

/** The number of newest replies without a call of the tool and without a reminder, up to `most`. */
function countQuietReplies(log: SessionLog, most: number): number {
  const path = log.path();
  let replies = 0;
  for (let position = path.length - 1; position >= 0 && replies < most; position--) {
    const entry = path[position];
    if (entry?.type !== "message") continue;
    const { message } = entry;
    if (message.role === "tool_result" && message.output.endsWith(REMINDER_END)) break;
    if (message.role !== "assistant") continue;
    if (toolCallsOf(message).some(({ name }) => name === TOOL)) break;
    replies++;
  }
  return replies;
}

/** Messages the user sends during a run; each waits until it joins before a model request. */
export class SteeringQueue {
  private waiting: SteeredMessage[] = [];
  private added = 0;

  /**
   * Returns the id of the message's `steering` event. @param isNote true for a note about something that has
   * already happened: it cannot be withdrawn.
   */
  add(content: UserMessage["content"], { isNote = false } = {}): string {
    this.added += 1;
    const id = `steering-${this.added}`;
    const message: UserMessage = { role: "user", content, timestamp: now() };
    this.waiting.push({ message, id, ...(isNote && { isNote }) });
    return id;
  }

  /** Removes and returns all waiting messages, oldest first; they have joined then. */
  take(): SteeredMessage[] {
    return this.waiting.splice(0);
  }

  /** Withdraws the last message, or all of them; returns the user's texts, oldest first. */
  takeBack(which: "last" | "all"): string[] {
    const prompts = this.waiting.filter(({ isNote }) => !isNote);
    const taken = new Set(prompts.slice(which === "last" ? -1 : 0));
    this.waiting = this.waiting.filter((each) => !taken.has(each));
    return [...taken].map(({ message }) => promptText(message));
  }
}
