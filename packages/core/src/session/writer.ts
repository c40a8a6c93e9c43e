import { join } from "node:path";
import { JsonlWriter } from "../infrastructure/fs/jsonl-writer.ts";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import type { SessionFile } from "./read-file.ts";
import { createHeader } from "./session-header.ts";
import { type SessionEntry, type SessionHeader, toFileLine } from "./types.ts";

/** The options of a writer and its notifications. */
export interface DeferredWriterOptions {
  /** The file to continue; a new one is created when left out. */
  file?: SessionFile | undefined;
  /** For a new file; created by default. */
  header?: SessionHeader | undefined;
  /** Called when saving fails, once until saving works again. Without it, the error is thrown. */
  onFailure?: ((error: Error) => void) | undefined;
  /** Called once when another process adds to the conversation in the same file. */
  onForeignWrite?: (() => void) | undefined;
  /** Called when the file had to be recreated because it was deleted while it was open. */
  onRestored?: (() => void) | undefined;
  /** Recreates the directory if it was deleted. */
  restoreDirectory?: (() => void) | undefined;
}

type Line = SessionHeader | SessionEntry;

// A copied conversation is written in pieces, not as one string.
const LINES_AT_ONCE = 16;

/**
 * Writes a session's entries to its file. Nothing is written before the first assistant message or `flush`, so that
 * a session without an answer leaves no file. Lines that cannot be written wait in memory and are retried with the
 * next entry.
 */
export class DeferredWriter {
  private readonly file: JsonlWriter;
  /** All lines of the file, so that it can be recreated. */
  private readonly lines: Line[];
  /** How many of `lines` are in the file. */
  private written = 0;
  private isStarted = false;
  private isForeignWriteReported = false;
  private hasForeignLines = false;
  private readonly failing = new Set<string>();

  constructor(
    sessionsDir: string,
    cwd: string,
    private readonly options: DeferredWriterOptions = {},
  ) {
    const { file, header = file?.header ?? createHeader({ cwd }) } = options;
    this.lines = [header, ...(file?.entries ?? [])];
    this.file = new JsonlWriter(file?.path ?? join(sessionsDir, `${header.id}.jsonl`), {
      expectedSize: file?.size,
      onForeignWrite: (text) => this.noteForeignWrite(text),
    });
    if (!file) return;
    this.written = this.lines.length;
    this.isStarted = true;
  }

  /** The file's path, once everything so far is in it. */
  get path(): string | null {
    return this.isFlushed ? this.file.path : null;
  }

  /** True once everything so far is in the file. */
  get isFlushed(): boolean {
    return this.isStarted && this.written === this.lines.length;
  }

  /** True when others have added to the file since it was read, or since their entries were adopted. */
  get hasGrown(): boolean {
    return this.hasForeignLines || this.file.hasGrown();
  }

  /** Adopts the entries of other processes. `size`: the bytes of the file they were read from. */
  adopt(entries: readonly SessionEntry[], size: number): void {
    this.lines.push(...entries);
    this.written = this.lines.length;
    this.file.expectSize(size);
    this.hasForeignLines = false;
  }

  /** Appends an entry. @throws Error when it cannot be saved and there is no `onFailure`. */
  write(entry: SessionEntry): void {
    this.lines.push(entry);
    if (this.isStarted || (entry.type === "message" && entry.message.role === "assistant")) this.flush();
  }

  /**
   * Writes everything pending, the header first; returns the file's path if all of it was written, else null.
   * @throws Error like `write`.
   */
  flush(): string | null {
    this.isStarted = true;
    if (this.written < this.lines.length) this.attempt("write", () => this.writeWaiting());
    return this.path;
  }

  /** Syncs the file to disk; called at the end of a run, since it takes longer than a write. */
  sync(): void {
    this.attempt("sync", () => this.file.sync());
  }

  /** Starts syncing the file in the background; called at the end of each turn. */
  syncInBackground(): void {
    this.file.syncInBackground().then(
      () => this.failing.delete("sync"),
      (error: unknown) => {
        // Without a listener, the next `sync` retries and throws.
        if (this.options.onFailure) this.noteFailure("sync", error);
      },
    );
  }

  close(): void {
    this.file.close();
  }

  private writeWaiting(): void {
    try {
      this.appendWaiting();
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT" || !this.options.restoreDirectory) throw error;
      this.options.restoreDirectory();
      this.appendWaiting();
    }
  }

  private appendWaiting(): void {
    if (this.written > 0 && this.file.isEmpty()) {
      this.written = 0;
      this.options.onRestored?.();
    }
    while (this.written < this.lines.length) {
      const next = this.lines.slice(this.written, this.written + LINES_AT_ONCE);
      this.written += this.file.append(...next.map(toFileLine));
    }
  }

  private noteForeignWrite(text: string): void {
    this.hasForeignLines = true;
    if (this.isForeignWriteReported || !text.split("\n").some(isMessageLine)) return;
    this.isForeignWriteReported = true;
    this.options.onForeignWrite?.();
  }

  private attempt(what: string, work: () => void): void {
    try {
      work();
      this.failing.delete(what);
    } catch (error) {
      this.noteFailure(what, error);
    }
  }

  private noteFailure(what: string, error: unknown): void {
    const { onFailure } = this.options;
    if (!onFailure || !(error instanceof Error)) throw error;
    if (!this.failing.has(what)) onFailure(error);
    this.failing.add(what);
  }
}

/** Other lines, such as the session's name, are not part of the conversation. */
function isMessageLine(text: string): boolean {
  // The parser is loaded when another process has written lines: synchronously, since a writer does not wait.
  const { parseSessionLine }: typeof import("./parse-line.ts") = require("./parse-line.ts");
  const line = parseSessionLine(text);
  return line?.kind === "entry" && line.entry.type === "message";
}
