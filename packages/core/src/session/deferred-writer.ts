import { JsonlWriter } from "../infrastructure/jsonl-writer.ts";
import { toFileLine } from "./file-line.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

export interface DeferredWriterOptions {
  path: string;
  header: SessionHeader;
  /** Set to go on in a file that exists: its size when it was read. */
  existingSize?: number | undefined;
  /** Called when saving fails, once until it works again. The entries wait in memory and are tried again. */
  onFailure?: ((error: Error) => void) | undefined;
  /** Called once when another process adds to the same file. */
  onForeignWrite?: (() => void) | undefined;
}

/**
 * Writes a session's entries to its file. Nothing is written before the first assistant message or `flush`, so that
 * a session without an answer leaves no file behind by itself.
 */
export class DeferredWriter {
  private readonly file: JsonlWriter;
  private readonly pending: (SessionHeader | SessionEntry)[];
  private started: boolean;
  private failing = false;

  constructor(private readonly options: DeferredWriterOptions) {
    const { path, header, existingSize, onForeignWrite } = options;
    this.file = new JsonlWriter(path, { expectedSize: existingSize, onForeignWrite });
    this.started = existingSize !== undefined;
    this.pending = this.started ? [] : [header];
  }

  get path(): string {
    return this.file.path;
  }

  /** True once everything so far is in the file. */
  get isFlushed(): boolean {
    return this.started && this.pending.length === 0;
  }

  write(entry: SessionEntry): void {
    this.pending.push(entry);
    if (this.started || (entry.type === "message" && entry.message.role === "assistant")) this.flush();
  }

  /** Writes everything that waits, the header first. */
  flush(): void {
    this.started = true;
    try {
      for (let next = this.pending[0]; next; next = this.pending[0]) {
        this.file.append(toFileLine(next));
        this.pending.shift();
      }
      this.failing = false;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Waits for the disk; called at the end of each turn, since it takes longer than a write. */
  sync(): void {
    try {
      this.file.sync();
    } catch (error) {
      this.fail(error);
    }
  }

  close(): void {
    this.file.close();
  }

  private fail(error: unknown): void {
    if (this.failing) return;
    this.failing = true;
    this.options.onFailure?.(error instanceof Error ? error : new Error(String(error)));
  }
}
