import type { FileHandle } from "node:fs/promises";
import { openRegularFile, readChunks, readStart, specialFileKind } from "../../infrastructure/fs/read.ts";
import { systemErrorCode, systemErrorText } from "../../infrastructure/system-error.ts";
import { isNotebookName } from "../../infrastructure/text/notebook.ts";
import {
  decodeUtf8,
  encodeUtf8,
  fileSignature,
  NotUtf8Error,
  notUtf8,
  startsLikeImage,
  type TextEncoding,
} from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { readUnsaved } from "../editor-files.ts";
import { missingFileError } from "../missing-file.ts";
import type { ReadArguments } from "../parameters.ts";
import { type ApprovedTarget, formatBytes } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { createFingerprint } from "../workspace.ts";

const START_BYTES = 512;
// Larger files are not opened at all.
const MAX_IMAGE_FILE_BYTES = 50 * 1024 * 1024;
// Up to this size the whole file is hashed, so that a later change is detected by content and not only by time.
const MAX_HASHED_BYTES = 8 * 1024 * 1024;
// Files that are not UTF-8 are decoded as a whole; edit has the same limit.
const MAX_DECODED_BYTES = 64 * 1024 * 1024;

/** Reads a part of a file for the model and marks the file as seen. @throws Error that says why it cannot be read. */
export async function readFile(
  workspace: Workspace,
  target: ApprovedTarget,
  { args, signal }: { args: ReadArguments; signal: AbortSignal },
): Promise<ToolResult> {
  assertReadable(workspace, target);
  const unsaved = args.encoding === undefined ? await readUnsaved(workspace, target, signal) : undefined;
  const { handle, stats } = await openRegularFile(target.realPath);
  try {
    // Recorded before the content is shown: if the file changes in between, it counts as changed.
    const isHashed = stats.size <= MAX_HASHED_BYTES;
    const content = isHashed ? await readStart(handle, MAX_HASHED_BYTES, stats.size) : undefined;
    const window = { offset: Math.max(1, args.offset ?? 1), limit: args.limit ?? DEFAULT_LINES };
    if (unsaved) {
      const shown = encodeUtf8({ text: unsaved.text, hasByteOrderMark: false });
      const result = showConverted(target.path, { text: unsaved.text, note: UNSAVED }, window);
      workspace.files.recordRead(target.realPath, createFingerprint(stats, shown), { content: shown });
      return result;
    }
    const known = workspace.files.encodingOf(target.realPath);
    const file = { target, handle, size: stats.size, signal, content, known, encodingName: args.encoding };
    const { result, encoding } = await readContent(file, window);
    workspace.files.recordRead(target.realPath, createFingerprint(stats, content), { content, encoding });
    return result;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    throw new Error(`Cannot read ${target.path}: ${systemErrorText(error)}.`);
  } finally {
    await handle.close();
  }
}

const UNSAVED = "(The text in the user's editor, with unsaved changes: commands see the file on the disk.)";

function assertReadable(workspace: Workspace, target: ApprovedTarget): void {
  const { path, stats } = target;
  if (!stats) throw missingFileError(workspace, target);
  const kind = specialFileKind(stats);
  if (kind === "a directory") throw new Error(`${path} is a directory. Use ls to list it.`);
  if (kind !== undefined) throw new Error(`${path} is ${kind}, which cannot be read as a file.`);
}

interface OpenFile {
  target: ApprovedTarget;
  handle: FileHandle;
  size: bigint;
  signal: AbortSignal;
  /** All of the file, if it is not large. */
  content: Uint8Array | undefined;
  /** The encoding in which the session has read the file before, if it was not UTF-8. */
  known: TextEncoding | undefined;
  /** As the model gave it. */
  encodingName: string | undefined;
}

interface ReadContent {
  result: ToolResult;
  /** Left out for UTF-8, and for an image. */
  encoding?: TextEncoding | undefined;
}

async function readContent(file: OpenFile, window: TextWindow): Promise<ReadContent> {
  const { path } = file.target;
  const start = file.content?.subarray(0, START_BYTES) ?? (await readStart(file.handle, START_BYTES));
  if (startsLikeImage(start) && file.size <= MAX_IMAGE_FILE_BYTES) {
    const { readImage } = await import("./read-image.ts");
    const image = await readImage(path, file.content ?? (await readStart(file.handle, MAX_IMAGE_FILE_BYTES)));
    if (image) return { result: image };
  }
  if (fileSignature(start) === "PDF document") return { result: await readPdfFile(file, window) };
  const notebook = await readAsNotebook(file, window);
  if (notebook) return { result: notebook };
  if (file.encodingName !== undefined) return readEncoded(file, window, await findNamedEncoding(file, start));
  try {
    // Also beyond the part that is shown: the encoding is that of the whole file.
    if (file.content) decodeUtf8(file.content);
    return { result: toResult(await readTextPage(path, file, window)) };
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error;
    const encoding = file.known ?? (await detectEncoding(file, error));
    if (!encoding) throw notTextError(file, start, error);
    return readEncoded(file, window, encoding, error);
  }
}

/** The text of the pages; lines are numbered through the document. */
async function readPdfFile(
  { target, handle, content, size, signal }: OpenFile,
  window: TextWindow,
): Promise<ToolResult> {
  const { path } = target;
  const { MAX_PDF_BYTES, readPdf } = await import("./read-document.ts");
  if (size > MAX_PDF_BYTES)
    throw new Error(
      `${path} is a PDF of ${formatBytes(size)}; at most ${formatBytes(MAX_PDF_BYTES)} are read. Use bash with pdftotext.`,
    );
  const bytes = content ?? (await readStart(handle, MAX_PDF_BYTES));
  const { text, description } = await readPdf(path, bytes, signal);
  return showConverted(path, { text, note: `(${description}.)` }, window);
}

const EDITING =
  "edit replaces text in the source of a cell. With the heading of a cell it deletes one; a line such as --- cell (code) --- begins a new one.";

/** Undefined for a file that is no notebook: it is read as text then. */
async function readAsNotebook(
  { target: { path }, content, encodingName }: OpenFile,
  window: TextWindow,
): Promise<ToolResult | undefined> {
  if (!content || encodingName !== undefined || !isNotebookName(path)) return undefined;
  const { readNotebook } = await import("./read-document.ts");
  // Bytes that are not UTF-8 are explained by what reads text.
  const notebook = await readNotebook(path, new TextDecoder().decode(content));
  if (!notebook) return undefined;
  const { text, description, images } = notebook;
  const note = `(${description}. ${EDITING})`;
  return { ...showConverted(path, { text, note }, window), ...(images.length > 0 && { images }) };
}

/** The lines of a text that was made from a file. */
function showConverted(
  path: string,
  { text, note }: { text: string; note: string },
  window: TextWindow,
): ToolResult {
  const collector = createCollector(window);
  collector.push(text);
  collector.end();
  if (collector.lines.length === 0) return toResult(emptyPage(path, collector.lineCount, window.offset));
  return toResult(toPage(collector, window, [note]));
}

function toResult({ firstLine, lastLine, ...page }: TextPage): ToolResult {
  return { ...page, metadata: { firstLine, lastLine } };
}

async function findNamedEncoding({ encodingName = "" }: OpenFile, start: Uint8Array): Promise<TextEncoding> {
  const { findEncoding } = await import("../../infrastructure/text/legacy-encodings.ts");
  const encoding = findEncoding(encodingName, start);
  if (encoding) return encoding;
  throw new Error(
    `Unknown encoding "${encodingName.slice(0, 40)}". Give a name such as ISO-8859-1, windows-1252, Shift_JIS, EUC-KR, ` +
      "GB18030, Big5, KOI8-R or UTF-16LE, or leave it out.",
  );
}

async function detectEncoding(file: OpenFile, { guess }: NotUtf8Error): Promise<TextEncoding | undefined> {
  if (guess.kind === "binary" || file.size > MAX_DECODED_BYTES) return undefined;
  const { toEncoding } = await import("../../infrastructure/text/legacy-encodings.ts");
  return toEncoding(guess, await readDecodable(file));
}

async function readDecodable({ content, handle, size, target }: OpenFile): Promise<Uint8Array> {
  if (size > MAX_DECODED_BYTES) {
    const limit = formatBytes(MAX_DECODED_BYTES);
    throw new Error(
      `${target.path} is too large to be decoded (${formatBytes(size)}, at most ${limit}). Use bash with iconv.`,
    );
  }
  return content ?? readStart(handle, MAX_DECODED_BYTES);
}

async function readEncoded(
  file: OpenFile,
  window: TextWindow,
  encoding: TextEncoding,
  problem?: NotUtf8Error,
): Promise<ReadContent> {
  const { target } = file;
  const text = decodeOrExplain(target.path, encoding, await readDecodable(file));
  const collector = createCollector(window);
  collector.push(text);
  collector.end();
  if (collector.lines.length === 0)
    return { result: toResult(emptyPage(target.path, collector.lineCount, window.offset)), encoding };
  const notes = [describeEncoding(encoding, problem)];
  if (text.includes("\ufffd"))
    notes.push(
      `(\ufffd stands for bytes that are not valid ${encoding.name}; lines with it cannot be changed.)`,
    );
  return { result: toResult(toPage(collector, window, notes)), encoding };
}

function describeEncoding({ name }: TextEncoding, problem: NotUtf8Error | undefined): string {
  if (problem?.guess.kind === "damaged") return `(It is ${problem.message}.)`;
  const how = problem ? "detected from its bytes; give encoding if that is wrong" : "as given";
  return `(The encoding is ${name}, ${how}. edit and write keep it.)`;
}

function decodeOrExplain(path: string, encoding: TextEncoding, bytes: Uint8Array): string {
  try {
    return encoding.decode(bytes).text;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read ${path} as ${encoding.name}. ${reason} Give another encoding.`);
  }
}

function notTextError(
  { target, size }: OpenFile,
  start: Uint8Array,
  { message, guess }: NotUtf8Error,
): Error {
  const { path } = target;
  const what = `${fileSignature(start) ?? "binary file"}, ${formatBytes(size)}`;
  if (startsLikeImage(start)) {
    const reason = size > MAX_IMAGE_FILE_BYTES ? "too large to be shown" : "cut off or damaged";
    return new Error(`Cannot show ${path}: the image is ${reason} (${what}).`);
  }
  if (guess.kind === "binary") {
    return new Error(
      `${path} is not a text file (${what}). Use bash with a program that knows the format, such as file or xxd.`,
    );
  }
  const way = guess.kind === "text" ? `iconv -f ${guess.iconvName} -t UTF-8` : "iconv -c -f UTF-8 -t UTF-8";
  return new Error(
    `Cannot read ${path} (${formatBytes(size)}): it is ${message}. To see it, run with bash: ${way} FILE`,
  );
}

/** The number of lines of a page without a limit, and the maximum. */
const DEFAULT_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
// Below the 50 KB at which every tool's output is truncated, so that the note about the next lines is kept.
const MAX_BYTES = 46 * 1024;
const MAX_SCAN_CHARS = 16 * 1024 * 1024;

/** The requested lines; a `limit` above `DEFAULT_LINES` is lowered to it. */
interface TextWindow {
  /** 1-based. */
  offset: number;
  limit: number;
}

/** Numbered lines of a file; `firstLine` and `lastLine` from 1, both 0 for an empty file. */
interface TextPage {
  /** How to continue reading, and other notes about the file. */
  note?: string;
  output: string;
  firstLine: number;
  lastLine: number;
}

/**
 * Numbered lines of a UTF-8 file, read only as far as needed. @throws NotUtf8Error, and an error with the line count for
 * an offset beyond the end.
 */
async function readTextPage(
  path: string,
  { handle, content, signal }: Pick<OpenFile, "handle" | "content" | "signal">,
  window: TextWindow,
): Promise<TextPage> {
  const collector = createCollector(window);
  const chunks = content === undefined ? readChunks(handle) : divide(content);
  for await (const piece of decodeChunks(chunks)) {
    signal.throwIfAborted();
    collector.push(piece);
    if (collector.stop) break;
  }
  collector.end();
  if (collector.lines.length === 0) return emptyPage(path, collector.lineCount, window.offset);
  return toPage(collector, window);
}

function createCollector({ offset, limit }: TextWindow): LineCollector {
  return new LineCollector({
    firstLine: offset,
    maxLines: Math.min(limit, DEFAULT_LINES),
    maxLineChars: MAX_LINE_CHARS,
    maxBytes: MAX_BYTES,
    maxScanChars: MAX_SCAN_CHARS,
  });
}

// Of a long file only the beginning may be shown.
const PIECE_BYTES = 64 * 1024;

function* divide(content: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < content.length; start += PIECE_BYTES)
    yield content.subarray(start, start + PIECE_BYTES);
}

async function* decodeChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let last: Uint8Array = new Uint8Array();
  let isPart = false;
  try {
    for await (const chunk of chunks) {
      isPart = last.length > 0;
      last = chunk;
      if (chunk.includes(0)) throw notUtf8(chunk, { isPart });
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (error instanceof NotUtf8Error || !(error instanceof TypeError)) throw error;
    throw notUtf8(last, { isPart });
  }
}

function emptyPage(path: string, lineCount: number, offset: number): TextPage {
  if (lineCount > 0) {
    const lines = lineCount === 1 ? "1 line" : `${lineCount} lines`;
    throw new Error(
      `offset ${offset} is beyond the end of ${path}, which has ${lines}. Use a smaller offset.`,
    );
  }
  return { output: "(The file is empty.)", firstLine: 0, lastLine: 0 };
}

function toPage(
  collector: LineCollector,
  { offset, limit }: TextWindow,
  fileNotes: readonly string[] = [],
): TextPage {
  const numbered = collector.lines.map(({ text, chars }, index) => {
    const mark = chars > text.length ? lineMark(text, chars, collector.stop === "endless_line") : "";
    return `${offset + index}\t${text}${mark}`;
  });
  const lastLine = offset + collector.lines.length - 1;
  const notes = [];
  if (collector.stop === "more_lines") {
    const capped = limit > DEFAULT_LINES ? `, at most ${DEFAULT_LINES} at once` : "";
    notes.push(
      `(Lines ${offset}-${lastLine} shown${capped}; more follow. Continue with offset=${lastLine + 1}.)`,
    );
  }
  notes.push(...fileNotes);
  const note = notes.length > 0 ? { note: notes.join("\n") } : {};
  return { output: numbered.join("\n"), ...note, firstLine: offset, lastLine };
}

function lineMark(text: string, chars: number, isEndless: boolean): string {
  const shown = withoutHalfCharacter(text).length.toLocaleString("en");
  const total = `${isEndless ? "more than " : ""}${chars.toLocaleString("en")}`;
  return `… [line truncated: the first ${shown} of ${total} characters; use bash to see the rest]`;
}

/** A line without its line ending; lengths in UTF-16 units. */
interface CollectedLine {
  /** Truncated to `maxLineChars` if it is longer. */
  text: string;
  /** The length of the whole line, or up to where the collector stopped inside it. */
  chars: number;
}

/** The window of lines to keep; characters are UTF-16 units. */
interface LineWindow {
  /** 1-based. */
  firstLine: number;
  maxLines: number;
  maxLineChars: number;
  /** UTF-8 bytes of all kept lines with their numbers; the first line is kept regardless of its size. */
  maxBytes: number;
  /** How far to read from the first line's start before an endless line is abandoned. */
  maxScanChars: number;
}

/** Why reading stopped: there are more lines than fit, or a line does not end. */
type CollectorStop = "more_lines" | "endless_line";

/**
 * Receives a text in chunks and keeps a window of its lines; memory is bounded by that window. Lines end with LF,
 * CRLF or a lone CR.
 */
class LineCollector {
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

  /** Lines so far; at the end of the text, all of them. */
  get lineCount(): number {
    return this.#lineNumber - 1 + (this.#current.chars > 0 ? 1 : 0);
  }

  push(piece: string): void {
    // A CR at the end may be the first half of a CRLF.
    const text = this.#pendingCr ? `\r${piece}` : piece;
    this.#pendingCr = text.endsWith("\r");
    this.#scan(this.#pendingCr ? text.slice(0, -1) : text);
  }

  /** Call this once after the last chunk. */
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
