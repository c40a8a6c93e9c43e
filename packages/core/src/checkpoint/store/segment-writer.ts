import { mkdirSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { now } from "../../infrastructure/clock.ts";
import { JsonlWriter } from "../../infrastructure/writing/jsonl-writer.ts";
import { type SegmentHeader, type SegmentLine, toSegmentLine } from "./segment-lines.ts";

/** What a process that was killed has done after its last sign of life does not count as its work. */
const SIGN_MS = 250;

/** The log of one process about one session. It is made with its first line. */
export class SegmentWriter {
  private readonly file: JsonlWriter;
  private isBegun = false;
  private signs: ReturnType<typeof setInterval> | undefined;

  constructor(
    readonly path: string,
    private readonly makeHeader: () => SegmentHeader,
  ) {
    this.file = new JsonlWriter(path);
  }

  get isEmpty(): boolean {
    return !this.isBegun;
  }

  /** @throws Error, which names the file, when the line could not be written whole. */
  append(line: SegmentLine): void {
    if (!this.isBegun) {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      this.write({ type: "checkpoints", version: 1, header: this.makeHeader() });
      this.isBegun = true;
    }
    this.write(line);
  }

  /** Says now and then that its process still works, by the time of the file, until `stopSigns` or `close`. */
  giveSigns(): void {
    this.signs ??= setInterval(() => this.giveSign(), SIGN_MS);
    this.signs.unref();
  }

  stopSigns(): void {
    clearInterval(this.signs);
    this.signs = undefined;
  }

  close(): void {
    this.stopSigns();
    this.file.close();
  }

  private giveSign(): void {
    try {
      const seconds = now() / 1000;
      utimesSync(this.path, seconds, seconds);
    } catch {
      // Dropped, or the disk gives an error: whoever writes the next line is told.
    }
  }

  private write(line: SegmentLine): void {
    // A disk that became full in the middle of the line refuses the second attempt.
    while (this.file.append(toSegmentLine(line)) === 0);
  }
}
