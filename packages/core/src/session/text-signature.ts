// A long session has hundreds of megabytes of text, most of it compressed in memory: a signature of each message shows
// that a word is not in it, without decompressing it.

// About a quarter of the bits are set then, so few messages are decompressed needlessly, even for short words.
const BITS_PER_CHARACTER = 2;
const MIN_BITS = 256;
// 8 KB; nearly every short word may occur in a longer text.
const MAX_BITS = 65_536;
const WORD_BITS = 32;
const GRAM = 4;

/** The groups of four characters of a text, as a set that may contain additional groups but never lacks one. */
export type TextSignature = Uint32Array;

/** @param text in lower case. */
export function createSignature(text: string): TextSignature {
  const wanted = Math.min(MAX_BITS, Math.max(MIN_BITS, text.length * BITS_PER_CHARACTER));
  const bits = 2 ** Math.ceil(Math.log2(wanted));
  const signature = new Uint32Array(bits / WORD_BITS);
  for (let index = 0; index + GRAM <= text.length; index++) {
    const bit = hashAt(text, index) & (bits - 1);
    signature[bit >>> 5] = (signature[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  return signature;
}

/** False only if the word, in lower case, is certainly not in the text. */
export function mayContain(signature: TextSignature, word: string): boolean {
  const bits = signature.length * WORD_BITS;
  for (let index = 0; index + GRAM <= word.length; index++) {
    const bit = hashAt(word, index) & (bits - 1);
    if (((signature[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

function hashAt(text: string, index: number): number {
  const first = text.charCodeAt(index) * 0x1f_3d + text.charCodeAt(index + 1);
  const second = text.charCodeAt(index + 2) * 0x1f_3d + text.charCodeAt(index + 3);
  return Math.imul(Math.imul(first, 0x9e37_79b1) + second, 0x85eb_ca6b) >>> 12;
}
