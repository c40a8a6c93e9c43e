import { sanitizeTerminalText, toSingleLine } from "../../terminal-text.ts";
import type { ToolCallView } from "../blocks.ts";
import { expandTabs } from "../text/expand-tabs.ts";

/** How a call stands. `skipped`: it never ran, since the run was stopped before. */
export type CallState = "running" | "done" | "failed" | "rejected" | "skipped";

const MAX_NAME_COLUMNS = 40;
// Much more than is shown; a tool may report megabytes many times a second.
const MAX_PARTIAL_CHARS = 16_000;

// The texts of the approval, of its dialog and of the loop: what was decided about a call is told by its output alone.
const REJECTED = /^(?:The user (?:said no|rejected|stopped)|Refused: )/;
const SKIPPED = /^(?:Not run: |Interrupted: the run was stopped before)/;

/**
 * A tool call as its views read it. Every text of it is made safe for the terminal here and nowhere else, and has spaces
 * for its tabs.
 */
export class SafeCall {
  constructor(private readonly call: ToolCallView) {}

  get name(): string {
    return toSingleLine(this.call.toolName, MAX_NAME_COLUMNS);
  }

  get state(): CallState {
    const { result } = this.call;
    if (!result) return "running";
    if (!result.isError) return "done";
    if (REJECTED.test(result.output)) return "rejected";
    return SKIPPED.test(result.output) ? "skipped" : "failed";
  }

  /** Milliseconds that it took, or has taken by `now`. */
  durationMs(now: number): number {
    return (this.call.result?.endedAt ?? now) - this.call.startedAt;
  }

  /** An argument that is a text. */
  text(name: string): string | undefined {
    return toSafeText(argumentOf(this.call.input, name));
  }

  number(name: string): number | undefined {
    return toNumber(argumentOf(this.call.input, name));
  }

  /** All arguments as JSON, or what the model sent in their place. */
  inputText(indent?: number): string {
    const { input } = this.call;
    return toSafeText(typeof input === "string" ? input : JSON.stringify(input, undefined, indent)) ?? "";
  }

  /** The newest output while it runs. */
  get partial(): string {
    return toSafeText(this.call.partial?.slice(-MAX_PARTIAL_CHARS)) ?? "";
  }

  /** The result; empty while it runs. */
  get output(): string {
    return toSafeText(this.call.result?.output) ?? "";
  }

  metadataText(name: string): string | undefined {
    return toSafeText(this.call.result?.metadata[name]);
  }

  metadataNumber(name: string): number | undefined {
    return toNumber(this.call.result?.metadata[name]);
  }
}

function argumentOf(input: unknown, name: string): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  return new Map<string, unknown>(Object.entries(input)).get(name);
}

function toSafeText(value: unknown): string | undefined {
  return typeof value === "string" ? expandTabs(sanitizeTerminalText(value)) : undefined;
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
