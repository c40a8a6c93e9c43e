import { type EncodingGuess, guessEncoding } from "./encoding-guess.ts";

const SAMPLE_BYTES = 64 * 1024;
const UTF8_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The text of a UTF-8 file. The byte order mark is not part of `text`; line ends are, as they are in the file. */
export interface TextContent {
  text: string;
  hasByteOrderMark: boolean;
}

/** The bytes are no UTF-8. `message` says what they are, in words that fit behind "it is". */
export class NotUtf8Error extends Error {
  override name = "NotUtf8Error";
  constructor(
    message: string,
    readonly guess: EncodingGuess,
  ) {
    super(message);
  }
}

/** Throws a `NotUtf8Error` for anything else, so that no byte is ever replaced; a NUL counts as binary. */
export function decodeUtf8(bytes: Uint8Array): TextContent {
  if (bytes.includes(0)) throw notUtf8(bytes);
  const hasByteOrderMark = UTF8_MARK.every((byte, index) => bytes[index] === byte);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text: hasByteOrderMark ? text.slice(1) : text, hasByteOrderMark };
  } catch {
    // The decoder says neither where nor why; that is found out for the message.
    throw notUtf8(bytes);
  }
}

/** Halves of a surrogate pair, which UTF-8 cannot hold, become U+FFFD. */
export function encodeUtf8({ text, hasByteOrderMark }: TextContent): Uint8Array {
  const bytes = new TextEncoder().encode(text.toWellFormed());
  return hasByteOrderMark ? Buffer.concat([UTF8_MARK, bytes]) : bytes;
}

/** The error for bytes that are no UTF-8. `isPart` when they are only a piece of the file: no place is named then. */
export function notUtf8(bytes: Uint8Array, { isPart = false } = {}): NotUtf8Error {
  const offset = findInvalidByte(bytes);
  const start = Math.max(0, Math.min(offset - SAMPLE_BYTES / 2, bytes.length - SAMPLE_BYTES));
  // The zero bytes of wide encodings alternate, so the sample begins at an even place.
  const guess = guessEncoding(bytes.subarray(start - (start % 2), start + SAMPLE_BYTES));
  if (guess.kind === "binary") return new NotUtf8Error("binary data", guess);
  const place = isPart ? "" : ` (${describePlace(bytes, offset)})`;
  if (guess.kind === "damaged") return new NotUtf8Error(`UTF-8 text with a damaged character${place}`, guess);
  return new NotUtf8Error(`not UTF-8 but probably ${guess.name}${place}`, guess);
}

function describePlace(bytes: Uint8Array, offset: number): string {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, offset).toString("latin1").split("\n").length;
  const value = (bytes[offset] ?? 0).toString(16).toUpperCase().padStart(2, "0");
  return `byte 0x${value} at offset ${offset}, line ${line}`;
}

/** Where the first byte stands that is no UTF-8 text, found by halving. */
function findInvalidByte(bytes: Uint8Array): number {
  const zero = bytes.indexOf(0);
  const head = zero === -1 ? bytes : bytes.subarray(0, zero);
  if (isValid(head, { mayBeCutOff: zero !== -1 })) return Math.max(zero, 0);
  let valid = 0;
  let invalid = head.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isValid(head.subarray(0, middle), { mayBeCutOff: true })) valid = middle;
    else invalid = middle;
  }
  return sequenceStart(head, valid);
}

function isValid(bytes: Uint8Array, { mayBeCutOff }: { mayBeCutOff: boolean }): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: mayBeCutOff });
    return true;
  } catch {
    return false; // The failure is the answer.
  }
}

/** The first byte of the unfinished character that ends before `end`, or `end` when the last one is whole. */
function sequenceStart(bytes: Uint8Array, end: number): number {
  for (let start = end; start > Math.max(0, end - 3); start--) {
    if ((bytes[start - 1] ?? 0) < 0xc0) continue;
    return isValid(bytes.subarray(start - 1, end), { mayBeCutOff: false }) ? end : start - 1;
  }
  return end;
}
