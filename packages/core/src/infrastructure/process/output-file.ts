import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemErrorText } from "../system-error.ts";

// A longer output is not read by anyone and would only fill the disk.
const MAX_SPOOL_BYTES = 100 * 1024 * 1024;

/** A new private file (0600) for an output that is too long to show. It takes up to 100 MB; the rest is dropped. */
export class SpoolFile {
  private written = 0;
  private file: number | undefined;
  /** The reason why the file is incomplete. */
  failure: string | undefined;

  private constructor(
    readonly path: string,
    private readonly maxBytes: number,
  ) {
    this.file = openSync(path, "wx", 0o600);
  }

  /** @param name is converted to a safe file name. Returns undefined when the file cannot be created. */
  static create(directory: string, name: string, maxBytes: number = MAX_SPOOL_BYTES): SpoolFile | undefined {
    const safe = name.replace(/[^\w-]/g, "_").slice(0, 60);
    try {
      return new SpoolFile(join(directory, `${safe}-${crypto.randomUUID().slice(0, 8)}.txt`), maxBytes);
    } catch {
      // The output is only truncated then; its note names no file.
      return undefined;
    }
  }

  write(chunk: Uint8Array): void {
    if (this.file === undefined) return;
    try {
      const part = chunk.subarray(0, this.maxBytes - this.written);
      this.written += writeSync(this.file, part);
      if (part.length < chunk.length)
        this.stop(`only its first ${Math.floor(this.maxBytes / 1024 / 1024)} MB`);
    } catch (error) {
      this.stop(`not all of it, ${systemErrorText(error)}`);
    }
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private stop(failure: string): void {
    this.failure = failure;
    this.close();
  }
}
