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
// Enough to recognize foreign lines; more need not be read.
const MAX_FOREIGN_BYTES = 1024 * 1024;

/** Options for a file that other processes may append to as well. */
interface JsonlWriterOptions {
  /** The known size of the file; by default its size when it is opened. */
  expectedSize?: number | undefined;
  /** Called with the text (at most the last MB) that another process has added since the last append. */
  onForeignWrite?: ((text: string) => void) | undefined;
}

/**
 * Appends JSON values to a file, one per line. Nothing else is ever changed: O_APPEND and one write per line keep the
 * lines of several processes intact. A line that was written only in part is ended before the next one starts. Every
 * error contains the path.
 */
export class JsonlWriter {
  private file: number | undefined;
  private atLineStart = true;
  private isSynced = true;
  /** A sync in progress; the file stays open until it has ended. It never rejects. */
  private syncing: Promise<void> | undefined;
  private expectedSize: number | undefined;

  /** The file is opened, and created with mode 0600 if missing, at the first append. */
  constructor(
    readonly path: string,
    private readonly options: JsonlWriterOptions = {},
  ) {
    this.expectedSize = options.expectedSize;
  }

  /**
   * Appends values with one write. Returns how many of them are completely in the file: fewer than given when the disk
   * became full. The others may be appended again.
   * @throws Error when nothing could be written.
   */
  append(...values: readonly unknown[]): number {
    try {
      return this.write(values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`)));
    } catch (error) {
      throw describeWriteError(this.path, error);
    }
  }

  /** True when the file is empty, also because another process removed or emptied it. Opens it. */
  isEmpty(): boolean {
    try {
      return this.open().size === 0;
    } catch (error) {
      throw describeWriteError(this.path, error);
    }
  }

  /** True when another process has added to the file since the last append. Does not open it. */
  hasGrown(): boolean {
    const { expectedSize } = this;
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    return expectedSize !== undefined && size > expectedSize;
  }

  /** Declares the file's contents up to `size` bytes as known. */
  expectSize(size: number): void {
    this.expectedSize = size;
  }

  /** Waits until the appended lines are on disk. */
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
   * Asynchronous `sync`, for slow disks. Resolves once all earlier appended lines are on disk. Rejects if `sync` would
   * throw; the next call tries again.
   */
  async syncInBackground(): Promise<void> {
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
    // A failed write may leave part of a line, so the next line starts with a newline.
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
      // Lines written to a deleted file would be lost.
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

/** How many of the lines are within so many bytes. */
function countWhole(lines: readonly Buffer[], bytes: number): number {
  let end = 0;
  const broken = lines.findIndex((line) => {
    end += line.length;
    return end > bytes;
  });
  return broken < 0 ? lines.length : broken;
}

/** True for an empty file too: its next line needs no newline before it. */
function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = new Uint8Array(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}
