/**
 * Names of files are bytes, and not always text. A name is held as a string in which a byte that belongs to no UTF-8
 * character stands as a lone surrogate, U+DC80 to U+DCFF (as Python does it, PEP 383): so every name has exactly one string,
 * which JSON keeps too.
 */

const FIRST_ESCAPE = 0xdc00;
const LAST_ESCAPE = 0xdcff;
const LONGEST_CHARACTER = 4;
/** Stands in a string for bytes that are no text, and may itself be in a name. */
export const REPLACEMENT = "\ufffd";

/** A name, or a path, as the system gave it. */
export function fromNameBytes(bytes: Buffer): string {
  const text = bytes.toString();
  // The replacement character may be in the name itself.
  return !text.includes(REPLACEMENT) || Buffer.from(text).equals(bytes) ? text : escapeBytes(bytes);
}

/** A path for a call of the system: bytes where a string could not say it. */
export function toSystemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.concat([...path].map(toBytes));
}

function escapeBytes(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    text += character ?? String.fromCharCode(FIRST_ESCAPE + (bytes[at] ?? 0));
    at += character === undefined ? 1 : Buffer.byteLength(character);
  }
  return text;
}

function characterAt(bytes: Buffer, at: number): string | undefined {
  for (let length = 1; length <= LONGEST_CHARACTER; length++) {
    const part = bytes.subarray(at, at + length);
    const text = part.toString();
    if ([...text].length === 1 && Buffer.from(text).equals(part)) return text;
  }
  return undefined;
}

function toBytes(character: string): Buffer {
  const code = character.charCodeAt(0);
  const isEscape = character.length === 1 && code > FIRST_ESCAPE && code <= LAST_ESCAPE;
  return isEscape ? Buffer.of(code - FIRST_ESCAPE) : Buffer.from(character);
}
