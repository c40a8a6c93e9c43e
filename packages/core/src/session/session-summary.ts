import type { FileLine } from "../infrastructure/reading/line-reader.ts";
import { messageText } from "../types.ts";
import { EntryTally, toDate } from "./entry-tally.ts";
import { isWholeMessage, type OwnMessage, readOwnMessage } from "./own-message-line.ts";
import { type ParsedLine, parseDamagedLine, parseSessionLine } from "./parse-line.ts";
import { MAX_LINES_OF_NO_SESSION, readHeader, recoverHeader } from "./session-header.ts";
import type { SessionEntry, SessionHeader, SessionInfo } from "./types.ts";

const MAX_TEXT_LENGTH = 1000;

/** What a list shows of a session, taken from its lines one by one. */
export class SessionSummary {
  private header: SessionHeader | undefined;
  private firstMessage: SessionEntry | undefined;
  private name: string | undefined;
  private firstUserMessage: string | undefined;
  private readonly tally = new EntryTally();
  private lines = 0;

  constructor(private readonly path: string) {}

  /** True once there have been so many lines that the file is taken for something else. */
  get isNoSession(): boolean {
    return !this.header && !this.firstMessage && this.lines > MAX_LINES_OF_NO_SESSION;
  }

  /** True for the beginning of a line whose rest makes no difference. */
  isBeginningEnough(beginning: string): boolean {
    return this.readCountedMessage(beginning) !== undefined;
  }

  /** @throws SessionFileError for a newer version. */
  add({ text, isComplete, isCut }: FileLine): void {
    this.lines++;
    const message = this.readCountedMessage(text);
    if (message && (isCut || (isComplete && isWholeMessage(text)))) {
      this.tally.addMessage(message);
      return;
    }
    const line = parseSessionLine(text);
    for (const part of line ? [line] : parseDamagedLine(text)) this.take(part);
  }

  /** @param fileModified when the file was written last; for a session whose own dates are damaged. */
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
    };
  }

  /** A message of ours that only counts: it has no more to tell than its beginning. Undefined for any other line. */
  private readCountedMessage(text: string): OwnMessage | undefined {
    const message = this.header && readOwnMessage(text);
    return message?.isUserMessage && this.firstUserMessage === undefined ? undefined : message;
  }

  private take(line: ParsedLine): void {
    if (line.kind === "header") this.header ??= readHeader(line.value, this.path);
    if (line.kind === "entry") this.takeEntry(line.entry);
  }

  private takeEntry(entry: SessionEntry): void {
    if (entry.type === "session_info") this.name = entry.name?.trim() ? entry.name : undefined;
    if (entry.type !== "message") {
      this.tally.addChange(entry.timestamp);
      return;
    }
    this.firstMessage ??= entry;
    this.tally.addMessage(entry);
    if (entry.message.role !== "user" || this.firstUserMessage !== undefined) return;
    const text = messageText(entry.message).trim();
    if (text !== "") this.firstUserMessage = shorten(text);
  }
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text;
}
