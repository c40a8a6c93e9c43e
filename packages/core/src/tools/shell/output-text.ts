/**
 * What a command wrote, as text for the model: colours and cursor movements go, of a line that was overwritten by
 * carriage returns the last state stays, a NUL becomes `␀`, bytes that are no UTF-8 become `�`.
 */
export function toOutputText(bytes: Uint8Array): string {
  const decoded = Bun.stripANSI(new TextDecoder().decode(bytes)).replaceAll("\0", "␀");
  if (!decoded.includes("\r")) return decoded;
  return decoded.split("\n").map(lastState).join("\n");
}

function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  return line.split("\r").findLast((state) => state !== "") ?? "";
}

/** The longest beginning of `bytes` within both limits; it ends with a line where one ends in its second half. */
export function headOf(
  bytes: Buffer,
  { maxBytes, maxLines }: { maxBytes: number; maxLines: number },
): Buffer {
  let end = 0;
  for (let line = 0; line < maxLines; line++) {
    const next = bytes.indexOf(NEWLINE, end);
    if (next === -1 && bytes.length <= maxBytes) return bytes;
    if (next === -1 || next >= maxBytes) break;
    end = next + 1;
    if (line === maxLines - 1) return bytes.subarray(0, end);
  }
  if (end > maxBytes / 2) return bytes.subarray(0, end);
  return bytes.subarray(0, characterStart(bytes, Math.min(maxBytes, bytes.length)));
}

/** The longest end of `bytes` within both limits; it begins with a line where one begins in its first half. */
export function tailOf(
  bytes: Buffer,
  { maxBytes, maxLines }: { maxBytes: number; maxLines: number },
): Buffer {
  let start = Math.max(0, bytes.length - maxBytes);
  const lineEnd = bytes.indexOf(NEWLINE, start);
  if (start > 0 && lineEnd !== -1 && lineEnd < start + maxBytes / 2) start = lineEnd + 1;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.subarray(Math.max(start, startOfLastLines(bytes, maxLines)));
}

/** Counts LF only, without making a string of the bytes. */
export function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === NEWLINE) count++;
  return count;
}

const NEWLINE = 0x0a;

// A character takes at most four bytes, three of them continuations.
const MAX_CONTINUATIONS = 3;

function startOfLastLines(bytes: Buffer, maxLines: number): number {
  let start = bytes.length - (bytes.at(-1) === NEWLINE ? 1 : 0);
  for (let line = 0; line < maxLines && start > 0; line++) start = bytes.lastIndexOf(NEWLINE, start - 1);
  return start <= 0 ? 0 : start + 1;
}

/** The last position up to `end` at which a character begins; `end` itself where the bytes are no UTF-8. */
function characterStart(bytes: Buffer, end: number): number {
  for (let back = 0; back <= MAX_CONTINUATIONS && end - back > 0; back++) {
    if (!isContinuation(bytes[end - back])) return end - back;
  }
  return end;
}

/** The second to fourth bytes of a UTF-8 character have the bits 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
