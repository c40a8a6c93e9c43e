import { readLines } from "../infrastructure/fs/line-reader.ts";
import { messageText } from "../types.ts";
import { parseSessionLine } from "./parse-line.ts";
import type { SessionReadOptions } from "./read-file.ts";
import type { SessionEntry } from "./types.ts";

/** A match of a text search in a session. */
export interface SessionMatch {
  /** The entry that it belongs to; for a label, the labeled entry. */
  entryId: string;
  /** The role of the author, or that it is the session's name or a label. */
  kind: "user" | "assistant" | "name" | "label";
  /** ISO 8601; empty if the entry has none. */
  timestamp: string;
  /** The surrounding text, on one line. */
  text: string;
}

const CHARACTERS_BEFORE = 60;
const CHARACTERS_BEHIND = 160;
// Another program may have written the file, with spaces and different key order.
const SEARCHED = /"role"\s*:\s*"(?:user|assistant)"|"type"\s*:\s*"(?:session_info|label)"/;
const SEARCHED_PLACE = 400;

/**
 * Searches the user and model texts of a session file, on every branch, and its names and labels; tool results,
 * calls and thinking are not searched. Case and the amount of white space between words are ignored.
 * @throws the file system's error when the file cannot be read.
 */
export function findInSession(
  path: string,
  text: string,
  { redactor }: SessionReadOptions = {},
): SessionMatch[] {
  const pattern = toPattern(text);
  if (pattern === undefined) return [];
  const said: SessionMatch[] = [];
  let name: SessionMatch | undefined;
  const labels = new Map<string, SessionMatch>();
  for (const line of readLines(path, { isBeginningEnough: (beginning) => !isSearched(beginning) })) {
    const read = isSearched(line.text) ? readEntry(line.text) : undefined;
    const entry = redactor?.redact(read) ?? read;
    if (entry?.type === "message") said.push(...matchMessage(entry, pattern));
    if (entry?.type === "session_info")
      name = match(entry.id, entry, { kind: "name", text: entry.name }, pattern);
    if (entry?.type === "label") {
      const label = match(entry.targetId, entry, { kind: "label", text: entry.label }, pattern);
      if (label) labels.set(entry.targetId, label);
      else labels.delete(entry.targetId);
    }
  }
  return [...(name ? [name] : []), ...said, ...labels.values()];
}

function isSearched(line: string): boolean {
  return SEARCHED.test(line.slice(0, SEARCHED_PLACE));
}

function readEntry(line: string): SessionEntry | undefined {
  const parsed = parseSessionLine(line);
  return parsed?.kind === "entry" ? parsed.entry : undefined;
}

function matchMessage(entry: Extract<SessionEntry, { type: "message" }>, pattern: RegExp): SessionMatch[] {
  const { message } = entry;
  if (message.role === "tool_result") return [];
  const found = match(entry.id, entry, { kind: message.role, text: messageText(message) }, pattern);
  return found ? [found] : [];
}

function match(
  entryId: string,
  { timestamp }: Pick<SessionEntry, "timestamp">,
  { kind, text = "" }: { kind: SessionMatch["kind"]; text: string | undefined },
  pattern: RegExp,
): SessionMatch | undefined {
  const found = pattern.exec(text);
  if (!found) return undefined;
  return { entryId, kind, timestamp, text: excerpt(text, found.index, found[0].length) };
}

function excerpt(text: string, start: number, length: number): string {
  const from = Math.max(0, start - CHARACTERS_BEFORE);
  const to = Math.min(text.length, start + length + CHARACTERS_BEHIND);
  const shown = text.slice(from, to).toWellFormed().replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

function toPattern(text: string): RegExp | undefined {
  const words = text.split(/\s+/).filter(Boolean);
  const escaped = words.map((word) => word.toWellFormed().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return words.length === 0 ? undefined : new RegExp(escaped.join("\\s+"), "iu");
}
