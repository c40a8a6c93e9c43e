import { rmSync } from "node:fs";
import { ByteRing } from "../infrastructure/process/byte-ring.ts";
import { listLogParts, readDetachedLog } from "../infrastructure/process/detached-log.ts";
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

/** The output of a job that outlives this program: another process writes it to files. */
export class LoggedOutput implements JobOutput {
  constructor(readonly path: string) {}

  get totalBytes(): number {
    const last = listLogParts(this.path).at(-1);
    return last === undefined ? 0 : last.at + last.bytes;
  }

  get shortfall(): string | undefined {
    const [first, second] = listLogParts(this.path);
    const omittedBytes = first && second ? second.at - first.bytes : 0;
    const megabytes = Math.ceil(omittedBytes / 1024 / 1024);
    return megabytes > 0
      ? `without ${megabytes} MB from its middle, continued in files beside it`
      : undefined;
  }

  read(from: number): Iterable<OutputPiece> {
    return readDetachedLog(this.path, from);
  }

  lastLine(): string {
    const pieces = [...this.read(Math.max(0, this.totalBytes - LAST_LINE_BYTES))];
    return lastLineOf(Buffer.concat(pieces.map(({ bytes }) => Uint8Array.from(bytes))));
  }

  close(): void {}

  remove(): void {
    for (const { path } of listLogParts(this.path)) rmSync(path, { force: true });
  }
}

function lastLineOf(bytes: Uint8Array): string {
  const text = Bun.stripANSI(new TextDecoder().decode(bytes));
  const lines = text.split(/[\n\r]/).map((line) => line.trim());
  return lines.findLast((line) => line !== "") ?? "";
}
