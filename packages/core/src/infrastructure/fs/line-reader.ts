import { closeSync, constants, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = "\uFEFF";
// Opening never waits for a pipe's other end, and never follows a link that a repository brought along.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A line without its end, and never an empty one. */
export interface FileLine {
  text: string;
  /** False for a last line without a newline: the process that wrote it may have died. */
  isComplete: boolean;
  /** True when only the beginning of the line is there; see `isBeginningEnough`. */
  isCut: boolean;
}

/** For files whose long lines need not be kept whole. */
export interface LineReaderOptions {
  /**
   * Asked once for a line that is longer than what is read at once: is this beginning of it (some KB) all that is
   * wanted? The rest is not kept then.
   */
  isBeginningEnough?: ((beginning: string) => boolean) | undefined;
}

/**
 * The lines of a file, one after the other, without their ends (LF or CRLF) and without reading it whole: memory
 * grows with the longest line only. Empty lines are skipped. The file is closed when the loop is left.
 * @throws the file system's error, also if it is not a file.
 */
export function* readLines(path: string, options: LineReaderOptions = {}): Generator<FileLine> {
  const file = openSync(path, OPEN_FLAGS);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const line = new LineParts(options);
    let isFirst = true;
    const take = (isComplete: boolean): FileLine | undefined => {
      const { text, isCut } = line.take();
      const plain = isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
      isFirst = false;
      return plain === "" ? undefined : { text: plain, isComplete, isCut };
    };
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      const bytes = chunk.subarray(0, count);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        line.finish(bytes.subarray(start, end));
        start = end + 1;
        const finished = take(true);
        if (finished) yield finished;
      }
      if (start < count) line.grow(bytes.subarray(start));
    }
    const rest = take(false);
    if (rest) yield rest;
  } finally {
    closeSync(file);
  }
}

// A beginning shorter than this says too little about a line.
const MIN_BEGINNING_BYTES = 4096;

/** A line that arrives in pieces. */
class LineParts {
  private parts: Buffer[] = [];
  private bytes = 0;
  private isAsked = false;
  private isCut = false;

  constructor(private readonly options: LineReaderOptions) {}

  /** Adds a piece of a line that continues; it is copied. */
  grow(piece: Buffer): void {
    if (this.isCut) return;
    this.parts.push(Buffer.from(piece));
    this.bytes += piece.length;
    if (this.isAsked || this.bytes < MIN_BEGINNING_BYTES) return;
    this.isAsked = true;
    this.isCut = this.options.isBeginningEnough?.(this.text()) ?? false;
  }

  /** Takes in the last piece, which is only lent until `take`. */
  finish(piece: Buffer): void {
    if (!this.isCut) this.parts.push(piece);
  }

  take(): { text: string; isCut: boolean } {
    const taken = { text: this.text(), isCut: this.isCut };
    this.parts = [];
    this.bytes = 0;
    this.isAsked = false;
    this.isCut = false;
    return taken;
  }

  private text(): string {
    const [first] = this.parts;
    const line = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    const length = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    return line.toString("utf8", 0, length);
  }
}
