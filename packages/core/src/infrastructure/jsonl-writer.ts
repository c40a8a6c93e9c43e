import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

const NEWLINE = 0x0a;

export interface JsonlWriterOptions {
  /** The size the file is known to have; without it, whatever it has when it is opened. */
  expectedSize?: number | undefined;
  /** Called once when somebody else has added to the file. */
  onForeignWrite?: (() => void) | undefined;
}

/**
 * Appends JSON values to a file, one a line. Lines are only ever added: O_APPEND and one write a line keep the lines
 * of several processes whole. A line that could be written only in part is closed before the next one begins.
 */
export class JsonlWriter {
  private file: number | undefined;
  private atLineStart = true;
  private expectedSize: number | undefined;
  private sawForeignWrite = false;

  /** The file is opened, and made with mode 0600 where it is missing, at the first append. */
  constructor(
    readonly path: string,
    private readonly options: JsonlWriterOptions = {},
  ) {
    this.expectedSize = options.expectedSize;
  }

  /** @throws the file system's error; the value may be appended again then. */
  append(value: unknown): void {
    const file = this.open();
    const { size } = fstatSync(file);
    this.noticeForeignWrite(size);
    const line = Buffer.from(`${this.atLineStart ? "" : "\n"}${JSON.stringify(value)}\n`);
    // What a failing write leaves behind is not known, so the next line begins with a newline of its own.
    this.atLineStart = false;
    const written = writeSync(file, line);
    this.expectedSize = size + written;
    if (written < line.length) {
      throw new Error(`${this.path}: only ${written} of ${line.length} bytes were written.`);
    }
    this.atLineStart = true;
  }

  /** Waits until the disk has what was appended. */
  sync(): void {
    if (this.file !== undefined) fdatasyncSync(this.file);
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private open(): number {
    if (this.file === undefined) {
      this.file = openSync(this.path, "a+", 0o600);
      this.atLineStart = endsWithNewline(this.file);
    }
    return this.file;
  }

  private noticeForeignWrite(size: number): void {
    if (this.expectedSize === undefined || size <= this.expectedSize || this.sawForeignWrite) return;
    this.sawForeignWrite = true;
    this.options.onForeignWrite?.();
  }
}

/** True for an empty file too: its next line can begin at once. */
function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = new Uint8Array(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}
