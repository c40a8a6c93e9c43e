/**
 * Makes text from outside (models, tools, files, errors, titles) safe to write to a terminal.
 *
 * Characters that start or end control sequences are shown as escapes such as `\x1b`, one by one; sequences are never
 * parsed, so truncated or incomplete ones make no difference. Kept: line feeds, tabs, printable text, and the joiners
 * and variation selectors needed by emoji and many scripts. Escaped: all other C0 controls, DEL, C1 controls, carriage
 * returns (CRLF becomes LF), direction overrides and marks, zero-width spaces and fillers, line and paragraph
 * separators, and the plane of the invisible tag characters.
 */
export function sanitizeTerminalText(text: string): string {
  // Surrogate halves could combine with a neighbour into a character that was never checked.
  return text.toWellFormed().replace(/\r\n/g, "\n").replace(UNSAFE, escapeCharacter);
}

/**
 * Like `sanitizeTerminalText`, but also escapes every other invisible character, including non-keyboard spaces and the
 * CR of a CRLF: for text in approval questions.
 */
export function revealTerminalText(text: string): string {
  return text.toWellFormed().replace(UNSAFE, escapeCharacter).replace(INVISIBLE, escapeCharacter);
}

/** True for a character that `revealTerminalText` shows as an escape. */
export function isHiddenCharacter(character: string): boolean {
  return character !== "\n" && revealTerminalText(character) !== character;
}

/** Safe text on one line: line breaks and tabs become spaces, what exceeds `maxColumns` is cut with `…`. */
export function toSingleLine(text: string, maxColumns: number): string {
  // Only as much as could fit is examined: a tool may return megabytes.
  const head = text.slice(0, maxColumns * 20);
  const line = sanitizeTerminalText(head).replace(/\s+/g, " ").trim();
  if (head.length === text.length && Bun.stringWidth(line) <= maxColumns) return line;
  let kept = "";
  let columns = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    columns += Bun.stringWidth(segment);
    if (columns >= maxColumns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Sanitises a text that arrives in chunks; the result does not depend on the chunk boundaries. */
export class TerminalTextStream {
  private held = "";

  /** The safe form of everything so far, except a last character that depends on the next chunk. */
  push(piece: string): string {
    const text = this.held + piece;
    const last = text.charCodeAt(text.length - 1);
    const undecided = last === CARRIAGE_RETURN || (last >= 0xd800 && last <= 0xdbff);
    this.held = undecided ? text.slice(-1) : "";
    return sanitizeTerminalText(undecided ? text.slice(0, -1) : text);
  }

  /** The remaining text. */
  end(): string {
    const rest = this.held;
    this.held = "";
    return sanitizeTerminalText(rest);
  }
}

const CARRIAGE_RETURN = 0x0d;

/** Code point ranges of characters that move the cursor, switch modes, reorder text or hide in it. */
const UNSAFE = characterClass([
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  // Apart from its variation selectors, this plane contains only invisible characters.
  [0xe0000, 0xe00ff],
  [0xe01f0, 0xe0fff],
]);

/**
 * The remaining invisible characters: joiners, variation selectors, unassigned ignorable and private characters,
 * typographic spaces, the blank Braille pattern and the blank musical note.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2800\u{1d159}]|(?! )\p{Zs}/gu;

function characterClass(ranges: readonly (readonly [number, number])[]): RegExp {
  const toEscape = (code: number) => `\\u{${code.toString(16)}}`;
  return new RegExp(
    `[${ranges.map(([first, last]) => `${toEscape(first)}-${toEscape(last)}`).join("")}]`,
    "gu",
  );
}

/** The escape a character is shown as, such as `\\x1b` or `\\u{200b}`. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === CARRIAGE_RETURN) return "\\r";
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
