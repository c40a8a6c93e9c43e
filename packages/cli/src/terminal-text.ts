/**
 * Makes text from outside (models, tools, files, errors, titles) safe to write to a terminal.
 *
 * The characters that begin or end control sequences are shown as escapes such as `\x1b`, one by one; sequences are
 * never parsed, so it makes no difference where a text is cut or whether a sequence is complete. Kept as they are: line
 * feeds, tabs, printable text, and the joiners and variation selectors that emoji and many scripts are written with.
 * Shown as escapes: all other C0 controls, DEL, C1 controls, carriage returns (CRLF becomes LF), direction overrides
 * and marks, zero-width spaces and fillers, line and paragraph separators, and the plane of the invisible tag characters.
 */
export function sanitizeTerminalText(text: string): string {
  // Halves of a character could join with a neighbour's into one that was never checked.
  return text.toWellFormed().replace(/\r\n/g, "\n").replace(UNSAFE, escapeCharacter);
}

/**
 * Like `sanitizeTerminalText`, and every other character that leaves no mark on the screen is shown as well, spaces that
 * are none of the keyboard's and the CR of a CRLF included: for text that somebody is asked to judge.
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
  // Only as much as could fit is looked at: a tool may hand over megabytes.
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

/** Sanitises a text that arrives in pieces; the result does not depend on where they were cut. */
export class TerminalTextStream {
  private held = "";

  /** The safe form of everything up to here, but for a last character whose meaning the next piece decides. */
  push(piece: string): string {
    const text = this.held + piece;
    const last = text.charCodeAt(text.length - 1);
    const undecided = last === CARRIAGE_RETURN || (last >= 0xd800 && last <= 0xdbff);
    this.held = undecided ? text.slice(-1) : "";
    return sanitizeTerminalText(undecided ? text.slice(0, -1) : text);
  }

  /** What was still held back. */
  end(): string {
    const rest = this.held;
    this.held = "";
    return sanitizeTerminalText(rest);
  }
}

const CARRIAGE_RETURN = 0x0d;

/** Ranges of code points: what moves the cursor, switches modes, reorders text or hides in it. */
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
  // But for the variation selectors among them, this plane is for what is never seen.
  [0xe0000, 0xe00ff],
  [0xe01f0, 0xe0fff],
]);

/**
 * What is left that shows nothing: joiners, variation selectors, unassigned ignorable and private characters, the spaces
 * of typography, the Braille pattern and the musical note without a dot.
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
