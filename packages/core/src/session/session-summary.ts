import type { FileLine } from "../infrastructure/reading/line-reader.ts";
import { messageText } from "../types.ts";
import { type ParsedLine, parseDamagedLine, parseSessionLine } from "./parse-line.ts";
import { MAX_LINES_OF_NO_SESSION, readHeader, recoverHeader } from "./session-header.ts";
import type { SessionEntry, SessionHeader, SessionInfo } from "./types.ts";

// How our own messages begin, which is all that a list needs of most of them; everything else is parsed.
const OWN_MESSAGE =
  /^\{"type":"message","id":"([^"]*)","parentId":(?:null|"[^"]*"),"timestamp":"([^"]*)","message":\{"role":"(user|assistant|tool_result)"/;
const OWN_PREFIX_LENGTH = 200;
const OWN_END = /,"timestamp":\d+\}\}$/;
const OWN_END_LENGTH = 40;
const MAX_TEXT_LENGTH = 1000;

/** What a list shows of a session, taken from its lines one by one. */
export class SessionSummary {
  private header: SessionHeader | undefined;
  private firstMessage: SessionEntry | undefined;
  private name: string | undefined;
  private firstUserMessage: string | undefined;
  private messageCount = 0;
  private modified: Date | undefined;
  private lines = 0;
  private lastId: string | undefined;

  constructor(private readonly path: string) {}

  /** True once there have been so many lines that the file is taken for something else. */
  get isNoSession(): boolean {
    return !this.header && !this.firstMessage && this.lines > MAX_LINES_OF_NO_SESSION;
  }

  /** True for the beginning of a line whose rest makes no difference. */
  readonly isBeginningEnough = (beginning: string): boolean => this.readOwnMessage(beginning) !== undefined;

  /** @throws SessionFileError for a newer version. */
  add({ text, isComplete, isCut }: FileLine): void {
    this.lines++;
    const message = this.readOwnMessage(text);
    if (message && (isCut || (isComplete && isWhole(text)))) {
      this.countMessage(message);
      return;
    }
    const line = parseSessionLine(text);
    for (const part of line ? [line] : parseDamagedLine(text)) this.take(part);
  }

  /** @param fileModified when the file was written last; for a session whose own dates are damaged. */
  toInfo(fileModified: Date): SessionInfo | undefined {
    const header = this.header ?? (this.firstMessage && recoverHeader([this.firstMessage], this.path));
    if (!header) return undefined;
    const created = toDate(header.timestamp);
    return {
      id: header.id,
      path: this.path,
      cwd: header.cwd,
      ...(this.name !== undefined && { name: this.name }),
      created: created ?? this.modified ?? fileModified,
      modified: this.modified ?? created ?? fileModified,
      messageCount: this.messageCount,
      ...(this.firstUserMessage !== undefined && { firstUserMessage: this.firstUserMessage }),
      ...(header.parentSession !== undefined && { parentSession: header.parentSession }),
    };
  }

  /** A message of ours that has no more to tell than this; undefined for any other line. */
  private readOwnMessage(text: string): Pick<SessionEntry, "id" | "timestamp"> | undefined {
    const match = this.header && OWN_MESSAGE.exec(text.slice(0, OWN_PREFIX_LENGTH));
    if (!match) return undefined;
    const [, id = "", timestamp = "", role] = match;
    return role === "user" && this.firstUserMessage === undefined ? undefined : { id, timestamp };
  }

  private take(line: ParsedLine): void {
    if (line.kind === "header") this.header ??= readHeader(line.value, this.path);
    if (line.kind === "entry") this.takeEntry(line.entry);
  }

  private takeEntry(entry: SessionEntry): void {
    if (entry.type === "session_info") this.name = entry.name?.trim() ? entry.name : undefined;
    if (entry.type !== "message") {
      this.modified = toDate(entry.timestamp) ?? this.modified;
      return;
    }
    this.firstMessage ??= entry;
    this.countMessage(entry);
    if (entry.message.role !== "user" || this.firstUserMessage !== undefined) return;
    const text = messageText(entry.message).trim();
    if (text !== "") this.firstUserMessage = shorten(text);
  }

  private countMessage({ id, timestamp }: Pick<SessionEntry, "id" | "timestamp">): void {
    // A line whose newline could not be written is written twice.
    if (id !== this.lastId) this.messageCount++;
    this.lastId = id;
    this.modified = toDate(timestamp) ?? this.modified;
  }
}

const PARENT = '"parentId":';

/** False for a line that was torn, zeroed or run together with another one: it is looked at more closely then. */
function isWhole(text: string): boolean {
  const isOne = text.indexOf(PARENT, text.indexOf(PARENT) + 1) < 0;
  return isOne && OWN_END.test(text.slice(-OWN_END_LENGTH)) && !text.includes("\0");
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text;
}

function toDate(timestamp: string): Date | undefined {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
