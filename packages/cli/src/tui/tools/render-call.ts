import { assertNever } from "@diligent/core/run";
import { fitLine, visibleWidth } from "../screen/screen-text.ts";
import { firstLines, lastLines, moreLines } from "../text/cut-lines.ts";
import { formatDuration } from "../text/format-amount.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import type { Style, Theme } from "../theme.ts";
import type { CallState, SafeCall } from "./safe-call.ts";
import type { LookContext, ToolContext, ToolLook } from "./tool-look.ts";

const INDENT = "  ";
const MAX_LIVE_LINES = 5;
const MAX_ERROR_ROWS = 6;
// Shorter than that nobody waits.
const MIN_SHOWN_MS = 1_000;

/** A call in the frame that all tools share. */
export function renderCall(call: SafeCall, look: ToolLook, context: ToolContext): string[] {
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
function describeFacts(call: SafeCall, look: ToolLook, { now }: ToolContext): string {
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

function renderOutcome(call: SafeCall, look: ToolLook, context: LookContext): string[] {
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

function renderError(call: SafeCall, { width }: ToolContext, paint: Style): string[] {
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
