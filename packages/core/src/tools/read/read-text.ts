import type { FileHandle } from "node:fs/promises";
import { NotUtf8Error, notUtf8 } from "../../infrastructure/content/text-file.ts";
import { readChunks } from "../../infrastructure/reading/regular-file.ts";
import { LineCollector, withoutHalfCharacter } from "./line-collector.ts";

/** The lines of a page for which no limit is given, and the most that a page has. */
export const DEFAULT_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
// Below the 50 KB at which every tool's output is cut, so that the note about the next lines survives.
const MAX_BYTES = 46 * 1024;
const MAX_SCAN_CHARS = 16 * 1024 * 1024;

/** The lines that are asked for; a `limit` above `DEFAULT_LINES` is lowered to it. */
export interface TextWindow {
  /** 1-based. */
  offset: number;
  limit: number;
}

/** Numbered lines of a file; `firstLine` and `lastLine` from 1, both 0 for an empty file. */
export interface TextPage {
  /** How to read on, and other things to know about the file. */
  note?: string;
  output: string;
  firstLine: number;
  lastLine: number;
}

/**
 * Numbered lines of a text file, read only as far as they reach. UTF-8, or UTF-16 that begins with its mark.
 * Throws `NotUtf8Error`, and an error that tells the line count for an offset beyond the end.
 */
export async function readTextPage(
  path: string,
  source: { handle: FileHandle; start: Uint8Array; signal: AbortSignal },
  window: TextWindow,
): Promise<TextPage> {
  const collector = new LineCollector({
    firstLine: window.offset,
    maxLines: Math.min(window.limit, DEFAULT_LINES),
    maxLineChars: MAX_LINE_CHARS,
    maxBytes: MAX_BYTES,
    maxScanChars: MAX_SCAN_CHARS,
  });
  const encoding = encodingOf(source.start);
  for await (const piece of decodeChunks(readChunks(source.handle), encoding)) {
    source.signal.throwIfAborted();
    collector.push(piece);
    if (collector.stop) break;
  }
  collector.end();
  if (collector.lines.length === 0) return emptyPage(path, collector.lineCount, window.offset);
  return toPage(collector, window, encoding);
}

type ReadableEncoding = "utf-8" | "utf-16le" | "utf-16be";

function encodingOf(start: Uint8Array): ReadableEncoding {
  const [first, second, third, fourth] = start;
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0)) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

async function* decodeChunks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: ReadableEncoding,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let last: Uint8Array = new Uint8Array();
  let isPart = false;
  try {
    for await (const chunk of chunks) {
      isPart = last.length > 0;
      last = chunk;
      if (encoding === "utf-8" && chunk.includes(0)) throw notUtf8(chunk, { isPart });
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
  encoding: ReadableEncoding,
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
  if (encoding !== "utf-8") {
    notes.push(`(The file is ${encoding.toUpperCase()}; edit and write work on UTF-8 only.)`);
  }
  const note = notes.length > 0 ? { note: notes.join("\n") } : {};
  return { output: numbered.join("\n"), ...note, firstLine: offset, lastLine };
}

function lineMark(text: string, chars: number, isEndless: boolean): string {
  const shown = withoutHalfCharacter(text).length.toLocaleString("en");
  const total = `${isEndless ? "more than " : ""}${chars.toLocaleString("en")}`;
  return `… [line cut: the first ${shown} of ${total} characters; use bash to see the rest]`;
}
