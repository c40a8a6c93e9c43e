import { mkdirSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { now } from "../../infrastructure/clock.ts";
import { JsonlWriter } from "../../infrastructure/writing/jsonl-writer.ts";
import { type SegmentHeader, type SegmentLine, toSegmentLine } from "./segment-lines.ts";

/** The log of one process about one session. It is made with its first line. */
export class SegmentWriter {
  private readonly file: JsonlWriter;
  private isBegun = false;

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

  /** Says that its process still works, by the time of the file. */
  giveSign(): void {
    try {
      const seconds = now() / 1000;
      utimesSync(this.path, seconds, seconds);
    } catch {
      // Dropped, or the disk gives an error: whoever writes the next line is told.
    }
  }

  close(): void {
    this.file.close();
  }

  private write(line: SegmentLine): void {
    // A disk that became full in the middle of the line refuses the second attempt.
    while (this.file.append(toSegmentLine(line)) === 0);
  }
}
