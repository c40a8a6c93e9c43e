import type { ExtensionRenderer } from "@diligent/core/run";
import { formatTokens } from "../../print/summary.ts";
import { visibleWidth, wrapText } from "../screen/screen-text.ts";
import { firstLines, formatCount, lastLines, moreLines, showPath, wrapIndented } from "../text.ts";
import type { CallBlock, ToolCallView } from "../view.ts";
import { renderDiff } from "./diff.ts";
import { renderCall, SafeCall, type ToolRenderContext, type ToolRenderer } from "./tool-call.ts";

const MAX_ROWS = 6;

/**
 * `add_knowledge pattern: Tests run with bun test · saved`. A longer text is shown below in full, since later
 * sessions will rely on it.
 */
const addKnowledge: ToolRenderer = {
  title: (call, { titleColumns }) => (isShort(call, titleColumns) ? shortTitle(call) : typeOf(call)),
  question(call, { width, theme, titleColumns }) {
    if (isShort(call, titleColumns)) return [];
    const { shown, hidden } = firstLines(wrapText(contentOf(call), width), MAX_ROWS);
    return [...shown, ...moreLines(hidden).map(theme.dim)];
  },
  summary(call) {
    if (call.state !== "done") return undefined;
    return call.metadataText("knownAs") === undefined ? "saved" : "already known";
  },
};

function typeOf(call: SafeCall): string {
  return call.text("type") ?? "?";
}

function contentOf(call: SafeCall): string {
  return (call.text("content") ?? "?").replace(/\s+/g, " ").trim();
}

function shortTitle(call: SafeCall): string {
  return `${typeOf(call)}: ${contentOf(call)}`;
}

function isShort(call: SafeCall, columns: number): boolean {
  return visibleWidth(shortTitle(call)) <= columns;
}

const MAX_COMMAND_LINES = 12;
const MAX_OUTPUT_LINES = 10;
const PROMPT = "$ ";

/**
 * `bash npm test · exit code 1` and the end of its output. A longer command is shown below the title in full.
 */
export const bash: ToolRenderer = {
  title: (call, { titleColumns }) =>
    isShortCommand(call, titleColumns) ? commandOf(call) : (call.text("description") ?? ""),
  question(call, { width, theme, titleColumns }) {
    if (isShortCommand(call, titleColumns)) return [];
    const rows = commandOf(call)
      .split("\n")
      .flatMap((line) => wrapIndented(line, Math.max(1, width - PROMPT.length)));
    const { shown, hidden } = firstLines(rows, MAX_COMMAND_LINES);
    const more = moreLines(hidden).map(theme.dim);
    return [...shown, ...more].map((row, index) => (index === 0 ? theme.accent(PROMPT) : "  ") + row);
  },
  summary(call) {
    const signal = call.metadataText("signal");
    if (signal !== undefined) return `killed by ${signal}`;
    const exitCode = call.metadataNumber("exitCode");
    return exitCode === undefined || exitCode === 0 ? undefined : `exit code ${exitCode}`;
  },
  answer(call, { theme }) {
    // The summary already contains the exit code.
    const isFailed = call.state === "failed";
    const output = isFailed ? withoutExitCode(call) : call.output.trimEnd();
    if (output === "") return [];
    const { shown, hidden } = lastLines(output.split("\n"), MAX_OUTPUT_LINES);
    const above = hidden === 0 ? [] : [theme.dim(`… ${formatCount(hidden, "line")} above`)];
    // The error must be readable.
    return [...above, ...(isFailed ? shown : shown.map(theme.dim))];
  },
  // Without a duration it never ran, so the error is the tool's own.
  showsFailure: (call) => ["durationMs", "exitCode"].some((name) => call.metadataNumber(name) !== undefined),
  fullText: (call) =>
    `${PROMPT}${call.text("command") ?? call.inputText()}\n\n${call.output || call.partial}`,
};

/** `job_output 1 · exit 1` and the end of the new output. */
const job: ToolRenderer = {
  title: (call) => [call.text("id") ?? "?", call.text("filter") ?? ""].join(" ").trim(),
  summary: (call) => /\[(exit \d+|killed|ended by \w+)\]\s*$/.exec(call.output)?.[1],
  answer(call, { theme }) {
    const output = call.output.trimEnd().replace(/\n?\[(?:running|exit \d+|killed|ended by \w+)\]$/, "");
    if (call.state !== "done" || output === "") return [];
    const { shown, hidden } = lastLines(output.split("\n"), MAX_OUTPUT_LINES);
    const above = hidden === 0 ? [] : [`… ${formatCount(hidden, "line")} above`];
    return [...above, ...shown].map(theme.dim);
  },
};

function withoutExitCode(call: SafeCall): string {
  const output = call.output.trimEnd();
  const note = `[exit code ${call.metadataNumber("exitCode")}]`;
  return output === note || output.endsWith(`\n${note}`) ? output.slice(0, -note.length).trimEnd() : output;
}

function commandOf(call: SafeCall): string {
  return (call.text("command") ?? call.inputText()).trim();
}

function isShortCommand(call: SafeCall, columns: number): boolean {
  const command = commandOf(call);
  return !command.includes("\n") && visibleWidth(command) <= columns;
}

/** The number of added and removed lines, `+3 −1`; unknown for a call of an earlier session. */
function summarizeChange(call: SafeCall): string | undefined {
  if (call.state !== "done") return undefined;
  const [added, removed] = [call.metadataNumber("added"), call.metadataNumber("removed")];
  if (added !== undefined && removed !== undefined) return `+${added} −${removed}`;
  return call.hasMark("unchanged") ? "unchanged" : undefined;
}

// Enough for text that a person wrote; nobody reads more of a generated text.
const MAX_ROWS_PER_LINE = 3;

/** The diff of a call: its first lines. */
function renderChange(call: SafeCall, { width, theme }: ToolRenderContext, maxLines: number): string[] {
  const diff = call.metadataText("diff") ?? "";
  return renderDiff(diff, { width, theme, maxLines, maxRowsPerLine: MAX_ROWS_PER_LINE });
}

/** The complete diff, or the request if there is none, and the text for the model. */
function fullChange(call: SafeCall): string {
  return [call.metadataText("diff") ?? call.inputText(2), call.output]
    .filter((text) => text !== "")
    .join("\n");
}

const MAX_DIFF_LINES = 40;
// What a formatter has changed, and the new errors, of which there are at most 20 lines.
const MAX_REPORT_LINES = 24;

/** What formatters and language servers say about the change. */
function renderReport(call: SafeCall, { width, theme }: ToolRenderContext): string[] {
  const report = call.metadataText("report");
  if (report === undefined) return [];
  const rows = report.split("\n").flatMap((line) => wrapIndented(line, width).slice(0, MAX_ROWS_PER_LINE));
  const { shown, hidden } = firstLines(rows, MAX_REPORT_LINES);
  return [...shown, ...moreLines(hidden)].map(theme.dim);
}

/** `edit src/a.ts · +3 −1`, the diff, and what was found in the changed file. */
export const edit: ToolRenderer = {
  title: (call, context) => namedPath(call, "file_path", context),
  summary: summarizeChange,
  answer: (call, context) => [...renderChange(call, context, MAX_DIFF_LINES), ...renderReport(call, context)],
  fullText: fullChange,
};

/** `apply_patch src/a.ts, b.ts · +3 −1` and the diff of all files. */
const applyPatch: ToolRenderer = {
  ...edit,
  title(call, { cwd }) {
    const patch = call.text("patch") ?? "";
    const named = patch.matchAll(/^\*\*\* (?:Add|Delete|Update) File: (.+)$/gm);
    return [...named].map(([, path = ""]) => showPath(path.trim(), cwd)).join(", ") || "?";
  },
};

/** `lsp rename total → sum, src/a.ts · +3 −3` and the diff of all files, or the answer to a question. */
const lsp: ToolRenderer = {
  ...edit,
  title(call, { cwd }) {
    const [action = "?", name, newName, path] = ["action", "query", "new_name", "file_path"].map(
      (argument) => call.text(argument) || undefined,
    );
    const what = [action, name, ...(action === "rename" && newName ? [`→ ${newName}`] : [])];
    const where = path === undefined ? "" : `${name === undefined ? " " : ", "}${showPath(path, cwd)}`;
    return what.filter((word) => word !== undefined).join(" ") + where;
  },
  answer: (call, context) =>
    (call.metadataText("diff") === undefined ? generic : edit).answer?.(call, context) ?? [],
};

/** `todo 2 of 5 done`; the list itself is above the prompt. */
const todo: ToolRenderer = {
  title(call) {
    const items = call.output.match(/^\[[ >x]\] /gm) ?? [];
    if (call.state !== "done" || items.length === 0) return "";
    return `${items.filter((mark) => mark === "[x] ").length} of ${items.length} done`;
  },
};

const MAX_HITS = 5;
const BETWEEN_NAMES = "  ";

/** The number of search results: `12 files`, `nothing found`. */
function summarizeFound(call: SafeCall, noun: string, plural?: string): string | undefined {
  const count = call.metadataNumber("count");
  if (call.state !== "done" || count === undefined) return undefined;
  return count === 0 ? "no matches" : formatCount(count, noun, plural);
}

/** The first search results, and how many more there are. */
function listFound(call: SafeCall, { theme }: ToolRenderContext): string[] {
  const { count, hits } = readFound(call);
  const { shown } = firstLines(hits, MAX_HITS);
  return [...shown, ...describeMore(count - shown.length)].map(theme.dim);
}

/** The first names found, on one row, and how many more there are. */
function listNames(call: SafeCall, { width, theme }: ToolRenderContext): string[] {
  const { count, hits } = readFound(call);
  const row = (names: readonly string[]) =>
    [...names, ...describeMore(count - names.length)].join(BETWEEN_NAMES);
  // No more names are measured than could be shown.
  let names = hits.slice(0, width);
  while (names.length > 1 && visibleWidth(row(names)) > width) names = names.slice(0, -1);
  return names.length === 0 ? [] : [theme.dim(row(names))];
}

function readFound(call: SafeCall): { count: number; hits: string[] } {
  const count = call.metadataNumber("count") ?? 0;
  if (count === 0) return { count, hits: [] };
  const lines = call.output.trimEnd().split("\n");
  // The output ends with notes of the tool, for example that it found more than it shows.
  const hits = lines.slice(0, lines.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1);
  return { count, hits: hits.filter((line) => line !== "") };
}

function describeMore(count: number): string[] {
  return count > 0 ? [`… ${count.toLocaleString("en")} more`] : [];
}

/** `pattern in src in *.ts`. */
function describeSearch(call: SafeCall): string {
  const type = call.text("type");
  const places = [call.text("path"), call.text("glob"), type && `${type} files`];
  return [call.text("pattern") ?? "?", ...places.flatMap((place) => (place ? [`in ${place}`] : []))].join(
    " ",
  );
}

/** `glob src/**\/*.ts · 12 files` and the first of them. */
const glob: ToolRenderer = {
  title: describeSearch,
  summary: (call) => summarizeFound(call, "file"),
  answer: listNames,
};

/** `grep readToken in src · 12 files` and the first of them. */
const grep: ToolRenderer = {
  title: describeSearch,
  summary: (call) => summarizeFound(call, findsLines(call) ? "line" : "file"),
  answer: (call, context) => (findsLines(call) ? listFound : listNames)(call, context),
};

function findsLines(call: SafeCall): boolean {
  return call.text("output_mode") === "content";
}

/** `ls src · 12 entries` and the first of them. */
const ls: ToolRenderer = {
  title: (call, context) => (call.text("path") ? namedPath(call, "path", context) : "."),
  summary: (call) =>
    call.metadataNumber("count") === 0 ? "empty" : summarizeFound(call, "entry", "entries"),
  answer: listNames,
};

/** `read src/a.ts:10-40 · 31 lines`; the text itself is only in the pager. */
export const read: ToolRenderer = {
  title: (call, context) => namedPath(call, "file_path", context) + describeRange(call),
  summary(call) {
    if (call.state !== "done") return undefined;
    const [width, height] = [call.metadataNumber("width"), call.metadataNumber("height")];
    if (width !== undefined && height !== undefined) return `image, ${width} x ${height}`;
    const [first, last] = [call.metadataNumber("firstLine"), call.metadataNumber("lastLine")];
    if (first === undefined || last === undefined) return undefined;
    return last === 0 ? "empty" : formatCount(last - first + 1, "line");
  },
};

/** The requested lines, or those that were read if known; nothing for a whole file. */
function describeRange(call: SafeCall): string {
  const [offset, limit] = [call.number("offset"), call.number("limit")];
  if (offset === undefined && limit === undefined) return "";
  const first = call.metadataNumber("firstLine") ?? Math.max(1, offset ?? 1);
  const last = call.metadataNumber("lastLine") ?? (limit === undefined ? undefined : first + limit - 1);
  return last === 0 ? "" : `:${first}-${last ?? ""}`;
}

/** `web_fetch https://example.com/ · The title, 12,000 characters`; the text itself is only in the pager. */
const webFetch: ToolRenderer = {
  title: (call) => call.text("url") ?? "?",
  summary(call) {
    const characters = call.metadataNumber("characters");
    if (call.state !== "done" || characters === undefined) return undefined;
    const title = call.metadataText("title");
    return [...(title === undefined ? [] : [title]), formatCount(characters, "character")].join(", ");
  },
};

const MAX_NEW_LINES = 12;

/** `write src/a.ts · new, 31 lines` and its beginning; like an edit if the file existed. */
export const write: ToolRenderer = {
  ...edit,
  summary: (call) => (isNewFile(call) ? summarizeNew(call) : edit.summary?.(call)),
  answer: (call, context) =>
    isNewFile(call)
      ? [...renderChange(call, context, MAX_NEW_LINES), ...renderReport(call, context)]
      : (edit.answer?.(call, context) ?? []),
};

function summarizeNew(call: SafeCall): string {
  const lines = call.metadataNumber("added");
  return lines === undefined ? "new" : `new, ${formatCount(lines, "line")}`;
}

function isNewFile(call: SafeCall): boolean {
  return call.state === "done" && call.hasMark("created");
}

/** `task explore: Find the parser · grep parse · 12k tokens · $0.04 · 34 s`, then the first lines of the report. */
const task: ToolRenderer = {
  title: (call) => [call.text("agent") ?? "general", call.text("description") ?? "?"].join(": "),
  progress: (call) => call.partial,
  summary(call) {
    const [tokens, cost] = [call.metadataNumber("tokens"), call.metadataNumber("cost")];
    if (call.state !== "done" || tokens === undefined) return undefined;
    return [`${formatTokens(tokens)} tokens`, ...(cost === undefined ? [] : [`$${cost.toFixed(2)}`])].join(
      " · ",
    );
  },
  answer(call, { theme }) {
    const [, ...lines] = call.output.trimEnd().split("\n");
    const shown = firstLines(
      lines.filter((line) => line.trim() !== "" && !/^Its (?:report|last message):$/.test(line)),
      MAX_LINES,
    );
    return [...shown.shown, ...moreLines(shown.hidden)].map(theme.dim);
  },
};

/** The renderer of each tool; all other tools share one. */
const RENDERERS: ReadonlyMap<string, ToolRenderer> = new Map(
  Object.entries({
    ...{ add_knowledge: addKnowledge, bash, edit, glob, grep, ls, read, write },
    ...{ apply_patch: applyPatch, lsp, todo, task, job_output: job, job_kill: job, web_fetch: webFetch },
  }),
);

/** A call as lines of at most `width` columns: the request, and its output or outcome, shortened. */
export function renderCallBlock(block: CallBlock, context: ToolRenderContext): string[] {
  return renderCall(new SafeCall(block.call), rendererOf(block, context), context);
}

/** The same for a tool call. */
export function renderToolCall(call: ToolCallView, context: ToolRenderContext): string[] {
  return renderCallBlock({ type: "tool", call }, context);
}

/** Everything about a call, in full, as plain text that is safe for a terminal: for the pager. */
export function fullBlockText(block: CallBlock): string {
  const safe = new SafeCall(block.call);
  const text =
    rendererOf(block).fullText?.(safe) ?? [safe.inputText(2), "", safe.output || safe.partial].join("\n");
  return `${safe.name}\n\n${text.trimEnd()}\n`;
}

/** The same for a tool call. */
export function fullText(call: ToolCallView): string {
  return fullBlockText({ type: "tool", call });
}

function rendererOf(
  block: CallBlock,
  { renderers }: Pick<ToolRenderContext, "renderers"> = {},
): ToolRenderer {
  if (block.type === "shell") {
    const isPlain = block.isSharedWithModel || block.call.toolName === "/try";
    return isPlain ? sharedShell : privateShell;
  }
  const { toolName } = block.call;
  const added = renderers?.get(toolName);
  return RENDERERS.get(toolName) ?? (added ? toRenderer(added) : generic);
}

const MAX_LINES = 5;
// The arguments that identify a call best, the most important first.
const MAIN_ARGUMENTS = ["command", "file_path", "path", "pattern", "query", "url", "name", "content"];

/** Any other tool: its most important argument, or all of them, and the first lines of its result. */
const generic: ToolRenderer = {
  title(call) {
    const mainArgument = MAIN_ARGUMENTS.map((name) => call.text(name)).find(
      (text) => text !== undefined && text !== "",
    );
    const input = mainArgument ?? call.inputText();
    return input === "{}" ? "" : input;
  },
  answer(call, { theme }) {
    const output = call.output.trim();
    if (output === "") return [];
    const { shown, hidden } = firstLines(output.split("\n"), MAX_LINES);
    return [...shown, ...moreLines(hidden)].map(theme.dim);
  },
};

/** An extension says what the lines show; the frame, the result and errors are those of any other tool. */
function toRenderer({ title, summary }: ExtensionRenderer): ToolRenderer {
  return {
    ...generic,
    title: (call, context) => call.describeBy(title) ?? generic.title(call, context),
    summary: (call) => (call.state === "done" ? call.describeBy(summary) : undefined),
  };
}

/** The path of a call, as short as possible relative to the working directory; `?` if it has none. */
function namedPath(call: SafeCall, name: string, { cwd }: Pick<ToolRenderContext, "cwd">): string {
  const path = call.text(name);
  return path === undefined || path === "" ? "?" : showPath(path, cwd);
}

/** A command that the user ran; it looks like one of the model's. */
const sharedShell: ToolRenderer = { ...bash, showsFailure: () => true };

/** A command that the model does not see. */
const privateShell: ToolRenderer = {
  ...sharedShell,
  summary: (call) => [bash.summary?.(call), "not shared with the model"].filter(Boolean).join(" · "),
};
