import { closeSync, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileLine {
  text: string;
  /** False for a last line without a newline: the process that wrote it may have died. */
  complete: boolean;
}

/**
 * The lines of a file, one after the other, without their ends (LF or CRLF) and without reading it whole: memory grows
 * with the longest line only. Empty lines are passed over. The file is closed when the loop is left.
 */
export function* readLines(path: string): Generator<FileLine> {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let parts: Buffer[] = [];
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < count; end = chunk.indexOf(NEWLINE, start)) {
        const text = decodeLine([...parts, chunk.subarray(start, end)]);
        parts = [];
        start = end + 1;
        if (text !== "") yield { text, complete: true };
      }
      if (start < count) parts.push(Buffer.from(chunk.subarray(start, count)));
    }
    const rest = decodeLine(parts);
    if (rest !== "") yield { text: rest, complete: false };
  } finally {
    closeSync(file);
  }
}

function decodeLine(parts: Buffer[]): string {
  const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  const text = line.toString();
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
