import type { AgentEvent } from "../../agent/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { EndedCommand } from "./ledger.ts";

/** An event, and when it happened in milliseconds since the epoch. */
export interface TimedEvent {
  event: AgentEvent;
  atMs: number;
}

// What a turn does is read when it matters; a longer one keeps its latest part.
const MAX_EVENTS = 5_000;
// A test runner reports at its end. Of earlier commands only the exit code remains.
const MAX_OUTPUTS = 100;
const MAX_OUTPUT_CHARS = 8_000;

type CallEnd = AgentEvent & { type: "tool_end" };

/** Keeps the events that say what a turn did, sub-agents included, until they are read. */
export class TurnEvents {
  private events: TimedEvent[] = [];
  /** The ends of commands whose output is kept, oldest first. */
  private withOutput: CallEnd[] = [];

  add(event: AgentEvent): void {
    const inner = event.type === "agent_event" ? event.event : event;
    if (!/^(?:agent_start|tool_start|tool_update|tool_end|job_update)$/.test(inner.type)) return;
    // Only a changed input of a running call matters.
    if (inner.type === "tool_update" && inner.input === undefined) return;
    // A sub-agent's turns are part of the turn that started it.
    if (event.type === "agent_event" && inner.type === "agent_start") return;
    this.events.push({ event: inner.type === "tool_end" ? this.shorten(inner) : inner, atMs: now() });
    if (this.events.length > MAX_EVENTS) this.events.shift();
  }

  /** A turn of a thousand calls would keep all that it has read. */
  private shorten(event: CallEnd): CallEnd {
    if (event.toolName !== "bash" || event.output === "") return { ...event, output: "" };
    const short = { ...event, output: copyEnd(event.output) };
    this.withOutput.push(short);
    const oldest = this.withOutput.length > MAX_OUTPUTS ? this.withOutput.shift() : undefined;
    if (oldest) oldest.output = "";
    return short;
  }

  get hasCalls(): boolean {
    return this.events.some(({ event }) => event.type === "tool_end" || event.type === "job_update");
  }

  /** In order; each one once. */
  take(): TimedEvent[] {
    this.withOutput = [];
    return this.events.splice(0);
  }
}

/** A copy, because a part of a text keeps all of it in memory. */
function copyEnd(output: string): string {
  return output.length <= MAX_OUTPUT_CHARS ? output : Buffer.from(output.slice(-MAX_OUTPUT_CHARS)).toString();
}

/** Receives what happened in a turn, in order. */
export interface TurnObserver {
  beginTurn(atMs: number): void;
  /** A call has succeeded; `changed` are the files (absolute) that it says it has changed, if it says so. */
  noteChanges(
    call: { toolName: string; input: Record<string, unknown>; changed: readonly string[] | undefined },
    atMs: number,
  ): void;
  noteCommand(ended: EndedCommand): Promise<void>;
}

/** Reads the events of a turn for an observer. */
export class TurnReader {
  /** The arguments of the calls that have begun. */
  private readonly inputs = new Map<string, Record<string, unknown>>();

  constructor(private readonly observer: TurnObserver) {}

  async read({ event, atMs }: TimedEvent): Promise<void> {
    switch (event.type) {
      case "agent_start":
        this.observer.beginTurn(atMs);
        break;
      case "tool_start":
      case "tool_update":
        if (typeof event.input === "object" && event.input !== null)
          this.inputs.set(event.toolCallId, { ...event.input });
        break;
      case "tool_end":
        await this.readCall(event, atMs);
        this.inputs.delete(event.toolCallId);
        break;
      case "job_update":
        if (event.state === "ended")
          await this.observer.noteCommand({
            command: event.command,
            exitCode: event.exitCode ?? null,
            output: "",
            endedAtMs: atMs,
          });
        break;
      default:
    }
  }

  private async readCall(event: CallEnd, atMs: number): Promise<void> {
    const { toolName, toolCallId, metadata = {}, isError, output } = event;
    const input = event.input ?? this.inputs.get(toolCallId) ?? {};
    if (!isError && metadata.unchanged !== true)
      this.observer.noteChanges({ toolName, input, changed: changedFilesOf(metadata) }, atMs);
    if (toolName !== "bash" || typeof input.command !== "string" || metadata.jobId !== undefined) return;
    const exitCode = typeof metadata.exitCode === "number" ? metadata.exitCode : null;
    // A call that was refused, or could not be started, ran nothing.
    if (exitCode === null && metadata.durationMs === undefined) return;
    await this.observer.noteCommand({ command: input.command, exitCode, output, endedAtMs: atMs });
  }
}

/** Undefined for a call whose arguments name them. */
function changedFilesOf({ changedFiles }: Record<string, unknown>): string[] | undefined {
  return Array.isArray(changedFiles) ? changedFiles.filter((path) => typeof path === "string") : undefined;
}
