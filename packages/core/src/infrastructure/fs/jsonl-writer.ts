import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { describeWriteError } from "../system-error.ts";

const NEWLINE = 0x0a;
const OPEN_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
// Enough to see what somebody else wrote; a flood of it needs no closer look.
const MAX_FOREIGN_BYTES = 1024 * 1024;

/** For a file that other processes may add to as well. */
interface JsonlWriterOptions {
  /** The size the file is known to have; without it, whatever it has when it is opened. */
  expectedSize?: number | undefined;
  /** Called with the text (at most the last MB of it) that somebody else has added since the last append. */
  onForeignWrite?: ((text: string) => void) | undefined;
}

/**
 * Appends JSON values to a file, one a line. Lines are only ever added: O_APPEND and one write for a line keep the
 * lines of several processes whole. A line that could be written only in part is closed before the next one begins.
 * Every error it throws names the path.
 */
export class JsonlWriter {
  private file: number | undefined;
  private atLineStart = true;
  private isSynced = true;
  /** Waits for the disk; the file stays open until it has ended. It never rejects. */
  private syncing: Promise<void> | undefined;
  private expectedSize: number | undefined;

  /** The file is opened, and made with mode 0600 where it is missing, at the first append. */
  constructor(
    readonly path: string,
    private readonly options: JsonlWriterOptions = {},
  ) {
    this.expectedSize = options.expectedSize;
  }

  /**
   * Appends values with one write. Returns how many of them are in the file whole: fewer than were given when the disk
   * became full in the middle. The others may be appended again.
   * @throws Error when nothing could be written.
   */
  append(...values: readonly unknown[]): number {
    try {
      return this.write(values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`)));
    } catch (error) {
      throw describeWriteError(this.path, error);
    }
  }

  /** True when there is nothing in the file, also because somebody removed or emptied it. Opens it. */
  isEmpty(): boolean {
    try {
      return this.open().size === 0;
    } catch (error) {
      throw describeWriteError(this.path, error);
    }
  }

  /** True when somebody has added to the file since the last append. It is not opened. */
  hasGrown(): boolean {
    const { expectedSize } = this;
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    return expectedSize !== undefined && size > expectedSize;
  }

  /** What is in the file up to `size` bytes is known. */
  expectSize(size: number): void {
    this.expectedSize = size;
  }

  /** Waits until the disk has what was appended. */
  sync(): void {
    if (this.file === undefined || (this.isSynced && this.syncing === undefined)) return;
    try {
      fdatasyncSync(this.file);
      this.isSynced = true;
    } catch (error) {
      throw describeWriteError(this.path, error);
    }
  }

  /**
   * As `sync`, beside everything else: a disk may take long. Resolves once it has what was appended before. Rejects as
   * `sync` throws, which then tries it again.
   */
  async syncBeside(): Promise<void> {
    while (this.syncing) await this.syncing;
    const { file } = this;
    if (file === undefined || this.isSynced) return;
    this.isSynced = true;
    let failure: unknown;
    this.syncing = syncData(file)
      .catch((error: unknown) => {
        this.isSynced = false;
        failure = error;
      })
      .finally(() => {
        this.syncing = undefined;
      });
    await this.syncing;
    if (failure !== undefined) throw describeWriteError(this.path, failure);
  }

  close(): void {
    const { file, syncing } = this;
    this.file = undefined;
    if (file === undefined) return;
    if (syncing) void syncing.then(() => closeSync(file));
    else closeSync(file);
  }

  private write(lines: readonly Buffer[]): number {
    const { file, size } = this.open();
    this.noticeForeignWrite(file, size);
    const gap = this.atLineStart ? 0 : 1;
    const text = gap === 0 ? Buffer.concat(lines) : Buffer.concat([Buffer.of(NEWLINE), ...lines]);
    // What a failing write leaves behind is not known, so the next line begins with a newline of its own.
    this.atLineStart = false;
    this.isSynced = false;
    const written = writeSync(file, text);
    this.expectedSize = size + written;
    if (written === 0 && text.length > 0) throw new Error("nothing was written");
    this.atLineStart = written === text.length;
    return countWhole(lines, written - gap);
  }

  private open(): { file: number; size: number } {
    if (this.file !== undefined) {
      const { nlink, size } = fstatSync(this.file);
      if (nlink > 0) return { file: this.file, size };
      // A file that was removed while it was open would swallow what is written.
      this.close();
    }
    const file = openSync(this.path, OPEN_FLAGS, 0o600);
    this.file = file;
    this.atLineStart = endsWithNewline(file);
    return { file, size: fstatSync(file).size };
  }

  private noticeForeignWrite(file: number, size: number): void {
    const { expectedSize = size } = this;
    if (size <= expectedSize || !this.options.onForeignWrite) return;
    const added = Buffer.alloc(Math.min(size - expectedSize, MAX_FOREIGN_BYTES));
    const count = readSync(file, added, 0, added.length, size - added.length);
    this.options.onForeignWrite(added.toString("utf8", 0, count));
  }
}

function syncData(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error ? reject(error) : resolve()));
  });
}

/** How many of the lines lie within so many bytes. */
function countWhole(lines: readonly Buffer[], bytes: number): number {
  let end = 0;
  const broken = lines.findIndex((line) => {
    end += line.length;
    return end > bytes;
  });
  return broken < 0 ? lines.length : broken;
}

/** True for an empty file too: its next line can begin at once. */
function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = new Uint8Array(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}
