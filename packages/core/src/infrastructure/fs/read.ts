import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { assertOpenedAt, MovedPathError, pathForChildrenOf } from "./real-path.ts";

const CHUNK_BYTES = 64 * 1024;
const END_BYTES = 512;
// Opening never blocks on a pipe, and never follows a link that a repository contains.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Opens a regular file for reading. Pipes, sockets and devices are refused, even one that replaced the file a moment
 * ago: opening never blocks (`O_NONBLOCK`) and never follows a link (`O_NOFOLLOW`), so `realPath` must be real. A file
 * that is only reachable because a directory of the path was replaced by a link is refused, too (`MovedPathError`).
 */
export async function openRegularFile(realPath: string): Promise<{ handle: FileHandle; stats: BigIntStats }> {
  const handle = await open(realPath, OPEN_FLAGS).catch((error: unknown) => {
    throw new Error(`Cannot open ${realPath}: ${systemErrorText(error)}.`);
  });
  try {
    assertOpenedAt(handle.fd, realPath);
    const stats = await handle.stat({ bigint: true });
    assertRegular(realPath, stats);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Reads the whole content; the file is opened as by `openRegularFile`. */
export function readWholeFile(realPath: string): Uint8Array {
  using file = holdRegularFile(realPath);
  try {
    return readFileSync(file.descriptor);
  } catch (error) {
    throw new Error(`Cannot read ${realPath}: ${systemErrorText(error)}.`);
  }
}

/** The beginning and the end of a file of this size, together at most `maxBytes`; it is opened like a whole one. */
export function readBothEnds(realPath: string, size: number, maxBytes: number): Uint8Array {
  using file = holdRegularFile(realPath);
  const half = Math.floor(Math.min(size, maxBytes) / 2);
  return Buffer.concat([readFrom(file.descriptor, 0, half), readFrom(file.descriptor, size - half, half)]);
}

/** The first bytes of a regular file. */
export function readHead(realPath: string, maxBytes: number): Uint8Array {
  using file = holdRegularFile(realPath);
  return readFrom(file.descriptor, 0, maxBytes);
}

/** An open regular file; disposing closes it. */
interface HeldFile extends Disposable {
  descriptor: number;
  /** Its path for a child process: that of the open file if the system provides one. */
  pathForChildren: string;
}

/** Opens a regular file as `openRegularFile` does, and keeps it open. */
export function holdRegularFile(realPath: string): HeldFile {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(realPath, OPEN_FLAGS);
    assertOpenedAt(descriptor, realPath);
    assertRegular(realPath, fstatSync(descriptor, { bigint: true }));
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    if (error instanceof MovedPathError) throw error;
    throw new Error(`Cannot read ${realPath}: ${systemErrorText(error)}.`);
  }
  const pathForChildren = pathForChildrenOf(descriptor) ?? realPath;
  return { descriptor, pathForChildren, [Symbol.dispose]: () => closeSync(descriptor) };
}

function assertRegular(realPath: string, stats: BigIntStats): void {
  const kind = specialFileKind(stats);
  if (kind !== undefined) throw new Error(`${realPath} is ${kind}`);
}

/**
 * At most `maxBytes` from the start of the file, whatever size it reports.
 * @param size that it reports, if that is known: no more memory is taken than a file of that size needs.
 */
export async function readStart(
  handle: FileHandle,
  maxBytes: number,
  size: bigint | number = CHUNK_BYTES,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(handle, { maxBytes, size: Number(size) })) {
    chunks.push(chunk);
    length += chunk.length;
  }
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}

/**
 * The bytes of the file in pieces; the consumer owns each piece.
 * @param size that the file reports; it may have more.
 */
export async function* readChunks(
  handle: FileHandle,
  { maxBytes = Number.POSITIVE_INFINITY, size = CHUNK_BYTES }: { maxBytes?: number; size?: number } = {},
): AsyncGenerator<Uint8Array, void> {
  let position = 0;
  let expected = size + 1;
  while (position < maxBytes) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes - position, expected));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    // After less than was asked for, only the end is left, as a rule.
    expected = bytesRead < buffer.length ? END_BYTES : CHUNK_BYTES;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A regular file that was read once; all properties describe exactly the bytes in `content`. */
export interface CheckedFile {
  path: string;
  realPath: string;
  /** At most the requested number of bytes. */
  content: Uint8Array;
  /** The size of the whole file in bytes. */
  size: number;
  /** The reason why another user could have written it; see `findOwnershipConcern`. */
  concern: string | undefined;
  isOpenToOthers: boolean;
}

/** The outcome of reading a file that may not exist. */
export type FileReading =
  | { kind: "missing" }
  /** `reason` is a sentence without its full stop, such as `/x is a named pipe`. */
  | { kind: "unreadable"; reason: string }
  | { kind: "file"; file: CheckedFile };

/** Reads an unknown path: it may be missing, a pipe, a directory, a link, huge, or another user's. Never throws. */
export async function readCheckedFile(path: string, maxBytes: number): Promise<FileReading> {
  try {
    if (!entryExists(path)) return { kind: "missing" };
    const { realPath } = locateFile(path);
    const { handle, stats } = await openRegularFile(realPath);
    try {
      const content = await readStart(handle, maxBytes, stats.size);
      const concern = findOwnershipConcern({ path, realPath, stats });
      const size = Math.max(Number(stats.size), content.length);
      return {
        kind: "file",
        file: { path, realPath, content, size, concern, isOpenToOthers: isOpenToOthers(stats) },
      };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { kind: "unreadable", reason: describeFailure(error, path) };
  }
}

/** True for an entry of any kind, including a dangling link. @throws when it is not accessible. */
export function entryExists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A file in place of the parent directory has no entries.
    if (systemErrorCode(error) === "ENOTDIR") return false;
    throw error;
  }
}

function describeFailure(error: unknown, path: string): string {
  const isSystemError = systemErrorCode(error) !== undefined;
  const text = isSystemError ? `Cannot read ${path}: ${systemErrorText(error)}` : systemErrorText(error);
  return text.replace(/\.$/, "");
}

/** The end of a file, or all of a short file. */
export interface FileTail {
  bytes: Uint8Array;
  /** False when the file is longer: `bytes` may then start in the middle of a character. */
  isWhole: boolean;
}

/**
 * The last `maxBytes` of a file that only this user can have written.
 * @throws Error if it is not a regular file or if another user could have written it; errors of the file system.
 */
export function readOwnTail(path: string, maxBytes: number): FileTail {
  return readOwnFile(path, (fd, size) => {
    const start = Math.max(0, size - maxBytes);
    return { bytes: readFrom(fd, start, size - start), isWhole: start === 0 };
  });
}

/** The first `maxBytes` of such a file. @throws like `readOwnTail`. */
export function readOwnHead(path: string, maxBytes: number): Uint8Array {
  return readOwnFile(path, (fd, size) => readFrom(fd, 0, Math.min(size, maxBytes)));
}

function readOwnFile<T>(path: string, read: (fd: number, size: number) => T): T {
  const fd = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(fd, { bigint: true });
    const kind = specialFileKind(stats);
    if (kind !== undefined) throw new Error(`it is ${kind}`);
    const concern = findOwnershipConcern({ path, realPath: path, stats });
    if (concern !== undefined) throw new Error(concern);
    return read(fd, Number(stats.size));
  } finally {
    closeSync(fd);
  }
}

function readFrom(fd: number, start: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, start + filled);
    // The file became shorter meanwhile.
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** The text of a regular file of at most `maxBytes`; undefined for anything else, including links. Never blocks. */
export function readSmallText(path: string, maxBytes: number): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(descriptor, "utf8") : undefined;
  } catch {
    return undefined; // Missing or not readable: the caller assumes the worst.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A resolved path. `stats` is undefined when it does not exist. */
export interface FileTarget {
  realPath: string;
  stats: BigIntStats | undefined;
}

/**
 * Resolves `path` (absolute). @throws Error with a message for the model for dangling or circular links, a file in
 * place of a directory, and denied access.
 */
export function locateFile(path: string): FileTarget {
  try {
    const realPath = realpathSync(path);
    return { realPath, stats: lstatSync(realPath, { bigint: true }) };
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT")
      throw new Error(`Cannot access ${path}: ${systemErrorText(error)}.`);
  }
  return { realPath: locateMissing(path), stats: undefined };
}

/** The resolved path of a missing file: links of existing directories are followed, the rest is appended. */
function locateMissing(path: string): string {
  const linkTarget = readLink(path);
  if (linkTarget !== undefined) {
    throw new Error(
      `${path} is a symbolic link to ${linkTarget}, which does not exist. Use the path of a real file.`,
    );
  }
  return join(locateFile(dirname(path)).realPath, basename(path));
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // Missing, or not a link.
  }
}

/** The kind of a special file with its article; undefined for a regular file. */
export function specialFileKind(stats: BigIntStats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "not a regular file";
}

const WRITABLE_BY_ALL = 0o002n;
const OPEN_TO_OTHERS = 0o077n;

/** A file with the path it was found under, its real path and its stats. */
interface FoundFile {
  path: string;
  realPath: string;
  stats: BigIntStats;
}

/**
 * The reason why another user could have written a file, as a clause that fits after "it is not loaded:"; undefined
 * when only this user and the superuser can have written it. Directories count as well: their writers may replace the
 * file. Group permissions do not count.
 */
function findOwnershipConcern({ path, realPath, stats }: FoundFile): string | undefined {
  const ofFile = describeConcern(stats, "it");
  if (ofFile !== undefined) return ofFile;
  for (const directory of new Set([dirname(path), dirname(realPath)])) {
    const concern = describeConcern(statSync(directory, { bigint: true }), `its directory ${directory}`);
    if (concern !== undefined) return concern;
  }
  return undefined;
}

/** True when its group or all users may read or write it. */
export function isOpenToOthers(stats: BigIntStats): boolean {
  return (stats.mode & OPEN_TO_OTHERS) !== 0n;
}

function describeConcern({ uid, mode }: BigIntStats, subject: string): string | undefined {
  const own = process.getuid?.();
  // Without user ids there is nothing to compare.
  if (own === undefined) return undefined;
  if (uid !== BigInt(own) && uid !== 0n) return `${subject} belongs to another user (uid ${uid})`;
  return (mode & WRITABLE_BY_ALL) === 0n ? undefined : `all users may write to ${subject}`;
}

const LINE_CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = "\uFEFF";

/** A line without its line ending; never empty. */
export interface FileLine {
  text: string;
  /** False for a last line without a newline: its writer may have died. */
  isComplete: boolean;
  /** True when only the beginning of the line was read; see `isBeginningEnough`. */
  isCut: boolean;
}

/** Options for files with long lines that need not be read completely. */
export interface LineReaderOptions {
  /**
   * Called once for a line that is longer than the read buffer: returns true if its beginning (a few KB) is enough. The
   * rest is skipped then.
   */
  isBeginningEnough?: ((beginning: string) => boolean) | undefined;
  /** Of a longer line, only about this many bytes are kept; unlimited by default. */
  maxLineBytes?: number | undefined;
  /** True: nothing is read that is appended meanwhile, so that reading ends even if another program keeps writing. */
  isSnapshot?: boolean | undefined;
}

/**
 * The lines of a file in order, without their endings (LF or CRLF), read in pieces: memory only grows with the longest
 * line. Empty lines are skipped. The file is closed when the loop ends.
 * @throws the file system's error, also if it is not a file.
 */
export function* readLines(path: string, options: LineReaderOptions = {}): Generator<FileLine> {
  const file = openSync(path, OPEN_FLAGS);
  try {
    const chunk = Buffer.allocUnsafe(LINE_CHUNK_BYTES);
    const line = new LineParts(options);
    let left = options.isSnapshot ? fstatSync(file).size : Number.POSITIVE_INFINITY;
    let isFirst = true;
    const take = (isComplete: boolean): FileLine | undefined => {
      const { text, isCut } = line.take();
      const plain = isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
      isFirst = false;
      return plain === "" ? undefined : { text: plain, isComplete, isCut };
    };
    const readChunk = () => readSync(file, chunk, 0, Math.min(chunk.length, left), null);
    for (let count = readChunk(); count > 0; count = readChunk()) {
      left -= count;
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

// A shorter beginning is not enough to recognize a line.
const MIN_BEGINNING_BYTES = 4096;

/** A line that arrives in pieces. */
class LineParts {
  private parts: Buffer[] = [];
  private bytes = 0;
  private isAsked = false;
  private isCut = false;

  constructor(private readonly options: LineReaderOptions) {}

  /** Adds a piece of an unfinished line; it is copied. */
  grow(piece: Buffer): void {
    if (this.isCut) return;
    this.parts.push(Buffer.from(piece));
    this.bytes += piece.length;
    if (this.bytes > (this.options.maxLineBytes ?? Number.POSITIVE_INFINITY)) this.isCut = true;
    if (this.isAsked || this.bytes < MIN_BEGINNING_BYTES) return;
    this.isAsked = true;
    this.isCut ||= this.options.isBeginningEnough?.(this.text()) ?? false;
  }

  /** Adds the last piece, which is only borrowed until `take`. */
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
