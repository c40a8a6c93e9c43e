import type { CostReport } from "@diligent/core/cost";
import {
  assertNever,
  type ContentBlock,
  isConversationEntry,
  type Message,
  promptText,
  type SessionEntry,
  type SessionHeader,
  type ToolResultMessage,
} from "@diligent/core/run";
import { formatLocalMinute } from "../text/format.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import { renderCostSections } from "./cost-page.ts";
import { renderMarkdownPage } from "./markdown.ts";
import { type Html, html, toPage } from "./page.ts";

/** What a page of a conversation is made from. */
export interface ConversationPageInput {
  header: SessionHeader;
  /** The conversation from its beginning, including what was summarized. */
  path: readonly SessionEntry[];
  name?: string | undefined;
  /** Undefined to leave costs out. */
  cost?: CostReport | undefined;
}

const MAX_TITLE_COLUMNS = 100;
const MAX_LISTED_COLUMNS = 70;
const MAX_SUMMARY_COLUMNS = 120;
// A browser takes seconds for longer ones; the session file has all of it.
const MAX_OUTPUT_CHARS = 200_000;

/** A conversation as a page: prompts and answers, calls with their results folded, summaries, and what it cost. */
export function toConversationPage({ header, path, name, cost }: ConversationPageInput): string {
  const prompts = path.flatMap((entry) => readPrompt(entry) ?? []);
  const first = prompts.map(({ text }) => text).find((text) => text.trim() !== "");
  const title = toSingleLine(name ?? first ?? header.id, MAX_TITLE_COLUMNS);
  const results = resultsById(path);
  const sections = path.flatMap((entry) => renderEntry(entry, results) ?? []);
  const body = html`<header>
<h1>${title}</h1>
<p class="muted">Session ${header.id}, started ${formatLocalMinute(new Date(header.timestamp))} in ${header.cwd}</p>
</header>
${renderContents(path)}
<main id="content">
${sections}
${cost && cost.requests.length > 0 ? html`<section><h2 id="cost">Tokens and cost</h2>${renderCostSections(cost)}</section>` : undefined}
</main>`;
  return toPage({ title, body });
}

function readPrompt(entry: SessionEntry): { text: string; id: string } | undefined {
  if (entry.type !== "message" || entry.message.role !== "user") return undefined;
  return { text: promptText(entry.message), id: entry.id };
}

function renderContents(path: readonly SessionEntry[]): Html {
  const prompts = path.flatMap((entry) => readPrompt(entry) ?? []);
  if (prompts.length < 2) return html``;
  const items = prompts.map(
    ({ id, text }) =>
      html`<li><a href="${`#${anchorOf(id)}`}">${toSingleLine(text, MAX_LISTED_COLUMNS)}</a></li>`,
  );
  return html`<nav aria-label="Prompts"><details><summary>${prompts.length} prompts</summary><ol>${items}</ol></details></nav>`;
}

/** An id in a file can be any text. */
function anchorOf(id: string): string {
  return `e-${id.replace(/[^\w-]/g, "_")}`;
}

/** The results of calls, each for the last call with its id. */
function resultsById(path: readonly SessionEntry[]): ReadonlyMap<string, ToolResultMessage> {
  return new Map(
    path.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "tool_result"
        ? [[entry.message.toolCallId, entry.message]]
        : [],
    ),
  );
}

function renderEntry(entry: SessionEntry, results: ReadonlyMap<string, ToolResultMessage>): Html | undefined {
  if (!isConversationEntry(entry)) return undefined;
  switch (entry.type) {
    case "message":
      return renderMessage(entry.message, { id: entry.id, results });
    case "compaction":
      return renderSummary("Summary of everything above", entry.summary, [
        `${entry.tokensBefore.toLocaleString("en")} tokens before, ${entry.tokensAfter.toLocaleString("en")} after`,
      ]);
    case "branch_summary":
      return renderSummary("Summary of an abandoned branch", entry.summary, []);
    case "compaction_undo":
      return html`<p class="muted">The last summary was undone.</p>`;
    case "prune":
      return html`<p class="muted">${countText(entry.cleared.length + entry.trimmed.length, "old result")} shortened for the model.</p>`;
    case "model_change":
      return html`<p class="muted">Switched to ${entry.modelId}</p>`;
    default:
      return assertNever(entry);
  }
}

function countText(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}

function renderSummary(title: string, summary: string, facts: readonly string[]): Html {
  return html`<article class="note"><details><summary>${title} <span class="muted">${facts.join(", ")}</span></summary>${renderMarkdownPage(summary)}</details></article>`;
}

interface MessagePlace {
  id: string;
  results: ReadonlyMap<string, ToolResultMessage>;
}

function renderMessage(message: Message, { id, results }: MessagePlace): Html | undefined {
  switch (message.role) {
    case "user":
      return html`<article class="user" id="${anchorOf(id)}"><header>User ${renderTime(message)}</header>${renderUserContent(message.content)}</article>`;
    case "assistant": {
      const parts = message.content.map((block) => renderBlock(block, results));
      if (parts.length === 0) return undefined;
      const ended =
        message.stopReason === "aborted" || message.stopReason === "error"
          ? html`<p class="error">The answer broke off (${message.stopReason}).</p>`
          : undefined;
      return html`<article><header>${message.model} ${renderTime(message)}</header>${parts}${ended}</article>`;
    }
    case "tool_result":
      // Shown with its call.
      return undefined;
    default:
      return assertNever(message);
  }
}

function renderTime({ timestamp }: Message): Html {
  const date = new Date(timestamp);
  if (timestamp === 0 || Number.isNaN(date.getTime())) return html``;
  return html`<time class="muted" datetime="${date.toISOString()}">${formatLocalMinute(date)}</time>`;
}

function renderUserContent(content: string | readonly ContentBlock[]): readonly Html[] {
  if (typeof content === "string") return [renderMarkdownPage(content)];
  return content.map((block) => renderBlock(block, new Map()));
}

function renderBlock(block: ContentBlock, results: ReadonlyMap<string, ToolResultMessage>): Html {
  switch (block.type) {
    case "text":
      return renderMarkdownPage(block.text);
    case "thinking":
      if (block.thinking.trim() === "") return html``;
      return html`<details class="thinking"><summary>Thinking</summary>${renderMarkdownPage(block.thinking)}</details>`;
    case "image":
      return renderImage(block.source);
    case "opaque":
      return html`<p class="muted">A block of ${block.provider} that only it can read.</p>`;
    case "tool_call": {
      const result = results.get(block.id);
      const input = block.invalidInput ?? JSON.stringify(block.input);
      const outcome = result === undefined ? "no result" : result.isError ? "failed" : undefined;
      return html`<details><summary><strong>${block.name}</strong> <code>${toSingleLine(summarize(block.input, input), MAX_SUMMARY_COLUMNS)}</code>${outcome === undefined ? undefined : html` <span class="error">${outcome}</span>`}</summary>
${renderInput(block.name, result?.input ?? block.input, block.invalidInput)}${result ? renderResult(result) : undefined}</details>`;
    }
    default:
      return assertNever(block);
  }
}

/** What a call is about: its path, command or pattern. */
function summarize(input: Readonly<Record<string, unknown>>, all: string): string {
  for (const name of ["file_path", "path", "command", "pattern", "query", "url", "description"]) {
    const value = input[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return all;
}

function renderInput(
  name: string,
  input: Readonly<Record<string, unknown>>,
  invalid: string | undefined,
): Html {
  if (invalid !== undefined) return html`<pre>${cut(invalid)}</pre>`;
  const changes = listChanges(name, input);
  if (changes.length > 0) return html`${changes.map(renderDiff)}`;
  if (name === "bash" && typeof input.command === "string") return html`<pre>${cut(input.command)}</pre>`;
  return html`<pre>${cut(JSON.stringify(input, null, 2))}</pre>`;
}

/** The lines that a call removes and adds, as lines of a diff; empty for any other call. */
function listChanges(name: string, input: Readonly<Record<string, unknown>>): string[][] {
  const edits = Array.isArray(input.edits) ? input.edits.filter(isRecord) : [input];
  switch (name) {
    case "edit":
      return edits.flatMap(({ old_string: before, new_string: after }) =>
        typeof before === "string" && typeof after === "string"
          ? [[...toLines("-", before), ...toLines("+", after)]]
          : [],
      );
    case "write":
      return typeof input.content === "string" ? [toLines("+", input.content)] : [];
    case "apply_patch":
      return typeof input.patch === "string" ? [input.patch.split("\n")] : [];
    default:
      return [];
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toLines(sign: "-" | "+", text: string): string[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line);
}

const MAX_DIFF_LINES = 2_000;

function renderDiff(lines: readonly string[]): Html {
  const shown = lines.slice(0, MAX_DIFF_LINES).map((line) => {
    const kind = line.startsWith("+") ? "a" : line.startsWith("-") ? "r" : undefined;
    return kind === undefined ? html`<span>${line}</span>` : html`<span class="${kind}">${line}</span>`;
  });
  const rest = lines.length - shown.length;
  return html`<pre class="diff">${shown}${rest > 0 ? html`<span>… and ${rest} more lines</span>` : undefined}</pre>`;
}

function renderResult(result: ToolResultMessage): Html {
  const images = (result.images ?? []).map(({ source }) => renderImage(source));
  return html`<pre${result.isError ? html` class="error"` : undefined}>${cut(result.output)}</pre>${images}`;
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The bytes are in the page; an SVG could contain anything. */
function renderImage({ mediaType, data }: { mediaType: string; data: string }): Html {
  if (!IMAGE_TYPES.has(mediaType) || !/^[A-Za-z0-9+/=\s]*$/.test(data))
    return html`<p class="muted">[image ${mediaType}]</p>`;
  return html`<p><img src="${`data:${mediaType};base64,${data}`}" alt="An image of the conversation"></p>`;
}

function cut(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n… ${text.length - MAX_OUTPUT_CHARS} more characters are in the session file.`;
}
