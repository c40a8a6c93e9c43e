import { assertNever } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../../text/terminal-text.ts";
import { fitLine, visibleWidth } from "../screen/screen-text.ts";
import { expandTabs, firstLines, formatDuration, lastLines, moreLines, wrapIndented } from "../text.ts";
import type { Style, Theme } from "../theme.ts";
import type { ToolCallView } from "../view.ts";

const INDENT = "  ";
const MAX_LIVE_LINES = 5;
const MAX_ERROR_ROWS = 6;
// Shorter than that nobody waits.
const MIN_SHOWN_MS = 1_000;

/** A call in the frame that all tools share. */
export function renderCall(call: SafeCall, look: ToolRenderer, context: ToolRenderContext): string[] {
  const { width, theme } = context;
  const head = `${markOf(call.state, theme)} ${theme.bold(call.name)}`;
  const facts = describeFacts(call, look, context);
  const inner: LookContext = {
    ...context,
    width: Math.max(1, width - INDENT.length),
    titleColumns: Math.max(0, width - visibleWidth(head) - visibleWidth(facts) - 1),
  };
  const title = fitLine(toOneLine(look.title(call, inner)), inner.titleColumns);
  const shownFacts = call.state === "failed" ? theme.error(facts) : theme.dim(facts);
  const below = [...(look.question?.(call, inner) ?? []), ...renderOutcome(call, look, inner)];
  return [
    fitLine(`${head}${title === "" ? "" : ` ${title}`}${shownFacts}`, width),
    ...below.map((line) => (line === "" ? "" : INDENT + fitLine(line, inner.width))),
  ];
}

function markOf(state: CallState, theme: Theme): string {
  switch (state) {
    case "running":
      return theme.accent("•");
    case "done":
      return theme.success("✓");
    case "failed":
    case "rejected":
    case "skipped":
      return theme.error("✗");
    default:
      return assertNever(state);
  }
}

/** What came of it and how long it took, behind the title. */
function describeFacts(call: SafeCall, look: ToolRenderer, { now }: ToolRenderContext): string {
  const summary = STATE_TEXTS[call.state] ?? look.summary?.(call);
  const failure = call.isInterrupted ? "interrupted" : "failed";
  const what = summary ?? (call.state === "failed" ? failure : undefined);
  const durationMs = call.durationMs(now);
  // Tenths that run are no help.
  const shownMs = call.state === "running" ? Math.floor(durationMs / 1_000) * 1_000 : durationMs;
  const facts = [
    ...(what === undefined ? [] : [what]),
    ...(shownMs >= MIN_SHOWN_MS ? [formatDuration(shownMs)] : []),
  ];
  return facts.map((fact) => ` · ${toOneLine(fact)}`).join("");
}

const STATE_TEXTS: Partial<Record<CallState, string>> = { rejected: "rejected", skipped: "not run" };

function renderOutcome(call: SafeCall, look: ToolRenderer, context: LookContext): string[] {
  const { theme } = context;
  switch (call.state) {
    case "running":
      return lastLines(nonEmptyLines(call.partial), MAX_LIVE_LINES).shown.map(theme.dim);
    case "done":
      return look.answer?.(call, context) ?? [];
    case "failed":
      return look.showsFailure?.(call)
        ? (look.answer?.(call, context) ?? [])
        : renderError(call, context, theme.error);
    case "rejected":
    case "skipped":
      return renderError(call, context, theme.dim);
    default:
      return assertNever(call.state);
  }
}

function renderError(call: SafeCall, { width }: ToolRenderContext, paint: Style): string[] {
  const rows = nonEmptyLines(call.output).flatMap((line) => wrapIndented(line, width));
  const { shown, hidden } = firstLines(rows, MAX_ERROR_ROWS);
  return [...shown, ...moreLines(hidden)].map(paint);
}

function nonEmptyLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function toOneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}

/** How a call stands; see `ToolCallOutcome`. What was interrupted has failed. */
type CallState = "running" | "done" | "failed" | "rejected" | "skipped";

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

/** Where a call is shown. */
export interface ToolRenderContext {
  width: number;
  theme: Theme;
  /** Milliseconds, of the clock that the call was started by. */
  now: number;
  /** Paths below it are shown without it. */
  cwd?: string | undefined;
}

/** What a tool's look is given: `width` is that of the lines below the title. */
interface LookContext extends ToolRenderContext {
  /** Columns for the title; a longer one is cut. */
  titleColumns: number;
}

/**
 * How the calls of one tool look. The frame around it (the mark, the name, the time, live output, errors) is the same for
 * all; widths are cared for there too. Every text comes from a `SafeCall`.
 */
export interface ToolRenderer {
  /** What was asked; it is shown on one line behind the tool's name. */
  title(call: SafeCall, context: LookContext): string;
  /** More of what was asked, below the title. */
  question?(call: SafeCall, context: LookContext): string[];
  /** What came of it in a few words, once it is done or has failed. */
  summary?(call: SafeCall): string | undefined;
  /** What came of it, below; for a call that is done, and for a failed one where `showsFailure`. */
  answer?(call: SafeCall, context: LookContext): string[];
  /** True where `answer` shows what went wrong better than the first lines of the error. */
  showsFailure?(call: SafeCall): boolean;
  /** Everything for the pager; the arguments and the output when left out. */
  fullText?(call: SafeCall): string;
}

/** Where a block is shown: columns, looks, the time, and the working directory. */
export type BlockContext = ToolRenderContext;
