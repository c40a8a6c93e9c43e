import { TimeSlicer } from "../../../infrastructure/async.ts";
import { readLines } from "../../../infrastructure/fs/read.ts";
import { type Message, messageText, toolCallsOf } from "../../../types.ts";
import { parseSessionLine } from "../../parse-line.ts";
import type { SessionEntry } from "../../types.ts";
import { textOf, timeOf } from "../foreign/json-value.ts";
import type { ForeignItem, ForeignSession, ReadLimits } from "../foreign/types.ts";

/** A piece of a session that can be found. */
export interface IndexedItem {
  /** Milliseconds since the epoch; 0 if it is unknown. */
  at: number;
  role: "user" | "assistant" | "tool_call" | "tool_result" | "summary" | "name" | "label";
  text: string;
  entryId?: string | undefined;
  tool?: string | undefined;
  /** Paths in the arguments of a call, as written there: relative ones start from the session's directory. */
  files?: readonly string[] | undefined;
}

/** What the index stores of a session. */
export interface IndexedSession {
  /** How users name it: our id, or the other agent's with its name. */
  ref: string;
  agent: string;
  cwd: string;
  title: string;
  messages: number;
  items: IndexedItem[];
}

const MAX_RESULT = 2_048;
/** Longer texts are cut. */
export const MAX_TEXT = 64 * 1024;
const MAX_FILES = 20;
const MAX_LINE_BYTES = 16 * 1024 * 1024;
// Beyond this, a session's further items are not indexed: memory stays bounded whatever its size.
const MAX_CHARACTERS = 24_000_000;
// A session of so many messages would have taken months.
const MAX_RECORDS = 100_000;
const MAX_TITLE = 200;

/** For the index: the beginning of each text. */
export const INDEX_LIMITS: ReadLimits = {
  maxText: MAX_TEXT,
  maxResult: MAX_RESULT,
  maxTotal: MAX_CHARACTERS,
  maxLineBytes: MAX_LINE_BYTES,
  maxRecords: MAX_RECORDS,
  withImages: false,
  withChildren: false,
};

/**
 * Reads one of our session files for the index; undefined if it is not a session.
 * @throws the file system's error if it cannot be read; StoppedError once the signal is aborted.
 */
export async function readOwnSession(
  path: string,
  signal?: AbortSignal,
): Promise<IndexedSession | undefined> {
  const slicer = new TimeSlicer(signal);
  const collected = new ItemCollector();
  let id: string | undefined;
  let cwd = "";
  let name: string | undefined;
  let lines = 0;
  for (const { text, isCut } of readLines(path, { maxLineBytes: MAX_LINE_BYTES, isSnapshot: true })) {
    if (slicer.isDue) await slicer.pause();
    const line = isCut ? undefined : parseSessionLine(text);
    if (line?.kind === "header") {
      id ??= textOf(line.value.id);
      cwd ||= textOf(line.value.cwd) ?? "";
    }
    if (line?.kind === "entry") {
      collected.addEntry(line.entry);
      if (line.entry.type === "session_info") name = line.entry.name;
    }
    if (++lines > 100 && id === undefined && collected.messages === 0) return undefined;
  }
  if (id === undefined) return undefined;
  const { items, messages } = collected;
  return { ref: id, agent: "diligent", cwd, title: titleOf(name, items), messages, items };
}

/** A session of another agent, as the index stores it. */
export function toIndexedSession(session: ForeignSession): IndexedSession {
  const collected = new ItemCollector();
  for (const item of session.items) collected.addForeign(item);
  const { items, messages } = collected;
  const { agent, id, cwd, name, createdMs } = session;
  if (name?.trim()) items.push({ at: createdMs, role: "name", text: name });
  return { ref: `${agent}:${id}`, agent, cwd, title: titleOf(name, items), messages, items };
}

function titleOf(name: string | undefined, items: readonly IndexedItem[]): string {
  const text = name?.trim() || items.find(({ role }) => role === "user")?.text || "";
  return text.replace(/\s+/g, " ").trim().slice(0, MAX_TITLE).toWellFormed();
}

class ItemCollector {
  readonly items: IndexedItem[] = [];
  messages = 0;
  private characters = 0;
  private readonly tools = new Map<string, string>();

  addEntry(entry: SessionEntry): void {
    const at = timeOf(entry.timestamp);
    if (entry.type === "message") this.addMessage(at, entry.message, entry.id);
    else if (entry.type === "compaction" || entry.type === "branch_summary")
      this.add({ at, role: "summary", text: entry.summary, entryId: entry.id });
    else if (entry.type === "session_info" && entry.name !== undefined)
      this.add({ at, role: "name", text: entry.name, entryId: entry.id });
    else if (entry.type === "label" && entry.label !== undefined)
      this.add({ at, role: "label", text: entry.label, entryId: entry.targetId });
  }

  addForeign(item: ForeignItem): void {
    if (item.kind === "message") this.addMessage(item.at, item.message);
    else if (item.kind === "compaction" || item.kind === "branch_summary")
      this.add({ at: item.at, role: "summary", text: item.summary });
    else if (item.kind === "label") this.add({ at: item.at, role: "label", text: item.label });
  }

  private addMessage(at: number, message: Message, entryId?: string): void {
    this.messages++;
    if (message.role === "tool_result") {
      const { toolCallId, toolName, output } = message;
      const tool = this.tools.get(toolCallId) ?? toolName;
      this.tools.delete(toolCallId);
      this.add({ at, role: "tool_result", text: output.slice(0, MAX_RESULT), entryId, tool });
      return;
    }
    this.add({ at, role: message.role, text: messageText(message), entryId });
    if (message.role !== "assistant") return;
    for (const { id, name, input } of toolCallsOf(message)) {
      this.tools.set(id, name);
      const text = describeCall(input).slice(0, MAX_RESULT);
      this.add({ at, role: "tool_call", text, entryId, tool: name, files: filesIn(input) });
    }
  }

  private add(item: IndexedItem): void {
    if (item.text.trim() === "" && !item.files?.length) return;
    const text = item.text.slice(0, MAX_TEXT).toWellFormed();
    this.characters += text.length;
    if (this.characters <= MAX_CHARACTERS && this.items.length < MAX_RECORDS)
      this.items.push({ ...item, text });
  }
}

/** The texts of a call's arguments, each with the name of its field. */
function* textsIn(value: unknown, name = "", depth = 0): Generator<[name: string, text: string]> {
  if (typeof value === "string") yield [name, value];
  else if (typeof value === "object" && value !== null && depth < 5)
    for (const [key, each] of Object.entries(value).slice(0, 100)) yield* textsIn(each, key, depth + 1);
}

function describeCall(input: Readonly<Record<string, unknown>>): string {
  return [...textsIn(input)].map(([, text]) => text.slice(0, MAX_RESULT)).join(" ");
}

const PATH_NAMES = new Set([
  "file_path",
  "path",
  "filePath",
  "notebook_path",
  "file",
  "filename",
  "absolute_path",
]);
const PATCHED_FILE = /^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$/gm;

/** The files that a call names, as it names them. */
function filesIn(input: Readonly<Record<string, unknown>>): string[] {
  const files = [...textsIn(input)].flatMap(([name, text]) =>
    PATH_NAMES.has(name) ? [text] : [...text.matchAll(PATCHED_FILE)].map(([, file = ""]) => file.trim()),
  );
  return files.filter((file) => file !== "" && file.length < 4_096).slice(0, MAX_FILES);
}
