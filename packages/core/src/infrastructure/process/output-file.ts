import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemErrorText } from "../system-error.ts";

// More than this is no output that somebody reads: it would only fill the disk.
const MAX_BYTES = 100 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/** A piece of an output, and its position in that. */
export interface OutputPiece {
  at: number;
  bytes: Uint8Array;
}

/** Where a part of the output lies: `at` counts from its beginning, `position` from that of the file. */
interface Part {
  file: number;
  path: string;
  at: number;
  position: number;
  bytes: number;
}

/**
 * A new private file (0600) that takes an output too long to show: all of it up to 100 MB, otherwise its first and its
 * last part. While it is written, these are files of their own; `close` makes one of them.
 */
export class OutputFile {
  /** What kept it from being written to the end. */
  private failure: string | undefined;
  private total = 0;
  private readonly parts: Part[];
  private readonly headBytes: number;
  private readonly segmentBytes: number;
  private segments = 0;

  private constructor(
    readonly path: string,
    maxBytes: number,
  ) {
    this.headBytes = Math.floor(maxBytes / 2);
    // Two of them hold the end: the older one goes when the newer one is full.
    this.segmentBytes = Math.floor(maxBytes / 4);
    this.parts = [openPart(path, 0)];
  }

  /** @param name is made safe as a file name. Returns undefined when no file can be made there. */
  static create(directory: string, name: string, maxBytes: number = MAX_BYTES): OutputFile | undefined {
    const safe = name.replace(/[^\w-]/g, "_").slice(0, 60);
    try {
      return new OutputFile(join(directory, `${safe}-${crypto.randomUUID().slice(0, 8)}.txt`), maxBytes);
    } catch {
      // The output is only truncated then; its note names no file.
      return undefined;
    }
  }

  /** Everything that was written, what was left out included. */
  get totalBytes(): number {
    return this.total;
  }

  /** What is missing of the output in it, in words; undefined where it is whole. */
  get shortfall(): string | undefined {
    if (this.failure !== undefined) return `not all of it, ${this.failure}`;
    const megabytes = Math.ceil(this.omittedBytes / 1024 / 1024);
    return megabytes > 0 ? `without ${megabytes} MB from its middle` : undefined;
  }

  /** What is missing between the first and the last part. */
  get omittedBytes(): number {
    const [head, next] = this.parts;
    return head && next ? next.at - (head.at + head.bytes) : 0;
  }

  write(chunk: Uint8Array): void {
    if (this.failure !== undefined || this.parts[0]?.file === -1) return;
    try {
      for (let rest = chunk; rest.length > 0; ) rest = rest.subarray(this.writePart(rest));
    } catch (error) {
      this.failure = systemErrorText(error);
      this.close();
    }
  }

  /** What is there of the output from a position on, in pieces; each is used before the next one is asked for. */
  *read(from: number): Generator<OutputPiece> {
    const piece = new Uint8Array(PIECE_BYTES);
    for (const { path, at, position, bytes } of this.parts) {
      const file = openSync(path, "r");
      try {
        for (let offset = Math.max(0, from - at); offset < bytes; ) {
          const length = Math.min(PIECE_BYTES, bytes - offset);
          const read = readSync(file, piece, 0, length, position + offset);
          if (read === 0) break;
          yield { at: at + offset, bytes: piece.subarray(0, read) };
          offset += read;
        }
      } finally {
        closeSync(file);
      }
    }
  }

  /** Puts the parts together. Nothing may be written after this. */
  close(): void {
    const [head, ...tail] = this.parts;
    if (head === undefined || head.file === -1) return;
    const { omittedBytes } = this;
    try {
      if (tail.length > 0) {
        const mark = omittedBytes > 0 ? `\n[${omittedBytes} bytes left out here]\n` : "";
        let position = head.bytes + writeSync(head.file, mark);
        for (const part of tail) position += this.append(part, { to: head, position });
      }
    } catch (error) {
      // They stay where they are.
      this.failure ??= systemErrorText(error);
    }
    for (const part of this.parts) {
      if (part.file !== -1) closeSync(part.file);
      part.file = -1;
    }
  }

  /** Removes it. */
  remove(): void {
    this.close();
    for (const { path } of this.parts) rmSync(path, { force: true });
  }

  private writePart(chunk: Uint8Array): number {
    let part = this.parts.at(-1);
    const isHead = this.parts.length === 1;
    if (part === undefined || part.bytes >= (isHead ? this.headBytes : this.segmentBytes)) {
      part = this.startSegment();
    }
    const room = (this.parts.length === 1 ? this.headBytes : this.segmentBytes) - part.bytes;
    const written = writeSync(part.file, chunk.subarray(0, room));
    part.bytes += written;
    this.total += written;
    return written;
  }

  private startSegment(): Part {
    const [, older, newer] = this.parts;
    if (older && newer) {
      closeSync(older.file);
      rmSync(older.path, { force: true });
      this.parts.splice(1, 1);
    }
    this.segments += 1;
    const part = openPart(`${this.path}.${this.segments}`, this.total);
    this.parts.push(part);
    return part;
  }

  /** Moves a part behind what is there; returns its length. */
  private append(part: Part, { to, position }: { to: Part; position: number }): number {
    const piece = new Uint8Array(PIECE_BYTES);
    const file = openSync(part.path, "r");
    try {
      for (let offset = 0; offset < part.bytes; ) {
        const read = readSync(file, piece, 0, PIECE_BYTES, offset);
        if (read === 0) break;
        writeSync(to.file, piece.subarray(0, read));
        offset += read;
      }
    } finally {
      closeSync(file);
    }
    rmSync(part.path, { force: true });
    Object.assign(part, { path: to.path, position });
    return part.bytes;
  }
}

function openPart(path: string, at: number): Part {
  return { file: openSync(path, "wx", 0o600), path, at, position: 0, bytes: 0 };
}
