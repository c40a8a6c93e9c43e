import { sanitizeTerminalText, toSingleLine } from "../../terminal-text.ts";
import type { ToolCallView } from "../blocks.ts";
import { expandTabs } from "../text/expand-tabs.ts";

/** How a call stands; see `ToolCallOutcome`. What was interrupted has failed. */
export type CallState = "running" | "done" | "failed" | "rejected" | "skipped";

const MAX_NAME_COLUMNS = 40;
// Much more than is shown; a tool may report megabytes many times a second.
const MAX_PARTIAL_CHARS = 16_000;

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
    const { outcome } = result;
    return outcome === "rejected" || outcome === "skipped" ? outcome : "failed";
  }

  /** True for one that failed because it was stopped. */
  get isInterrupted(): boolean {
    return this.call.result?.outcome === "interrupted";
  }

  /**
   * Milliseconds that it took without the wait for consent, as they are saved with it, or that it has taken by `now`; 0
   * where nothing was saved, as of a call that took less than a second.
   */
  durationMs(now: number): number {
    const measured = this.metadataNumber("durationMs");
    if (measured !== undefined) return measured;
    return this.call.result ? 0 : now - this.call.startedAt;
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

  /** True where the tool has said so. */
  hasMark(name: string): boolean {
    return this.call.result?.metadata[name] === true;
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
