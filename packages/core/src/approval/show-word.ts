const MAX_SHOWN_CHARS = 200;

/** What a sentence could be made of, or a quotation ended with. */
const UNLIKE_A_WORD = /[\s"'`\u00ab\u00bb\u201c-\u201f\u2800\u3164]|\p{C}/u;

/**
 * A word of a command, or a path, as it stands in a reason: what a model has named is never to be read as a part of what
 * is said about it. Anything that is not plainly one word is quoted, in marks that it cannot close, and cut where it is long.
 */
export function showWord(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS && !UNLIKE_A_WORD.test(text)) return text;
  const shown = text
    .slice(0, MAX_SHOWN_CHARS)
    .toWellFormed()
    .replace(/[\u201c-\u201f]/g, "'");
  return `“${shown}${text.length > MAX_SHOWN_CHARS ? "…" : ""}”`;
}
