import { closeSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { ByteRing } from "../infrastructure/process/byte-ring.ts";
import type { OutputFile, OutputPiece } from "../infrastructure/process/output-file.ts";

/** The output of a job; positions count its bytes from the beginning. */
export interface JobOutput {
  readonly totalBytes: number;
  /** The file with the output; undefined if none could be created. */
  readonly path: string | undefined;
  /** Describes the missing part of the file. */
  readonly shortfall: string | undefined;
  /** The stored output from a position on, in pieces; each is used before the next one is requested. */
  read(from: number): Iterable<OutputPiece>;
  /** The last line that is not empty; an empty text if there is none. */
  lastLine(): string;
  /** Called when the output is complete. */
  close(): void;
  /** Removes the stored output. */
  remove(): void;
}

const RECENT_BYTES = 64 * 1024;
const LAST_LINE_BYTES = 2 * 1024;

/** The output of a job that this program reads: in a file, or the last 64 KB of it in memory. */
export class CollectedOutput implements JobOutput {
  private readonly recent = new ByteRing(RECENT_BYTES);

  /**
   * @param file contains the job's output so far.
   *
   * @param before the end of that output, and its length.
   */
  constructor(
    private readonly file: OutputFile | undefined,
    before: { end: Uint8Array; totalBytes: number },
  ) {
    this.recent.write(before.end);
    this.totalBytes = before.totalBytes;
  }

  totalBytes: number;

  get path(): string | undefined {
    return this.file?.path;
  }

  get shortfall(): string | undefined {
    return this.file?.shortfall;
  }

  add(chunk: Uint8Array): void {
    this.totalBytes += chunk.length;
    this.recent.write(chunk);
    this.file?.write(chunk);
  }

  read(from: number): Iterable<OutputPiece> {
    // On a full disk, only the newest output is kept, in memory.
    if (this.file && this.file.totalBytes === this.totalBytes) return this.file.read(from);
    const bytes = this.recent.read(Math.max(0, this.totalBytes - from));
    return [{ at: this.totalBytes - bytes.length, bytes }];
  }

  lastLine(): string {
    return lastLineOf(this.recent.read(LAST_LINE_BYTES));
  }

  close(): void {
    this.file?.close();
  }

  remove(): void {
    this.file?.remove();
  }
}

/** The output of a job that writes to a file itself, since it outlives this program. */
export class LoggedOutput implements JobOutput {
  readonly shortfall = undefined;

  constructor(readonly path: string) {}

  get totalBytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  *read(from: number): Generator<OutputPiece> {
    const piece = new Uint8Array(RECENT_BYTES);
    const file = openSync(this.path, "r");
    try {
      for (let position = from; ; ) {
        const read = readSync(file, piece, 0, RECENT_BYTES, position);
        if (read === 0) return;
        yield { at: position, bytes: piece.subarray(0, read) };
        position += read;
      }
    } finally {
      closeSync(file);
    }
  }

  lastLine(): string {
    try {
      const pieces = [...this.read(Math.max(0, this.totalBytes - LAST_LINE_BYTES))];
      return lastLineOf(pieces[0]?.bytes ?? new Uint8Array());
    } catch {
      return ""; // Somebody has removed the file.
    }
  }

  close(): void {}

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function lastLineOf(bytes: Uint8Array): string {
  const text = Bun.stripANSI(new TextDecoder().decode(bytes));
  const lines = text.split(/[\n\r]/).map((line) => line.trim());
  return lines.findLast((line) => line !== "") ?? "";
}
