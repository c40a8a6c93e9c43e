/** What bytes that are no valid UTF-8 probably are. `iconvName` is the encoding as `iconv -f` takes it. */
export type EncodingGuess =
  | { kind: "binary" }
  | { kind: "text"; name: string; iconvName: string }
  /** UTF-8 but for a few bytes. */
  | { kind: "damaged" };

const KANA = /[\u3040-\u30ff]/gu;
const HANGUL = /[\uac00-\ud7a3]/gu;
const HAN = /[\u4e00-\u9fff]/gu;

// Shares of characters that text of the encoding has and that chance does not produce; order matters, since the
// decoders of the later ones accept nearly everything.
const MULTIBYTE = [
  { label: "shift_jis", name: "Shift-JIS", iconvName: "SHIFT_JIS", letters: KANA, share: 0.2 },
  { label: "euc-jp", name: "EUC-JP", iconvName: "EUC-JP", letters: KANA, share: 0.2 },
  { label: "euc-kr", name: "EUC-KR", iconvName: "CP949", letters: HANGUL, share: 0.8 },
  { label: "gb18030", name: "GB18030", iconvName: "GB18030", letters: HAN, share: 0.8 },
] as const;

// A single zero byte says nothing about the width of characters.
const MIN_ZEROS = 2;
const MAX_CONTROL_SHARE = 0.02;

/** Guesses from a sample; only bytes that UTF-8 refuses should get here. */
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

/** Encodings of two or four bytes a character, by their mark or by where the zero bytes stand. */
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

/** Control characters other than those that occur in text: backspace to carriage return, and escape. */
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
  return multibyte > broken * 2;
}

function hasLetterShare(
  sample: Uint8Array,
  { label, letters, share }: { label: (typeof MULTIBYTE)[number]["label"]; letters: RegExp; share: number },
): boolean {
  // Not fatal: the sample may end in the middle of a character.
  const text = new TextDecoder(label).decode(sample);
  const foreign = text.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const broken = text.split("\ufffd").length - 1;
  return foreign > 0 && broken <= 1 && (text.match(letters)?.length ?? 0) / foreign >= share;
}
