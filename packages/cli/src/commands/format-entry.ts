import {
  assertNever,
  type CompactionEntry,
  type ContentBlock,
  type Message,
  messageText,
  type SessionEntry,
  type UserMessage,
} from "@diligent/core/run";
import { toSingleLine } from "../terminal-text.ts";
import { firstLines, moreLines } from "../tui/text/cut-lines.ts";

const SHOWN_OUTPUT_LINES = 10;
const MAX_TITLE_COLUMNS = 200;

/** A message in short: what was said and called, and how each result begins. */
export function formatMessage(message: Message): string {
  switch (message.role) {
    case "user":
      return quoteUser(message);
    case "assistant": {
      const calls = message.content.flatMap((block) =>
        block.type === "tool_call" ? [formatBlock(block)] : [],
      );
      return [messageText(message), ...calls].filter((part) => part !== "").join("\n");
    }
    case "tool_result": {
      const lines = message.output.split("\n");
      const { shown, hidden } = firstLines(lines, SHOWN_OUTPUT_LINES);
      return indent([...shown, ...moreLines(hidden)].join("\n"));
    }
  }
}

/** An entry of the file in full, under a line that begins with its id. */
export function formatEntry(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return `${toTitle(`${entry.id} ${messageTitle(entry.message)}`)}\n${fullText(entry.message)}`.trimEnd();
    case "compaction":
      return `${mark(entry.id, compactionTitle(entry))}\n${indent(entry.summary)}`;
    case "prune":
      return mark(
        entry.id,
        `prune: ${countResults(entry.cleared)} cleared, ${countResults(entry.trimmed)} trimmed for the model`,
      );
    case "branch_summary":
      return `${mark(entry.id, `summary of the branch that ends in ${entry.fromId}`)}\n${indent(entry.summary)}`;
    case "model_change":
      return mark(entry.id, `model: ${entry.provider}/${entry.modelId}`);
    case "session_info":
      return mark(entry.id, `name: ${entry.name ?? "(none)"}`);
    case "label":
      return mark(entry.id, `label on ${entry.targetId}: ${entry.label ?? "(none)"}`);
    case "unknown":
      return mark(entry.id, `${String(entry.raw.type)}, which this version does not know`);
    default:
      return assertNever(entry);
  }
}

function mark(id: string, text: string): string {
  return `--- ${toTitle(`${id} ${text}`)} ---`;
}

function compactionTitle({ tokensBefore, tokensAfter, firstKeptEntryId }: CompactionEntry): string {
  return `compaction: ${tokensBefore} → ${tokensAfter} tokens; the model sees this summary and what follows from ${firstKeptEntryId} on`;
}

function countResults(ids: readonly string[]): string {
  return ids.length === 1 ? "1 result" : `${ids.length} results`;
}

function messageTitle(message: Message): string {
  switch (message.role) {
    case "user":
      return "user";
    case "assistant":
      return `assistant (${[message.model, ...endOf(message.stopReason)].join(", ")})`;
    case "tool_result":
      return `result of ${message.toolName}${message.isError ? " (error)" : ""}`;
  }
}

/** Said where a reply did not end by itself. */
function endOf(stopReason: string): string[] {
  return stopReason === "end_turn" || stopReason === "tool_use" ? [] : [stopReason];
}

function fullText(message: Message): string {
  switch (message.role) {
    case "user":
      return quoteUser(message);
    case "assistant":
      return formatBlocks(message.content);
    case "tool_result":
      return indent([message.output, ...(message.images ?? []).map(formatBlock)].join("\n"));
  }
}

function formatBlocks(blocks: readonly ContentBlock[]): string {
  return blocks
    .map(formatBlock)
    .filter((part) => part !== "")
    .join("\n");
}

function formatBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking === "" ? "" : `[thinking]\n${indent(block.thinking)}`;
    case "tool_call":
      return `[${block.name}] ${block.invalidInput ?? JSON.stringify(block.input)}`;
    case "image":
      return `[image ${block.source.mediaType}]`;
    case "opaque":
      return `[a part only ${block.provider} understands]`;
    default:
      return assertNever(block);
  }
}

function quoteUser({ content }: UserMessage): string {
  const text = typeof content === "string" ? content : formatBlocks(content);
  return `> ${text.replaceAll("\n", "\n> ")}`;
}

function indent(text: string): string {
  return `  ${text.replaceAll("\n", "\n  ")}`;
}

/** What is written into a file by somebody else may not look like several entries. */
function toTitle(text: string): string {
  return toSingleLine(text, MAX_TITLE_COLUMNS);
}
