import { assertNever, type ExtensionRenderer } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../../text/terminal-text.ts";
import { fitLine, visibleWidth } from "../screen/screen-text.ts";
import { expandTabs, firstLines, formatDuration, lastLines, moreLines, wrapIndented } from "../text.ts";
import type { Style, Theme } from "../theme.ts";
import type { ToolCallView } from "../view.ts";

const INDENT = "  ";
const MAX_LIVE_LINES = 5;
const MAX_ERROR_ROWS = 6;
// Nobody notices a shorter wait.
const MIN_SHOWN_MS = 1_000;

/** A call in the frame that all tools share. */
export function renderCall(call: SafeCall, renderer: ToolRenderer, context: ToolRenderContext): string[] {
  const { width, theme } = context;
  const head = `${markOf(call.state, theme)} ${theme.bold(call.name)}`;
  const all = describeFacts(call, renderer, context);
  const facts = renderer.progress ? fitFacts(all, width - visibleWidth(head)) : all;
  const inner: RendererContext = {
    ...context,
    width: Math.max(1, width - INDENT.length),
    titleColumns: Math.max(0, width - visibleWidth(head) - visibleWidth(facts) - 1),
  };
  const title = fitLine(toOneLine(renderer.title(call, inner)), inner.titleColumns);
  const shownFacts = call.state === "failed" ? theme.error(facts) : theme.dim(facts);
  const below = [...(renderer.question?.(call, inner) ?? []), ...renderOutcome(call, renderer, inner)];
  return [
    fitLine(`${head}${title === "" ? "" : ` ${title}`}${shownFacts}`, width),
    ...below.map((line) => (line === "" ? "" : INDENT + fitLine(line, inner.width))),
  ];
}

// Enough of a title to tell calls apart.
const MIN_TITLE_COLUMNS = 12;

/** The facts are shortened where they would leave no room for the title. */
function fitFacts(facts: string, columns: number): string {
  return fitLine(facts, Math.max(MIN_TITLE_COLUMNS, columns - MIN_TITLE_COLUMNS - 1));
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

/** Its outcome and duration, after the title. */
function describeFacts(call: SafeCall, renderer: ToolRenderer, { now }: ToolRenderContext): string {
  const progress = call.state === "running" ? renderer.progress?.(call) : undefined;
  const summary = STATE_TEXTS[call.state] ?? progress ?? renderer.summary?.(call);
  const failure = call.isInterrupted ? "interrupted" : "failed";
  const what = summary ?? (call.state === "failed" ? failure : undefined);
  const durationMs = call.durationMs(now);
  // Changing tenths of a second do not help.
  const shownMs = call.state === "running" ? Math.floor(durationMs / 1_000) * 1_000 : durationMs;
  const facts = [
    ...(what === undefined ? [] : [what]),
    ...(shownMs >= MIN_SHOWN_MS ? [formatDuration(shownMs)] : []),
  ];
  return facts.map((fact) => ` · ${toOneLine(fact)}`).join("");
}

const STATE_TEXTS: Partial<Record<CallState, string>> = { rejected: "rejected", skipped: "not run" };

function renderOutcome(call: SafeCall, renderer: ToolRenderer, context: RendererContext): string[] {
  const { theme } = context;
  switch (call.state) {
    case "running":
      if (renderer.progress) return [];
      return lastLines(nonEmptyLines(call.partial), MAX_LIVE_LINES).shown.map(theme.dim);
    case "done":
      return renderer.answer?.(call, context) ?? [];
    case "failed":
      return renderer.showsFailure?.(call)
        ? (renderer.answer?.(call, context) ?? [])
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

/** The state of a call; see `ToolCallOutcome`. An interrupted call has failed. */
type CallState = "running" | "done" | "failed" | "rejected" | "skipped";

const MAX_NAME_COLUMNS = 40;
// Much more than is shown; a tool may report megabytes many times a second.
const MAX_PARTIAL_CHARS = 16_000;

/**
 * A tool call for its renderers. All its texts are made safe for the terminal here and nowhere else, and have
 * spaces instead of tabs.
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

  /** True for a call that failed because it was stopped. */
  get isInterrupted(): boolean {
    return this.call.result?.outcome === "interrupted";
  }

  /**
   * Its duration in milliseconds without the wait for approval, as saved with it or measured at `now`; 0 if
   * none was saved, for example for a call of less than a second.
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

  /** All arguments as JSON, or whatever the model sent instead. */
  inputText(indent?: number): string {
    const { input } = this.call;
    return toSafeText(typeof input === "string" ? input : JSON.stringify(input, undefined, indent)) ?? "";
  }

  /** A text that an extension makes of the call; undefined if it makes none, or fails. */
  describeBy(describe: ExtensionRenderer["title"]): string | undefined {
    const { input, result } = this.call;
    const isObject = typeof input === "object" && input !== null;
    try {
      return toSafeText(describe?.({ input: isObject ? { ...input } : {}, output: result?.output ?? "" }));
    } catch {
      return undefined; // It is shown like any other call.
    }
  }

  /** The latest output while it runs. */
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

  /** True if the tool has set this flag. */
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
  /** Milliseconds of the clock that the call was started with. */
  now: number;
  /** Paths below it are shown relative to it. */
  cwd?: string | undefined;
  /** How extensions show calls of tools that are not built in, by the tool's name. */
  renderers?: ReadonlyMap<string, ExtensionRenderer> | undefined;
}

/** The input of a tool's renderer: `width` is that of the lines below the title. */
interface RendererContext extends ToolRenderContext {
  /** The width of the title in columns; longer titles are cut. */
  titleColumns: number;
}

/**
 * Renders the calls of one tool. The frame (mark, name, time, live output, errors) is the same for all tools
 * and also enforces the width. All texts come from a `SafeCall`.
 */
export interface ToolRenderer {
  /** The request, shown on one line after the tool's name. */
  title(call: SafeCall, context: RendererContext): string;
  /** Further lines about the request, below the title. */
  question?(call: SafeCall, context: RendererContext): string[];
  /** What it is doing, on one line while it runs; without this function the end of its live output is shown below. */
  progress?(call: SafeCall): string | undefined;
  /** The outcome in a few words, once the call is done or has failed. */
  summary?(call: SafeCall): string | undefined;
  /** The result, below; for a finished call, and for a failed one if `showsFailure`. */
  answer?(call: SafeCall, context: RendererContext): string[];
  /** True if `answer` shows the failure better than the first lines of the error. */
  showsFailure?(call: SafeCall): boolean;
  /** Everything for the pager; default: the arguments and the output. */
  fullText?(call: SafeCall): string;
}

/** Where a block is shown: columns, styles, the time, and the working directory. */
export type BlockContext = ToolRenderContext;
