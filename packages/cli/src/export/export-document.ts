import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import {
  assertNever,
  type ContentBlock,
  type Environment,
  homeDirectory,
  isConversationEntry,
  type Message,
  messageText,
  promptText,
  type SessionEntry,
  type SessionHeader,
  toolCallsOf,
} from "@diligent/core/run";
import { codeSpan, fence, formatLocalMinute, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { firstLines, moreLines } from "../tui/text.ts";
import type { ExportFormat } from "./export-format.ts";
import type { TrajectorySurroundings } from "./read-trajectory.ts";
import type { TrajectorySession } from "./trajectory.ts";

/**
 * The text of a whole file; its last line ends with a line feed.
 * @throws UsageError for a trajectory of a session without messages, and if the configuration is broken.
 */
export async function toDocument(
  format: ExportFormat,
  session: TrajectorySession,
  surroundings: TrajectorySurroundings,
): Promise<string> {
  switch (format) {
    case "md":
      return toMarkdown(session);
    case "html": {
      const { toHtmlDocument } = await import("./html-document.ts");
      return toHtmlDocument(session, surroundings);
    }
    case "jsonl":
      return toJsonLines(session);
    case "atif": {
      const { readTrajectory } = await import("./read-trajectory.ts");
      return toJsonText(await readTrajectory(session, surroundings));
    }
    default:
      return assertNever(format);
  }
}

/** A file path as users write it: relative to a directory, or to `~`. */
export function resolveNamed(
  file: string,
  { cwd, environment }: { cwd: string; environment: Environment },
): string {
  const home = homeDirectory(environment);
  return home !== undefined && file.startsWith("~/") ? join(home, file.slice(2)) : resolve(cwd, file);
}

/**
 * Writes a document to a new file (0600). Never overwrites.
 * @throws Error with a line for the user if the file exists or cannot be written.
 */
export function writeDocument(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new Error(`${path} was not written: ${systemErrorText(error)}`);
  }
}

// The document shows enough of a result to follow it; the session file has all of it.
const MAX_RESULT_LINES = 60;
const MAX_TITLE_COLUMNS = 100;

/** What a document is made from. */
interface DocumentDeps {
  header: SessionHeader;
  /** The conversation from its beginning, including what was summarized. */
  path: readonly SessionEntry[];
  name?: string | undefined;
}

/** A conversation as Markdown for people, possibly shown in a terminal: control characters are escaped. */
export function toMarkdown({ header, path, name }: DocumentDeps): string {
  const title = toSingleLine(name ?? findFirstPrompt(path) ?? header.id, MAX_TITLE_COLUMNS);
  const facts = `Session ${header.id}, started ${formatLocalMinute(new Date(header.timestamp))} in ${header.cwd}`;
  const sections = path.flatMap((entry) => sectionOf(entry) ?? []);
  return sanitizeTerminalText(`${[`# ${title}`, facts, ...sections].join("\n\n")}\n`);
}

/** What further entries add to the Markdown of a conversation; empty if they are not part of it. */
export function toMoreMarkdown(entries: readonly SessionEntry[]): string {
  const sections = entries.flatMap((entry) => sectionOf(entry) ?? []);
  return sanitizeTerminalText(sections.map((section) => `\n${section}\n`).join(""));
}

/** A conversation as lines of a session file that can be opened again. */
function toJsonLines({ header, path }: Pick<DocumentDeps, "header" | "path">): string {
  const lines = [header, ...path.map((entry) => (entry.type === "unknown" ? entry.raw : entry))];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function findFirstPrompt(path: readonly SessionEntry[]): string | undefined {
  for (const entry of path) {
    const text = entry.type === "message" && entry.message.role === "user" ? promptText(entry.message) : "";
    if (text.trim() !== "") return text;
  }
  return undefined;
}

function sectionOf(entry: SessionEntry): string | undefined {
  if (!isConversationEntry(entry)) return undefined;
  switch (entry.type) {
    case "message":
      return messageSection(entry.message);
    case "compaction":
      return `## Summary of everything above\n\n${entry.summary}`;
    case "compaction_undo":
      return "*The last summary was undone*";
    case "branch_summary":
      return `## Summary of an abandoned branch\n\n${entry.summary}`;
    case "model_change":
      return `*Switched to ${entry.modelId}*`;
    case "prune":
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
      const deps = [messageText(message), ...calls].filter((part) => part.trim() !== "");
      return deps.length === 0 ? undefined : [`## ${message.model}`, ...deps].join("\n\n");
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
