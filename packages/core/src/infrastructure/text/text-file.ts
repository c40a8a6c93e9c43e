const SAMPLE_BYTES = 64 * 1024;
const UTF8_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The text of a file. `text` excludes the byte order mark and includes the original line endings. */
export interface TextContent {
  text: string;
  hasByteOrderMark: boolean;
  /** Of a file that is not valid UTF-8: its encoding, and its bytes when it was read. */
  legacy?: { encoding: TextEncoding; bytes: Uint8Array };
}

/** An encoding other than UTF-8. */
export interface TextEncoding {
  /** Such as `windows-1252`. */
  name: string;
  /** Invalid bytes become U+FFFD where they can be kept in place. @throws Error where they cannot. */
  decode(bytes: Uint8Array): TextContent;
  /**
   * The bytes of a changed text. @param before the bytes of the file so far: those of unchanged lines are kept.
   * @throws UnencodableTextError
   */
  encode(text: string, before?: Uint8Array): Uint8Array;
}

/** A text has a character that its encoding lacks; U+FFFD stands for bytes that are not valid. */
export class UnencodableTextError extends Error {
  override name = "UnencodableTextError";
  constructor({ character, line, encoding }: { character: string; line: number; encoding: string }) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    super(
      character === "\ufffd"
        ? `line ${line} would contain bytes that are not valid ${encoding}, shown as \ufffd. Change other lines, or use bash`
        : `"${character}" (U+${code}, line ${line}) does not exist in ${encoding}, the encoding of the file. ` +
            "Write it another way, or convert the file to UTF-8 with bash (iconv) first",
    );
  }
}

/** The bytes are not UTF-8. `message` describes them as a phrase that fits after "it is". */
export class NotUtf8Error extends Error {
  override name = "NotUtf8Error";
  constructor(
    message: string,
    readonly guess: EncodingGuess,
  ) {
    super(message);
  }
}

/** @throws NotUtf8Error for invalid bytes, which are never replaced; a NUL counts as binary. */
export function decodeUtf8(bytes: Uint8Array): TextContent {
  if (bytes.includes(0)) throw notUtf8(bytes);
  const hasByteOrderMark = UTF8_MARK.every((byte, index) => bytes[index] === byte);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text: hasByteOrderMark ? text.slice(1) : text, hasByteOrderMark };
  } catch {
    // The decoder reports neither position nor cause; they are determined for the message.
    throw notUtf8(bytes);
  }
}

/** The bytes of a file in its own encoding. @throws UnencodableTextError */
export function encodeText(content: TextContent): Uint8Array {
  const { text, legacy } = content;
  return legacy ? legacy.encoding.encode(text, legacy.bytes) : encodeUtf8(content);
}

/** Lone surrogates, which UTF-8 cannot represent, become U+FFFD. */
export function encodeUtf8({ text, hasByteOrderMark }: TextContent): Uint8Array {
  const bytes = new TextEncoder().encode(text.toWellFormed());
  return hasByteOrderMark ? Buffer.concat([UTF8_MARK, bytes]) : bytes;
}

/**
 * The error for bytes that are not UTF-8. `isPart` when they are only a part of the file: no position is given then.
 */
export function notUtf8(bytes: Uint8Array, { isPart = false } = {}): NotUtf8Error {
  const offset = findInvalidByte(bytes);
  const start = Math.max(0, Math.min(offset - SAMPLE_BYTES / 2, bytes.length - SAMPLE_BYTES));
  // The zero bytes of wide encodings alternate, so the sample starts at an even offset.
  const guess = guessEncoding(bytes.subarray(start - (start % 2), start + SAMPLE_BYTES));
  if (guess.kind === "binary") return new NotUtf8Error("binary data", guess);
  const position = isPart ? "" : ` (${describePosition(bytes, offset)})`;
  if (guess.kind === "damaged")
    return new NotUtf8Error(`UTF-8 text with a damaged character${position}`, guess);
  return new NotUtf8Error(`not UTF-8 but probably ${guess.name}${position}`, guess);
}

function describePosition(bytes: Uint8Array, offset: number): string {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, offset).toString("latin1").split("\n").length;
  const value = (bytes[offset] ?? 0).toString(16).toUpperCase().padStart(2, "0");
  return `byte 0x${value} at offset ${offset}, line ${line}`;
}

/** The position of the first byte that is not valid UTF-8, found by bisection. */
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

/** The first byte of an unfinished character before `end`, or `end` when the last one is complete. */
function sequenceStart(bytes: Uint8Array, end: number): number {
  for (let start = end; start > Math.max(0, end - 3); start--) {
    if ((bytes[start - 1] ?? 0) < 0xc0) continue;
    return isValid(bytes.subarray(start - 1, end), { mayBeCutOff: false }) ? end : start - 1;
  }
  return end;
}

/** The probable encoding of bytes that are not valid UTF-8. `iconvName` is its name for `iconv -f`. */
export type EncodingGuess =
  | { kind: "binary" }
  | { kind: "text"; name: string; iconvName: string }
  /** UTF-8 except for a few bytes. */
  | { kind: "damaged" };

const KANA = /[\u3040-\u30ff]/gu;
const HANGUL = /[\uac00-\ud7a3]/gu;
const HAN = /[\u4e00-\u9fff]/gu;

// Minimum shares of characters that are typical for the encoding and unlikely by chance. The order matters, since the
// later decoders accept nearly everything.
const MULTIBYTE = [
  { label: "shift_jis", name: "Shift-JIS", iconvName: "SHIFT_JIS", letters: KANA, share: 0.2 },
  { label: "euc-jp", name: "EUC-JP", iconvName: "EUC-JP", letters: KANA, share: 0.2 },
  { label: "euc-kr", name: "EUC-KR", iconvName: "CP949", letters: HANGUL, share: 0.8 },
  { label: "gb18030", name: "GB18030", iconvName: "GB18030", letters: HAN, share: 0.8 },
] as const;

// A single zero byte does not indicate the width of characters.
const MIN_ZEROS = 2;
const MAX_CONTROL_SHARE = 0.02;

/** Guesses the encoding from a sample that is not valid UTF-8. */
export function guessEncoding(sample: Uint8Array): EncodingGuess {
  const wide = guessWide(sample);
  if (wide) return wide;
  if (controlShare(sample) > MAX_CONTROL_SHARE) return { kind: "binary" };
  if (isMostlyUtf8(sample)) return { kind: "damaged" };
  for (const candidate of MULTIBYTE) {
    if (hasLetterShare(sample, candidate))
      return { kind: "text", name: candidate.name, iconvName: candidate.iconvName };
  }
  return { kind: "text", name: "Latin-1 or another 8-bit encoding", iconvName: "ISO-8859-1" };
}

/** Encodings with two or four bytes per character, by their mark or by the positions of zero bytes. */
function guessWide(sample: Uint8Array): EncodingGuess | undefined {
  const [first, second, third, fourth] = sample;
  if (first === 0xff && second === 0xfe) {
    return third === 0 && fourth === 0 ? named("UTF-32LE") : named("UTF-16LE");
  }
  if (first === 0xfe && second === 0xff) return named("UTF-16BE");
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return named("UTF-32BE");
  const zeros = countZeros(sample);
  if (zeros.even + zeros.odd === 0) return undefined;
  if (zeros.even + zeros.odd < MIN_ZEROS) return { kind: "binary" };
  const half = sample.length / 2;
  if (zeros.odd > half * 0.4 && zeros.even < half * 0.05) return named("UTF-16LE");
  if (zeros.even > half * 0.4 && zeros.odd < half * 0.05) return named("UTF-16BE");
  return { kind: "binary" };
}

function named(name: string): EncodingGuess {
  return { kind: "text", name, iconvName: name };
}

function countZeros(sample: Uint8Array): { even: number; odd: number } {
  const zeros = { even: 0, odd: 0 };
  for (let at = sample.indexOf(0); at !== -1; at = sample.indexOf(0, at + 1))
    zeros[at % 2 ? "odd" : "even"]++;
  return zeros;
}

/** The share of control characters other than those in ordinary texts: backspace to carriage return, and escape. */
function controlShare(sample: Uint8Array): number {
  let controls = 0;
  for (const byte of sample) {
    if ((byte < 0x20 && (byte < 0x08 || byte > 0x0d) && byte !== 0x1b) || byte === 0x7f) controls++;
  }
  return sample.length === 0 ? 0 : controls / sample.length;
}

function isMostlyUtf8(sample: Uint8Array): boolean {
  const text = new TextDecoder().decode(sample);
  const broken = text.split("\ufffd").length - 1;
  const multibyte = text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  return multibyte >= broken * 2;
}

function hasLetterShare(
  sample: Uint8Array,
  { label, letters, share }: { label: (typeof MULTIBYTE)[number]["label"]; letters: RegExp; share: number },
): boolean {
  // Not fatal: the sample may end inside a character.
  const text = new TextDecoder(label).decode(sample);
  const foreign = text.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const broken = text.split("\ufffd").length - 1;
  return foreign > 0 && broken <= 1 && (text.match(letters)?.length ?? 0) / foreign >= share;
}

const SIGNATURES: readonly { kind: string; bytes: string; offset?: number }[] = [
  { kind: "PDF document", bytes: "%PDF-" },
  { kind: "PNG image", bytes: "\x89PNG\r\n\x1a\n" },
  { kind: "JPEG image", bytes: "\xff\xd8\xff" },
  { kind: "GIF image", bytes: "GIF8" },
  { kind: "WebP image", bytes: "WEBP", offset: 8 },
  { kind: "BMP image", bytes: "BM" },
  { kind: "TIFF image", bytes: "II*\0" },
  { kind: "TIFF image", bytes: "MM\0*" },
  { kind: "HEIC or AVIF image, or MP4 video", bytes: "ftyp", offset: 4 },
  { kind: "WAV audio", bytes: "WAVE", offset: 8 },
  { kind: "MP3 audio", bytes: "ID3" },
  { kind: "Ogg audio or video", bytes: "OggS" },
  { kind: "ZIP archive (or a format built on it, such as docx, jar, apk)", bytes: "PK\x03\x04" },
  { kind: "gzip archive", bytes: "\x1f\x8b" },
  { kind: "bzip2 archive", bytes: "BZh" },
  { kind: "xz archive", bytes: "\xfd7zXZ\0" },
  { kind: "Zstandard archive", bytes: "\x28\xb5\x2f\xfd" },
  { kind: "7-Zip archive", bytes: "7z\xbc\xaf\x27\x1c" },
  { kind: "tar archive", bytes: "ustar", offset: 257 },
  { kind: "ELF program or library", bytes: "\x7fELF" },
  { kind: "Mach-O program or library", bytes: "\xcf\xfa\xed\xfe" },
  { kind: "Java class file", bytes: "\xca\xfe\xba\xbe" },
  { kind: "Windows program", bytes: "MZ" },
  { kind: "WebAssembly module", bytes: "\0asm" },
  { kind: "SQLite database", bytes: "SQLite format 3\0" },
  { kind: "WOFF font", bytes: "wOF" },
];

const IMAGES: readonly string[] = ["PNG image", "JPEG image", "GIF image", "WebP image"];

/** The type of a binary file by its first bytes, such as `PDF document`; undefined when unknown. */
export function fileSignature(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, 512)).toString("latin1");
  return SIGNATURES.find(({ bytes, offset = 0 }) => text.startsWith(bytes, offset))?.kind;
}

/** True for the first bytes of the image formats that models support. */
export function startsLikeImage(start: Uint8Array): boolean {
  const kind = fileSignature(start);
  return kind !== undefined && IMAGES.includes(kind);
}
