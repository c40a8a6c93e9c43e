import {
  assertNever,
  type ContentBlock,
  type Message,
  messageText,
  type SessionEntry,
  type SessionHeader,
  toolCallsOf,
} from "@diligent/core/run";
import { codeSpan, fence } from "./fence.ts";
import { formatLocalMinute } from "./session-text.ts";
import { toSingleLine } from "./terminal-text.ts";
import { firstLines, moreLines } from "./tui/text/cut-lines.ts";

// A result is in the document so that it can be followed; the whole of it is in the session's own file.
const MAX_RESULT_LINES = 60;
const MAX_TITLE_COLUMNS = 100;

/** What a document is made of. */
export interface DocumentParts {
  header: SessionHeader;
  /** The conversation from its beginning, what was summarised included. */
  path: readonly SessionEntry[];
  name?: string | undefined;
}

/** A conversation as Markdown for people. */
export function toMarkdown({ header, path, name }: DocumentParts): string {
  const title = toSingleLine(name ?? findFirstPrompt(path) ?? header.id, MAX_TITLE_COLUMNS);
  const facts = `Session ${header.id}, begun ${formatLocalMinute(new Date(header.timestamp))} in ${header.cwd}`;
  const sections = path.flatMap((entry) => sectionOf(entry) ?? []);
  return `${[`# ${title}`, facts, ...sections].join("\n\n")}\n`;
}

/** A conversation as the lines of a session file, which can be opened as one. */
export function toJsonLines({ header, path }: Pick<DocumentParts, "header" | "path">): string {
  const lines = [header, ...path.map((entry) => (entry.type === "unknown" ? entry.raw : entry))];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function findFirstPrompt(path: readonly SessionEntry[]): string | undefined {
  for (const entry of path) {
    const text = entry.type === "message" && entry.message.role === "user" ? messageText(entry.message) : "";
    if (text.trim() !== "") return text;
  }
  return undefined;
}

function sectionOf(entry: SessionEntry): string | undefined {
  switch (entry.type) {
    case "message":
      return messageSection(entry.message);
    case "compaction":
      return `## Summary of everything above\n\n${entry.summary}`;
    case "branch_summary":
      return `## Summary of a branch that was left\n\n${entry.summary}`;
    case "model_change":
      return `*From here on: ${entry.modelId}*`;
    case "prune":
    case "session_info":
    case "label":
    case "unknown":
      return undefined;
    default:
      return assertNever(entry);
  }
}

function messageSection(message: Message): string | undefined {
  switch (message.role) {
    case "user":
      return `## User\n\n${contentText(message.content)}`;
    case "assistant": {
      const calls = toolCallsOf(message).map(
        ({ name, input, invalidInput }) => `**${name}** ${codeSpan(invalidInput ?? JSON.stringify(input))}`,
      );
      const parts = [messageText(message), ...calls].filter((part) => part.trim() !== "");
      return parts.length === 0 ? undefined : [`## ${message.model}`, ...parts].join("\n\n");
    }
    case "tool_result": {
      const what = message.isError ? `Error of ${message.toolName}:\n\n` : "";
      return what + fence(shorten(message.output));
    }
  }
}

function contentText(content: string | readonly ContentBlock[]): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((block) => {
      if (block.type === "text") return [block.text];
      return block.type === "image" ? [`*[image ${block.source.mediaType}]*`] : [];
    })
    .join("\n\n");
}

function shorten(output: string): string {
  const { shown, hidden } = firstLines(output.split("\n"), MAX_RESULT_LINES);
  return [...shown, ...moreLines(hidden)].join("\n");
}
