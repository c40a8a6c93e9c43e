import { join } from "node:path";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import { JsonlWriter } from "../infrastructure/writing/jsonl-writer.ts";
import { toFileLine } from "./file-line.ts";
import type { SessionFile } from "./read-session-file.ts";
import { createHeader } from "./session-header.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

/** What a writer goes on with, and whom it tells. */
export interface DeferredWriterOptions {
  /** The file to go on in; a new one is begun when it is left out. */
  file?: SessionFile | undefined;
  /** For a new file; made when left out. */
  header?: SessionHeader | undefined;
  /** Called when saving fails, once until it works again. Without it, the error is thrown. */
  onFailure?: ((error: Error) => void) | undefined;
  /** Called once when another process adds to the conversation in the same file. */
  onForeignWrite?: (() => void) | undefined;
  /** Called when the file had to be written anew, since it was removed while it was open. */
  onRestored?: (() => void) | undefined;
  /** Makes the directory again when it is gone. */
  restoreDirectory?: (() => void) | undefined;
}

type Line = SessionHeader | SessionEntry;

// A long conversation that is copied goes to the disk in pieces, not as one text.
const LINES_AT_ONCE = 16;

/**
 * Writes a session's entries to its file. Nothing is written before the first assistant message or `flush`, so that
 * a session without an answer leaves no file behind by itself. What cannot be written waits in memory and is tried
 * again with the next entry.
 */
export class DeferredWriter {
  private readonly file: JsonlWriter;
  /** The whole file's, so that it can be written anew. */
  private readonly lines: Line[];
  /** How many of `lines` are in the file. */
  private written = 0;
  private isStarted = false;
  private isForeignWriteTold = false;
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

  /** Others' entries are ours too from now on. `size`: the bytes of the file they were read from. */
  adopt(entries: readonly SessionEntry[], size: number): void {
    this.lines.push(...entries);
    this.written = this.lines.length;
    this.file.expectSize(size);
    this.hasForeignLines = false;
  }

  /** Adds an entry behind those so far. @throws Error when it cannot be saved and there is no `onFailure`. */
  write(entry: SessionEntry): void {
    this.lines.push(entry);
    if (this.isStarted || (entry.type === "message" && entry.message.role === "assistant")) this.flush();
  }

  /**
   * Writes everything that waits, the header first; returns the file's path when all of it is there, else null.
   * @throws Error as `write` does.
   */
  flush(): string | null {
    this.isStarted = true;
    if (this.written < this.lines.length) this.attempt("write", () => this.writeWaiting());
    return this.path;
  }

  /** Waits for the disk; called at the end of a run, since it takes longer than a write. */
  sync(): void {
    this.attempt("sync", () => this.file.sync());
  }

  /** Has the disk take what there is, beside everything else; called at the end of each turn. */
  syncBeside(): void {
    this.file.syncBeside().then(
      () => this.failing.delete("sync"),
      (error: unknown) => {
        // Where nobody is told, the next `sync` tries it again and throws.
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
    if (this.isForeignWriteTold || !text.split("\n").some(isMessageLine)) return;
    this.isForeignWriteTold = true;
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

/** A name that somebody gave the session, for instance, is no part of the conversation. */
function isMessageLine(text: string): boolean {
  // Reading lines is loaded where another process has written some: at once, since a writer waits for nothing.
  const { parseSessionLine }: typeof import("./parse-line.ts") = require("./parse-line.ts");
  const line = parseSessionLine(text);
  return line?.kind === "entry" && line.entry.type === "message";
}
