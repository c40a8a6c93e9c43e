import { createAgentStream } from "../agent/agent-stream.ts";
import { agentLoop } from "../agent/loop.ts";
import { toSteeringEvent } from "../agent/steering-event.ts";
import type { AgentEvent, AgentLoopConfig } from "../agent/types.ts";
import { now } from "../infrastructure/clock.ts";
import type { Message, UserMessage } from "../types.ts";
import type { ContextGuard } from "./context/context-guard.ts";
import { runConfigFor } from "./context/run-conditions.ts";
import { buildPathContext } from "./context-builder.ts";
import { toKnowledgeEvent } from "./knowledge-event.ts";
import { noteModel } from "./note-model.ts";
import { flushSession, type OpenSession } from "./open-session.ts";
import type { SteeringQueue } from "./steering-queue.ts";

type RunEnd = Extract<AgentEvent, { type: "agent_end" }>;

/** What a run works on; all of it is the session's, and stays when the run has ended. */
export interface SessionRunParts {
  session: OpenSession;
  guard: ContextGuard;
  agentConfig: AgentLoopConfig;
  steering: SteeringQueue;
  /** Notices from before the run, told behind its first event and taken out then. */
  untold: AgentEvent[];
  /** Called when everything is saved, right before `agent_end` is told: from then on there may be another run. */
  onEnd(): void;
}

/** One run of the agent loop in a session: what it finishes is saved, what it does is told. */
export class SessionRun {
  readonly stream = createAgentStream();

  constructor(private readonly parts: SessionRunParts) {}

  /** Saves what the user says, behind a change of the model since the last run. */
  addPrompt(message: UserMessage): void {
    noteModel(this.parts.session.log, this.parts.agentConfig.model);
    this.keep(message);
  }

  /** Lets the agent answer the conversation so far. */
  start(signal: AbortSignal | undefined): void {
    const { agentConfig, guard, session, steering } = this.parts;
    guard.startRun();
    const loop = agentLoop(buildPathContext(session.log.path()).messages, {
      ...runConfigFor(agentConfig),
      systemPrompt: guard.systemPrompt,
      signal,
      sessionId: session.header.id,
      now,
      record: (message) => this.keep(message),
      takeSteering: () => steering.take(),
      prepareContext: (request) => guard.prepare(request),
    });
    void loop.consume((event) => this.forward(event));
  }

  private forward(event: AgentEvent): void {
    const { session, untold } = this.parts;
    // The next request need not wait for the disk; the end of the run does.
    if (event.type === "turn_end") session.writer?.syncBeside();
    if (event.type !== "agent_end") this.stream.push(event);
    else this.end(event);
    const saved = toKnowledgeEvent(event);
    if (saved) this.stream.push(saved);
    if (event.type === "agent_start") for (const notice of untold.splice(0)) this.stream.push(notice);
  }

  /** What was said too late for this run is not lost: the next one begins with it. */
  private end(event: RunEnd): void {
    const { guard, onEnd, session, steering } = this.parts;
    const late = steering.take();
    for (const { message } of late) this.keep(message);
    for (const steered of late) this.stream.push(toSteeringEvent(steered));
    flushSession(session);
    session.writer?.sync();
    guard.endRun();
    onEnd();
    this.stream.push({ ...event, messages: [...event.messages, ...late.map(({ message }) => message)] });
  }

  private keep(message: Message): void {
    this.parts.session.log.append((place) => ({ type: "message", ...place, message }));
  }
}
