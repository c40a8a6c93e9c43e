/** The longest marker that `cutMiddle` puts into a text. */
export const MARKER_CHARACTERS = 44;

/**
 * A text that is longer than `keptCharacters` as its beginning (two thirds of what is kept) and its end, with a line
 * between them that says how much is missing. No character is torn in two.
 */
export function cutMiddle(text: string, keptCharacters: number): string {
  if (text.length <= keptCharacters) return text;
  const kept = Math.max(0, Math.floor(keptCharacters));
  const head = headOf(text, Math.ceil((kept * 2) / 3));
  const tail = tailOf(text, kept - head.length);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** The first characters of a text, at most `maxCharacters`, without half a character at its end. */
export function headOf(text: string, maxCharacters: number): string {
  const end = Math.floor(maxCharacters);
  const isTorn = text.length > end && isHighSurrogate(text.charCodeAt(end - 1));
  return text.slice(0, isTorn ? end - 1 : end);
}

function tailOf(text: string, maxCharacters: number): string {
  const start = Math.max(0, text.length - maxCharacters);
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
