import { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import type { OutputFile } from "../../infrastructure/process/output-file.ts";
import { formatBytes } from "../target.ts";

// Below the limits of a tool result (50 KB, 2,000 lines), to leave room for the notes around the output.
const WHOLE = { maxBytes: 49 * 1024, maxLines: 1_980 };
// The end contains the result, the beginning the steps before.
const HEAD = { maxBytes: 16 * 1024, maxLines: 600 };
const TAIL = { maxBytes: 32 * 1024, maxLines: 1_360 };

const LATEST = { maxBytes: 4 * 1024, maxLines: 20 };

/** Where a long output is kept. */
export type KeptOutput = Pick<OutputFile, "write" | "close" | "path" | "shortfall">;

/**
 * Collects the output of a command in bounded memory: all of it while it is short, otherwise its beginning and end, and
 * the complete output in a file.
 */
export class CommandOutput<Kept extends KeptOutput = KeptOutput> {
  private readonly first: Uint8Array[] = [];
  private firstBytes = 0;
  private ring: ByteRing | undefined;
  private spool: Kept | undefined;
  private totalBytes = 0;
  private totalLines = 0;

  /** @param openSpool called once, when the output has become too long to be shown. */
  constructor(private readonly openSpool: () => Kept | undefined) {}

  add(chunk: Uint8Array): void {
    this.totalBytes += chunk.length;
    this.totalLines += countNewlines(chunk);
    if (this.ring) {
      this.ring.write(chunk);
      this.spool?.write(chunk);
      return;
    }
    this.first.push(chunk);
    this.firstBytes += chunk.length;
    if (this.totalBytes > WHOLE.maxBytes || this.totalLines > WHOLE.maxLines) this.overflow();
  }

  /** The newest output, for display. */
  latest(): string {
    const bytes = this.ring?.read(LATEST.maxBytes) ?? Buffer.concat(this.first);
    return toOutputText(tailOf(bytes, LATEST));
  }

  /** The path of the file with the complete output, if there is one. */
  get path(): string | undefined {
    return this.spool?.path;
  }

  /** The output for the model. Call this once, at the end. */
  finish(): string {
    this.spool?.close();
    return this.describe();
  }

  /**
   * The output so far for the model, with what keeps all of it from now on. Call this in place of `finish` for a command
   * that continues.
   */
  handOver(): { text: string; kept: Kept | undefined; end: Uint8Array; totalBytes: number } {
    if (!this.ring) {
      this.spool = this.openSpool();
      for (const chunk of this.first) this.spool?.write(chunk);
    }
    const end = this.ring?.read() ?? Buffer.concat(this.first);
    return { text: this.describe(), kept: this.spool, end, totalBytes: this.totalBytes };
  }

  private describe(): string {
    const start = Buffer.concat(this.first);
    if (!this.ring) return toOutputText(start);
    const head = headOfOutput(start, HEAD);
    const tail = tailOf(this.ring.read(), TAIL);
    return `${bounded(head, HEAD)}\n${this.omission(head, tail)}\n${bounded(tail, TAIL)}`;
  }

  private overflow(): void {
    this.ring = new ByteRing(TAIL.maxBytes);
    this.spool = this.openSpool();
    for (const chunk of this.first) {
      this.ring.write(chunk);
      this.spool?.write(chunk);
    }
    const head = Buffer.concat(this.first).subarray(0, HEAD.maxBytes + 1);
    this.first.splice(0, this.first.length, Buffer.from(head));
  }

  private omission(head: Buffer, tail: Buffer): string {
    const bytes = this.totalBytes - head.length - tail.length;
    const lines = this.totalLines - countNewlines(head) - countNewlines(tail);
    const amount =
      lines > 0 ? `${lines.toLocaleString("en")} lines, ${formatBytes(bytes)}` : formatBytes(bytes);
    return `[${amount} omitted here; ${this.describeFile()}]`;
  }

  private describeFile(): string {
    if (!this.spool) return "it was not saved";
    const { path, shortfall } = this.spool;
    return shortfall === undefined ? `complete output: ${path}` : `the output, ${shortfall}, is in ${path}`;
  }
}

/** Text can be longer than its bytes if these are not UTF-8; it is truncated again then. */
function bounded(bytes: Buffer, limits: typeof HEAD): string {
  const text = toOutputText(bytes).replace(/\n$/, "");
  return Buffer.byteLength(text) <= limits.maxBytes
    ? text
    : headOfOutput(Buffer.from(text), limits).toString();
}

/**
 * Converts the output of a command into text for the model: colors and cursor movements are removed, a line
 * overwritten by carriage returns keeps its last state, a NUL becomes `␀`, bytes that are not UTF-8 become `�`.
 */
export function toOutputText(bytes: Uint8Array): string {
  const decoded = Bun.stripANSI(new TextDecoder().decode(bytes)).replaceAll("\0", "␀");
  if (!decoded.includes("\r")) return decoded;
  return decoded.split("\n").map(lastState).join("\n");
}

function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  return line.split("\r").findLast((state) => state !== "") ?? "";
}

/** The longest beginning of `bytes` within both limits; it ends at a line ending if there is one in its second half. */
export function headOfOutput(
  bytes: Buffer,
  { maxBytes, maxLines }: { maxBytes: number; maxLines: number },
): Buffer {
  let end = 0;
  for (let line = 0; line < maxLines; line++) {
    const next = bytes.indexOf(NEWLINE, end);
    if (next === -1 && bytes.length <= maxBytes) return bytes;
    if (next === -1 || next >= maxBytes) break;
    end = next + 1;
    if (line === maxLines - 1) return bytes.subarray(0, end);
  }
  if (end > maxBytes / 2) return bytes.subarray(0, end);
  return bytes.subarray(0, characterStart(bytes, Math.min(maxBytes, bytes.length)));
}

/**
 * The longest end of `bytes` within both limits; it starts at the beginning of a line if there is one in its first
 * half.
 */
export function tailOf(
  bytes: Buffer,
  { maxBytes, maxLines }: { maxBytes: number; maxLines: number },
): Buffer {
  let start = Math.max(0, bytes.length - maxBytes);
  const lineEnd = bytes.indexOf(NEWLINE, start);
  if (start > 0 && lineEnd !== -1 && lineEnd < start + maxBytes / 2) start = lineEnd + 1;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.subarray(Math.max(start, startOfLastLines(bytes, maxLines)));
}

/** Counts LF only, without making a string of the bytes. */
function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === NEWLINE) count++;
  return count;
}

const NEWLINE = 0x0a;

// A character takes at most four bytes, three of them continuations.
const MAX_CONTINUATIONS = 3;

function startOfLastLines(bytes: Buffer, maxLines: number): number {
  let start = bytes.length - (bytes.at(-1) === NEWLINE ? 1 : 0);
  for (let line = 0; line < maxLines && start > 0; line++) start = bytes.lastIndexOf(NEWLINE, start - 1);
  return start <= 0 ? 0 : start + 1;
}

/** The last position up to `end` at which a character starts; `end` itself if the bytes are not UTF-8. */
function characterStart(bytes: Buffer, end: number): number {
  for (let back = 0; back <= MAX_CONTINUATIONS && end - back > 0; back++) {
    if (!isContinuation(bytes[end - back])) return end - back;
  }
  return end;
}

/** The second to fourth bytes of a UTF-8 character have the bits 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
