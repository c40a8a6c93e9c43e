import { basename, dirname, join } from "node:path";
import { modificationTime, readDirectory } from "../infrastructure/fs/directory.ts";
import { type FileLine, readLines } from "../infrastructure/fs/read.ts";
import { createTrackedTest } from "../infrastructure/paths/git-index.ts";
import { messageText, promptText } from "../types.ts";
import { type ParsedLine, parseDamagedLine, parseSessionLine } from "./parse-line.ts";
import type { SessionReadOptions } from "./read-file.ts";
import { MAX_LINES_OF_NO_SESSION, readHeader, recoverHeader, SessionFileError } from "./session-header.ts";
import type { SessionEntry, SessionHeader, SessionInfo } from "./types.ts";

const EXTENSION = ".jsonl";

/** A session file that this program cannot open, such as one of a newer format version. */
export interface UnreadableSession {
  /** From the file's name. */
  id: string;
  /** A sentence that names the file. */
  reason: string;
}

/**
 * The sessions of a directory, the last changed first. Each file is read line by line and only the data for the list is
 * parsed, so that memory does not grow with a file: of a line of more than 256 KB only the beginning is read. Files
 * that are not sessions, or cannot be opened, are left out.
 */
export async function listSessions(
  sessionsDir: string,
  options?: SessionReadOptions,
): Promise<SessionInfo[]> {
  return readSessionDirectory(sessionsDir, options).sessions;
}

/** The results of `listSessions` and `listUnreadableSessions`, from one pass over the files. */
export function readSessionDirectory(
  sessionsDir: string,
  options: SessionReadOptions = {},
): {
  sessions: SessionInfo[];
  unreadable: UnreadableSession[];
} {
  const sessions: SessionInfo[] = [];
  const unreadable: UnreadableSession[] = [];
  const names = sessionFileNames(sessionsDir);
  const isTracked = names.length === 0 ? () => false : createTrackedFilter(sessionsDir);
  for (const name of names) {
    const path = join(sessionsDir, name);
    const summary = readSummary(path, options);
    if (summary instanceof Error)
      unreadable.push({ id: name.slice(0, -EXTENSION.length), reason: summary.message });
    else
      for (const info of toInfo(summary, path))
        sessions.push({ ...info, ...(isTracked(name) && { tracked: true }) });
  }
  sessions.sort(
    (left, right) => right.modified.getTime() - left.modified.getTime() || (left.path < right.path ? 1 : -1),
  );
  return { sessions, unreadable };
}

/**
 * True for the name of a file that git tracks. @param sessionsDir `.diligent/sessions` in the root of a project; files
 * of other directories count as untracked.
 */
function createTrackedFilter(sessionsDir: string): (name: string) => boolean {
  const diligent = dirname(sessionsDir);
  const folder = `${basename(diligent)}/${basename(sessionsDir)}`;
  const trackedState = createTrackedTest(dirname(diligent));
  return (name) => trackedState(`${folder}/${name}`) === "tracked";
}

/**
 * The path of the session with this id, or without an id of the last changed one that git does not track and that is
 * not a sub-agent's; undefined when there is none. A file with that name is returned even if it cannot be opened, so that the caller gets the error.
 */
export async function findSessionFile(sessionsDir: string, id?: string): Promise<string | undefined> {
  const name = `${id}${EXTENSION}`;
  if (id !== undefined && sessionFileNames(sessionsDir).includes(name)) return join(sessionsDir, name);
  const sessions = await listSessions(sessionsDir);
  const isMostRecent = ({ tracked, agent }: SessionInfo) => !tracked && agent === undefined;
  return sessions.find((session) => (id === undefined ? isMostRecent(session) : session.id === id))?.path;
}

/** The session files of a directory that `listSessions` leaves out because they cannot be opened. */
export function listUnreadableSessions(sessionsDir: string): UnreadableSession[] {
  return readSessionDirectory(sessionsDir).unreadable;
}

/** Undefined when the file is not a session, or cannot be opened. */
export function summarizeSession(path: string): SessionInfo | undefined {
  const summary = readSummary(path, {});
  return summary instanceof Error ? undefined : toInfo(summary, path)[0];
}

/** One session, or none for a file that is not a session. */
function toInfo(summary: SessionSummary | undefined, path: string): SessionInfo[] {
  const info = summary?.toInfo(new Date(modificationTime(path)));
  return info === undefined ? [] : [info];
}

/** The names of the session files of a directory, unsorted; none if it cannot be read. */
export function sessionFileNames(sessionsDir: string): string[] {
  try {
    return readDirectory(sessionsDir).flatMap(({ name, kind }) =>
      kind === "file" && name.endsWith(EXTENSION) ? [name] : [],
    );
  } catch {
    // The directory does not exist or cannot be read: there are no sessions to show.
    return [];
  }
}

function readSummary(path: string, options: SessionReadOptions): SessionSummary | Error | undefined {
  const summary = new SessionSummary(path, options);
  try {
    const isBeginningEnough = (beginning: string) => summary.isBeginningEnough(beginning);
    for (const line of readLines(path, { isBeginningEnough })) {
      summary.add(line);
      if (summary.isNoSession) return undefined;
    }
    return summary;
  } catch (error) {
    if (error instanceof SessionFileError) return error;
    return new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const MAX_TEXT_LENGTH = 1000;

/** The list data of a session, collected from its lines one by one. */
class SessionSummary {
  private header: SessionHeader | undefined;
  private firstMessage: SessionEntry | undefined;
  private name: string | undefined;
  private firstUserMessage: string | undefined;
  private isArchived = false;
  private readonly tally = new EntryTally();
  private lines = 0;

  constructor(
    private readonly path: string,
    private readonly options: SessionReadOptions,
  ) {}

  /** True after so many lines without a session that the file cannot be one. */
  get isNoSession(): boolean {
    return !this.header && !this.firstMessage && this.lines > MAX_LINES_OF_NO_SESSION;
  }

  /** True for the beginning of a line whose rest is not needed. */
  isBeginningEnough(beginning: string): boolean {
    return this.readCountedMessage(beginning) !== undefined;
  }

  /** @throws SessionFileError for a newer version. */
  add({ text, isComplete, isCut }: FileLine): void {
    this.lines++;
    const message = this.readCountedMessage(text);
    if (message && (isCut || (isComplete && isWholeMessage(text)))) {
      this.countMessage(message);
      return;
    }
    const line = parseSessionLine(text);
    for (const part of line ? [line] : parseDamagedLine(text)) this.take(part);
  }

  /** @param fileModified the file's modification time; for a session whose own dates are damaged. */
  toInfo(fileModified: Date): SessionInfo | undefined {
    const header = this.header ?? (this.firstMessage && recoverHeader([this.firstMessage], this.path));
    if (!header) return undefined;
    const { modified, messageCount } = this.tally;
    const created = toDate(header.timestamp);
    return {
      id: header.id,
      path: this.path,
      cwd: header.cwd,
      ...(this.name !== undefined && { name: this.name }),
      created: created ?? modified ?? fileModified,
      modified: modified ?? created ?? fileModified,
      messageCount,
      ...(this.firstUserMessage !== undefined && { firstUserMessage: this.firstUserMessage }),
      ...(header.parentSession !== undefined && { parentSession: header.parentSession }),
      ...(header.agent !== undefined && { agent: header.agent }),
      ...(this.isArchived && { archived: true }),
    };
  }

  /**
   * A message written by diligent that only needs to be counted: its beginning is enough. Undefined for any other
   * line.
   */
  private readCountedMessage(text: string): OwnMessage | undefined {
    const message = this.header && readOwnMessage(text);
    return message?.isUserMessage && this.firstUserMessage === undefined ? undefined : message;
  }

  private take(line: ParsedLine): void {
    if (line.kind === "header") this.header ??= readHeader(line.value, this.path);
    if (line.kind === "entry") this.takeEntry(line.entry);
  }

  private takeEntry(entry: SessionEntry): void {
    if (entry.type === "archive") this.isArchived = entry.archived;
    // Metadata about a session does not change it: it keeps its number in the list.
    if (entry.type === "archive" || entry.type === "label") return;
    if (entry.type === "session_info") this.name = entry.name?.trim() ? this.redact(entry.name) : undefined;
    if (entry.type !== "message") {
      this.tally.addChange(entry.timestamp);
      return;
    }
    this.firstMessage ??= entry;
    this.countMessage(entry);
    if (entry.message.role !== "user" || this.firstUserMessage !== undefined) return;
    const text = promptText(entry.message).trim();
    if (text !== "") this.firstUserMessage = shorten(this.redact(text));
  }

  private redact(text: string): string {
    return this.options.redactor?.redact(text) ?? text;
  }

  /** A continued session is no longer archived. */
  private countMessage(message: Pick<SessionEntry, "id" | "timestamp">): void {
    this.tally.addMessage(message);
    this.isArchived = false;
  }
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text;
}

/** How much of a session to read. */
export interface SessionTextOptions {
  /** The maximum length of the text; the rest is not read. */
  maxCharacters: number;
  /** Aborting it stops reading; what was read so far is returned. */
  signal?: AbortSignal | undefined;
}

// After this many characters reading yields, so that key presses are handled.
const PART_CHARACTERS = 512 * 1024;
// The cost of skipping a result, whose text is not kept.
const PASSED_CHARACTERS = 16 * 1024;
// Another program may have written the file, with spaces and a different key order.
const MESSAGE_ROLE = /"role"\s*:\s*"(?:user|assistant)"/;
const MAX_ROLE_OFFSET = 400;

/**
 * The user and model texts of a session file, on every branch, for searching. Tool results, calls and thinking are
 * left out. Empty for a file that cannot be read.
 */
export async function readSessionText(
  path: string,
  { maxCharacters, signal }: SessionTextOptions,
): Promise<string> {
  const texts: string[] = [];
  let characters = 0;
  let passed = 0;
  try {
    for (const { text, isCut } of readLines(path, {
      isBeginningEnough: (beginning) => !isMessageOfRole(beginning),
    })) {
      passed += isCut ? PASSED_CHARACTERS : text.length;
      if (passed > PART_CHARACTERS) {
        passed = 0;
        await new Promise(setImmediate);
      }
      if (signal?.aborted || characters >= maxCharacters) break;
      const messageText = isMessageOfRole(text) ? textOf(text) : "";
      if (messageText === "") continue;
      texts.push(messageText);
      characters += messageText.length;
    }
  } catch {
    // Removed or damaged meanwhile: only its list data can be searched.
  }
  return texts.join("\n").slice(0, maxCharacters);
}

function isMessageOfRole(line: string): boolean {
  return MESSAGE_ROLE.test(line.slice(0, MAX_ROLE_OFFSET));
}

function textOf(line: string): string {
  const parsed = parseSessionLine(line);
  if (parsed?.kind !== "entry" || parsed.entry.type !== "message") return "";
  const { message } = parsed.entry;
  return message.role === "tool_result" ? "" : messageText(message);
}

/** The number of messages of a session and its last change, computed entry by entry in the order of the file. */
class EntryTally {
  private messages = 0;
  private lastMessageId: string | undefined;
  private lastChange: Date | undefined;

  get messageCount(): number {
    return this.messages;
  }

  /** Undefined until an entry has a readable date. */
  get modified(): Date | undefined {
    return this.lastChange;
  }

  /** Counts an entry that is a message. */
  addMessage({ id, timestamp }: Pick<SessionEntry, "id" | "timestamp">): void {
    // A line whose newline could not be written is written twice.
    if (id !== this.lastMessageId) this.messages++;
    this.lastMessageId = id;
    this.addChange(timestamp);
  }

  /** Records the time of an entry that is not a message. */
  addChange(timestamp: string): void {
    this.lastChange = toDate(timestamp) ?? this.lastChange;
  }
}

/** Undefined if it is not a date. */
function toDate(timestamp: string): Date | undefined {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

// The beginning of messages written by diligent; a list needs no more of most of them. All other lines are parsed.
const OWN_MESSAGE =
  /^\{"type":"message","id":"([^"]*)","parentId":(?:null|"[^"]*"),"timestamp":"([^"]*)","message":\{"role":"(user|assistant|tool_result)"/;
const OWN_PREFIX_LENGTH = 200;
const OWN_END = /,"timestamp":\d+\}\}$/;
const OWN_END_LENGTH = 40;
const PARENT = '"parentId":';

/** The fields at the beginning of a message's line. */
interface OwnMessage extends Pick<SessionEntry, "id" | "timestamp"> {
  isUserMessage: boolean;
}

/**
 * Reads the beginning of a line of a session file, without parsing it; undefined if it is not a message written by
 * diligent.
 */
function readOwnMessage(text: string): OwnMessage | undefined {
  const match = OWN_MESSAGE.exec(text.slice(0, OWN_PREFIX_LENGTH));
  if (!match) return undefined;
  const [, id = "", timestamp = "", role] = match;
  return { id, timestamp, isUserMessage: role === "user" };
}

/** False for a message's line that was truncated, zeroed or merged with another one: it is parsed completely then. */
function isWholeMessage(text: string): boolean {
  const isOne = text.indexOf(PARENT, text.indexOf(PARENT) + 1) < 0;
  return isOne && OWN_END.test(text.slice(-OWN_END_LENGTH)) && !text.includes("\0");
}

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
// Another program may have written the file, with spaces and a different key order.
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
  const messageText: SessionMatch[] = [];
  let name: SessionMatch | undefined;
  const labels = new Map<string, SessionMatch>();
  for (const line of readLines(path, { isBeginningEnough: (beginning) => !isSearched(beginning) })) {
    const read = isSearched(line.text) ? readEntry(line.text) : undefined;
    const entry = redactor?.redact(read) ?? read;
    if (entry?.type === "message") messageText.push(...matchMessage(entry, pattern));
    if (entry?.type === "session_info")
      name = match(entry.id, entry, { kind: "name", text: entry.name }, pattern);
    if (entry?.type === "label") {
      const label = match(entry.targetId, entry, { kind: "label", text: entry.label }, pattern);
      if (label) labels.set(entry.targetId, label);
      else labels.delete(entry.targetId);
    }
  }
  return [...(name ? [name] : []), ...messageText, ...labels.values()];
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
