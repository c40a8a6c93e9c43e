import { visibleWidth } from "../screen/screen-text.ts";
import { firstLines, lastLines, moreLines } from "../text/cut-lines.ts";
import { formatCount } from "../text/format-amount.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolLook } from "./tool-look.ts";

const MAX_COMMAND_LINES = 12;
const MAX_OUTPUT_LINES = 10;
const PROMPT = "$ ";

/** `bash npm test · exit code 1` and the end of what it printed. A longer command stands whole below the title. */
export const bash: ToolLook = {
  title: (call, { titleColumns }) =>
    isShort(call, titleColumns) ? commandOf(call) : (call.text("description") ?? ""),
  question(call, { width, theme, titleColumns }) {
    if (isShort(call, titleColumns)) return [];
    const rows = commandOf(call)
      .split("\n")
      .flatMap((line) => wrapIndented(line, Math.max(1, width - PROMPT.length)));
    const { shown, hidden } = firstLines(rows, MAX_COMMAND_LINES);
    const more = moreLines(hidden).map(theme.dim);
    return [...shown, ...more].map((row, index) => (index === 0 ? theme.accent(PROMPT) : "  ") + row);
  },
  summary(call) {
    const signal = call.metadataText("signal");
    if (signal !== undefined) return `ended by ${signal}`;
    const exitCode = call.metadataNumber("exitCode");
    return exitCode === undefined || exitCode === 0 ? undefined : `exit code ${exitCode}`;
  },
  answer(call, { theme }) {
    // The summary has the exit code already.
    const isFailed = call.state === "failed";
    const output = isFailed ? withoutExitCode(call) : call.output.trimEnd();
    if (output === "") return [];
    const { shown, hidden } = lastLines(output.split("\n"), MAX_OUTPUT_LINES);
    const above = hidden === 0 ? [] : [theme.dim(`… ${formatCount(hidden, "line")} above`)];
    // What went wrong is to be read.
    return [...above, ...(isFailed ? shown : shown.map(theme.dim))];
  },
  // Without a time it never ran, and the error is the tool's own.
  showsFailure: (call) => ["durationMs", "exitCode"].some((name) => call.metadataNumber(name) !== undefined),
  fullText: (call) =>
    `${PROMPT}${call.text("command") ?? call.inputText()}\n\n${call.output || call.partial}`,
};

function withoutExitCode(call: SafeCall): string {
  const output = call.output.trimEnd();
  const note = `[exit code ${call.metadataNumber("exitCode")}]`;
  return output === note || output.endsWith(`\n${note}`) ? output.slice(0, -note.length).trimEnd() : output;
}

function commandOf(call: SafeCall): string {
  return (call.text("command") ?? call.inputText()).trim();
}

function isShort(call: SafeCall, columns: number): boolean {
  const command = commandOf(call);
  return !command.includes("\n") && visibleWidth(command) <= columns;
}
