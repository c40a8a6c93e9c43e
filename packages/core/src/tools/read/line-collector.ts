/** A line without its end; lengths in UTF-16 units. */
export interface CollectedLine {
  /** Cut to `maxLineChars` where it is longer. */
  text: string;
  /** The length of the whole line; of what was seen of it when the collector gave up inside it. */
  chars: number;
}

/** Which lines are kept, and how much of them; characters are UTF-16 units. */
export interface LineWindow {
  /** 1-based. */
  firstLine: number;
  maxLines: number;
  maxLineChars: number;
  /** UTF-8 bytes of all kept lines with their numbers; the first line is kept whatever its size. */
  maxBytes: number;
  /** How far to read on from the first line's start: beyond it, a line that never ends is given up. */
  maxScanChars: number;
}

/** Why no more is wanted: there are more lines than fit, or the only one goes on and on. */
export type CollectorStop = "more_lines" | "endless_line";

/**
 * Takes a text in pieces and keeps a window of its lines, in memory bounded by that window. Lines end with LF, CRLF or
 * a lone CR.
 */
export class LineCollector {
  readonly lines: CollectedLine[] = [];
  stop: CollectorStop | undefined;
  readonly #window: LineWindow;
  #lineNumber = 1;
  #current: CollectedLine = { text: "", chars: 0 };
  #scannedChars = 0;
  #keptBytes = 0;
  #pendingCr = false;

  constructor(window: LineWindow) {
    this.#window = window;
  }

  /** Lines seen so far; once the text has ended, all of them. */
  get lineCount(): number {
    return this.#lineNumber - 1 + (this.#current.chars > 0 ? 1 : 0);
  }

  push(piece: string): void {
    // A CR at the end may be the first half of a CRLF.
    const text = this.#pendingCr ? `\r${piece}` : piece;
    this.#pendingCr = text.endsWith("\r");
    this.#scan(this.#pendingCr ? text.slice(0, -1) : text);
  }

  /** To be called once after the last piece. */
  end(): void {
    if (this.#pendingCr) this.#scan("\r");
    if (!this.stop && this.#current.chars > 0 && this.#isInside()) this.#keepLine();
  }

  #scan(text: string): void {
    const lineEnd = /\r\n?|\n/g;
    for (let start = 0; start < text.length && !this.stop; ) {
      if (this.lines.length >= this.#window.maxLines) {
        this.stop = "more_lines";
        return;
      }
      lineEnd.lastIndex = start;
      const match = lineEnd.exec(text);
      this.#take(text, start, match?.index ?? text.length);
      if (!match || this.stop) return;
      start = lineEnd.lastIndex;
      this.#finishLine();
    }
  }

  #take(text: string, start: number, end: number): void {
    this.#current.chars += end - start;
    if (!this.#isInside()) return;
    const room = this.#window.maxLineChars - this.#current.text.length;
    if (room > 0) this.#current.text += text.slice(start, Math.min(end, start + room));
    this.#scannedChars += end - start;
    if (this.#scannedChars <= this.#window.maxScanChars) return;
    this.stop = this.lines.length === 0 ? "endless_line" : "more_lines";
    if (this.stop === "endless_line") this.lines.push(this.#current);
  }

  #finishLine(): void {
    if (this.#isInside()) this.#keepLine();
    if (this.stop) return;
    this.#lineNumber++;
    this.#current = { text: "", chars: 0 };
  }

  #keepLine(): void {
    const text = withoutHalfCharacter(this.#current.text);
    const bytes = Buffer.byteLength(text) + String(this.#lineNumber).length + 2;
    if (this.lines.length > 0 && this.#keptBytes + bytes > this.#window.maxBytes) {
      this.stop = "more_lines";
      return;
    }
    this.#keptBytes += bytes;
    this.lines.push({ text, chars: this.#current.chars });
  }

  #isInside(): boolean {
    return this.#lineNumber >= this.#window.firstLine;
  }
}

/** Without the first half of a surrogate pair at the end. */
export function withoutHalfCharacter(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
