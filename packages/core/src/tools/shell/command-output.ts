import type { SpoolFile } from "../../infrastructure/processes/spool-file.ts";
import { formatBytes } from "../target/format-bytes.ts";
import { ByteRing } from "./byte-ring.ts";
import { countNewlines, headOf, tailOf, toOutputText } from "./output-text.ts";

// Below the limits of a tool result (50 KB, 2,000 lines), so that the notes around the output fit too.
const WHOLE = { maxBytes: 49 * 1024, maxLines: 1_980 };
// The end says how it went, the beginning what was done.
const HEAD = { maxBytes: 16 * 1024, maxLines: 600 };
const TAIL = { maxBytes: 32 * 1024, maxLines: 1_360 };

const LATEST = { maxBytes: 4 * 1024, maxLines: 20 };

/**
 * Collects the output of a command in bounded memory: all of it while it is short, else its beginning and its end, with
 * the whole in a file.
 */
export class CommandOutput {
  private readonly first: Uint8Array[] = [];
  private firstBytes = 0;
  private ring: ByteRing | undefined;
  private spool: SpoolFile | undefined;
  private totalBytes = 0;
  private totalLines = 0;

  /** @param openSpool is called once, when the output has become too long to be shown. */
  constructor(private readonly openSpool: () => SpoolFile | undefined) {}

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

  /** The newest output, for a screen. */
  latest(): string {
    const bytes = this.ring?.read(LATEST.maxBytes) ?? Buffer.concat(this.first);
    return toOutputText(tailOf(bytes, LATEST));
  }

  /** The path of the file that holds the whole output, where there is one. */
  get path(): string | undefined {
    return this.spool?.path;
  }

  /** The output for the model. To be called once, at the end. */
  finish(): string {
    this.spool?.close();
    const start = Buffer.concat(this.first);
    if (!this.ring) return toOutputText(start);
    const head = headOf(start, HEAD);
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
    return `[${amount} left out here; ${this.whereabouts()}]`;
  }

  private whereabouts(): string {
    if (!this.spool) return "it was not kept";
    const { path, failure } = this.spool;
    return failure === undefined ? `whole output: ${path}` : `the output, ${failure}, is in ${path}`;
  }
}

/** Text can be longer than its bytes, where these are no UTF-8; it is cut once more then. */
function bounded(bytes: Buffer, limits: typeof HEAD): string {
  const text = toOutputText(bytes).replace(/\n$/, "");
  return Buffer.byteLength(text) <= limits.maxBytes ? text : headOf(Buffer.from(text), limits).toString();
}
