import iconv from "iconv-lite";
import { type EncodingGuess, type TextEncoding, UnencodableTextError } from "./text-file.ts";

/**
 * Finds the encoding for a name such as `windows-1252`, `Shift_JIS` or `utf-16le`; undefined for an unknown one, and
 * for those that are no encodings of text files.
 * @param bytes of the file: without a byte order in the name, their mark decides.
 */
export function findEncoding(name: string, bytes: Uint8Array): TextEncoding | undefined {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (plain === "utf8") return STRAY_UTF8;
  if (NOT_FOR_FILES.has(plain) || !iconv.encodingExists(name)) return undefined;
  const wide = findWide(plain, bytes);
  return wide === undefined ? createLineEncoding(name) : createWideEncoding(wide);
}

const NOT_FOR_FILES: ReadonlySet<string> = new Set([
  "",
  "base64",
  "hex",
  "binary",
  "utf7",
  "utf7imap",
  "cesu8",
]);

function findWide(plain: string, [first]: Uint8Array): string | undefined {
  if (plain === "utf16" || plain === "ucs2") return first === 0xfe ? "UTF-16BE" : "UTF-16LE";
  if (plain === "utf32") return first === 0 ? "UTF-32BE" : "UTF-32LE";
  return /^utf(16|32)[bl]e$/.test(plain)
    ? `UTF-${plain.slice(3, 5)}${plain.slice(5).toUpperCase()}`
    : undefined;
}

/** The encoding that a guess stands for; undefined for binary data. */
export function toEncoding(guess: EncodingGuess, bytes: Uint8Array): TextEncoding | undefined {
  if (guess.kind === "binary") return undefined;
  if (guess.kind === "damaged") return STRAY_UTF8;
  return findEncoding(guess.iconvName === "ISO-8859-1" ? guessEightBit(bytes) : guess.iconvName, bytes);
}

/** Windows-1252 differs from Latin-1 in bytes that are control characters there, which no text contains. */
function guessEightBit(bytes: Uint8Array): string {
  const isControl = (byte: number) => byte >= 0x80 && byte <= 0x9f;
  const isUndefined = (byte: number) => [0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte);
  return bytes.some(isControl) && !bytes.some(isUndefined) ? "windows-1252" : "ISO-8859-1";
}

const LINE_FEED = 0x0a;

interface EncodedLine {
  text: string;
  bytes: Uint8Array;
}

/**
 * An encoding in which the byte of a line feed is never a part of another character. Lines that stay the same keep
 * their bytes, so bytes that are invalid, or not the ones that this encoder would write, survive changes elsewhere.
 */
function createLineEncoding(name: string, codec = codecOf(name)): TextEncoding {
  const encoding: TextEncoding = {
    name,
    decode(bytes) {
      const text = decodeLines(codec, bytes)
        .map((line) => line.text)
        .join("\n");
      return { text, hasByteOrderMark: false, legacy: { encoding, bytes } };
    },
    encode(text, before) {
      const given = text.split("\n");
      const old = before ? decodeLines(codec, before) : [];
      const kept = keepLines(old, given);
      const pieces = given.map((line, index) => kept[index] ?? encodeLine(codec, { name, line, index }));
      return joinLines(pieces);
    },
  };
  return encoding;
}

interface Codec {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array;
}

function codecOf(name: string): Codec {
  return {
    decode: (bytes) => iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), name),
    encode: (text) => iconv.encode(text, name),
  };
}

const UTF8: Codec = {
  decode: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  encode: (text) => new TextEncoder().encode(text),
};

/** UTF-8 with some bytes that are not. */
const STRAY_UTF8 = createLineEncoding("UTF-8", UTF8);

function decodeLines(codec: Codec, bytes: Uint8Array): EncodedLine[] {
  const lines = splitBytes(bytes);
  const texts = codec.decode(bytes).split("\n");
  // The first half of a character at the end of a line takes the line feed along: then each line is decoded alone.
  const isAligned = texts.length === lines.length;
  return lines.map((line, index) => ({
    text: (isAligned && texts[index]) || codec.decode(line),
    bytes: line,
  }));
}

/** The bytes of lines that are as before, by their index; those at the beginning and the end are found first. */
function keepLines(old: readonly EncodedLine[], given: readonly string[]): (Uint8Array | undefined)[] {
  const kept: (Uint8Array | undefined)[] = Array(given.length).fill(undefined);
  const shorter = Math.min(old.length, given.length);
  let start = 0;
  for (; start < shorter && old[start]?.text === given[start]; start++) kept[start] = old[start]?.bytes;
  let end = 0;
  for (; end < shorter - start && old.at(-1 - end)?.text === given.at(-1 - end); end++)
    kept[given.length - 1 - end] = old.at(-1 - end)?.bytes;
  const between = new Map<string, Uint8Array[]>();
  for (const { text, bytes } of old.slice(start, old.length - end))
    between.set(text, [...(between.get(text) ?? []), bytes]);
  for (let index = start; index < given.length - end; index++)
    kept[index] = between.get(given[index] ?? "")?.shift();
  return kept;
}

function encodeLine(
  codec: Codec,
  { name, line, index }: { name: string; line: string; index: number },
): Uint8Array {
  const bytes = codec.encode(line);
  if (!line.includes("\ufffd") && codec.decode(bytes) === line) return bytes;
  const character = Array.from(line).find((each) => codec.decode(codec.encode(each)) !== each) ?? "\ufffd";
  throw new UnencodableTextError({ character, line: index + 1, encoding: name });
}

function splitBytes(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...lines, bytes.subarray(start)];
}

function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  const lineFeed = Uint8Array.of(LINE_FEED);
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [lineFeed, line])));
}

/** An encoding with two or four bytes for a character. */
function createWideEncoding(name: string): TextEncoding {
  const encode = (text: string, hasMark: boolean) => iconv.encode(hasMark ? `\ufeff${text}` : text, name);
  const encoding: TextEncoding = {
    name,
    decode(bytes) {
      const whole = iconv.decode(Buffer.from(bytes), name, { stripBOM: false });
      const hasByteOrderMark = whole.startsWith("\ufeff");
      const text = hasByteOrderMark ? whole.slice(1) : whole;
      if (!encode(text, hasByteOrderMark).equals(bytes))
        throw new Error(`It is not valid ${name}: some of its bytes stand for no character.`);
      return { text, hasByteOrderMark, legacy: { encoding, bytes } };
    },
    encode: (text, before) => encode(text, before === undefined || encoding.decode(before).hasByteOrderMark),
  };
  return encoding;
}
