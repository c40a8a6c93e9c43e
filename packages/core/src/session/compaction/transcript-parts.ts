import { cutMiddle, headOf } from "./cut-middle.ts";
import { MESSAGE_MARK } from "./transcript.ts";

const SEPARATOR = "\n\n";
const CONTINUED = `${MESSAGE_MARK} (the message before, continued)\n`;
// Enough for the line above and some text behind it.
const MIN_CHARACTERS = 200;

/** What one request can hold of a transcript. */
export interface TranscriptPart {
  text: string;
  /** The pieces that are still to come. */
  rest: string[];
}

/**
 * As many whole pieces of a transcript as have room in `maxCharacters` (200 at the least). One that is longer by itself
 * is taken as far as there is room; the rest begins with what remains of it. Nothing is left out.
 */
export function takeTranscriptPart(pieces: readonly string[], maxCharacters: number): TranscriptPart {
  const limit = Math.max(MIN_CHARACTERS, Math.floor(maxCharacters));
  let count = 0;
  let length = 0;
  for (const piece of pieces) {
    const longer = length + piece.length + (count > 0 ? SEPARATOR.length : 0);
    if (longer > limit) break;
    length = longer;
    count++;
  }
  if (count > 0 || pieces.length === 0) {
    return { text: pieces.slice(0, count).join(SEPARATOR), rest: pieces.slice(count) };
  }
  const [first = "", ...others] = pieces;
  const text = headOf(first, limit);
  return { text, rest: [CONTINUED + first.slice(text.length), ...others] };
}

/** A transcript in parts of at most `maxCharacters` (200 at the least), one after the other, with nothing left out. */
export function splitTranscript(pieces: readonly string[], maxCharacters: number): string[] {
  const parts: string[] = [];
  for (let rest = [...pieces]; rest.length > 0; ) {
    const part = takeTranscriptPart(rest, maxCharacters);
    parts.push(part.text);
    rest = part.rest;
  }
  return parts;
}

/**
 * The pieces of a transcript that is longer than `maxCharacters` without those in its middle, which are counted in their
 * place; the last ones are worth more than the first.
 */
export function shortenTranscript(pieces: readonly string[], maxCharacters: number): string[] {
  const lengthOf = (piece: string) => piece.length + SEPARATOR.length;
  if (pieces.reduce((sum, piece) => sum + lengthOf(piece), 0) <= maxCharacters) return [...pieces];
  const bounded = pieces.map((piece) => cutMiddle(piece, maxCharacters / 8));
  const head = countFitting(bounded, maxCharacters / 4, lengthOf);
  const tail = countFitting(bounded.slice(head).reverse(), maxCharacters / 2, lengthOf);
  const leftOut = bounded.length - head - tail;
  const note = `${MESSAGE_MARK} note: ${leftOut} messages are left out here, since there is no room for them.`;
  return [...bounded.slice(0, head), note, ...bounded.slice(bounded.length - tail)];
}

function countFitting(
  pieces: readonly string[],
  maxCharacters: number,
  lengthOf: (piece: string) => number,
): number {
  let length = 0;
  const end = pieces.findIndex((piece) => {
    length += lengthOf(piece);
    return length > maxCharacters;
  });
  return end < 0 ? pieces.length : end;
}
