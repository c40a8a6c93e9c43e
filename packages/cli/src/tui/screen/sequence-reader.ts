const ESCAPE = "\x1b";
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

/** The parameters and intermediates of a control sequence, without the character that ends it. */
const PARAMETERS = /[0-?]*[ -/]*/y;
const FINAL = /^[@-~]$/;
// Three bytes with button and place follow.
const MOUSE = "\x1b[M";
const MOUSE_LENGTH = 6;
/** A character key as the Kitty protocol reports it. */
const REPORTED_CHARACTER = new RegExp(`^${ESCAPE}\\[(\\d+)(?::\\d*){0,2}u$`);

/** The kind of input that the reader holds back until it is complete. */
export type Unfinished = "nothing" | "escape" | "sequence" | "paste";

/**
 * Splits the input of a terminal into keys, replies and pastes. The same input gives the same elements in
 * whatever chunks it arrives. Only the Escape key, and keys that start like a longer sequence, are ambiguous:
 * call `flush` if nothing followed in time.
 */
export class SequenceReader {
  private rest = "";
  private paste: UnfinishedPaste | undefined;
  /** Some terminals send a character once more after the sequence that reports it. */
  private reported: string | undefined;

  get unfinished(): Unfinished {
    if (this.paste) return "paste";
    if (this.rest === "") return "nothing";
    return this.rest === ESCAPE ? "escape" : "sequence";
  }

  /** The elements that are complete now, in order; a paste is one element, with its markers. */
  read(input: string): string[] {
    const complete: string[] = [];
    let text = this.rest + input;
    this.rest = "";
    for (let at = 0; ; ) {
      if (this.paste) {
        const { whole, rest } = this.paste.add(text.slice(at));
        if (whole === undefined) break;
        this.paste = undefined;
        complete.push(whole);
        [text, at] = [rest, 0];
      }
      const end = at < text.length ? findSequenceEnd(text, at) : undefined;
      this.rest = end === undefined ? text.slice(at) : "";
      if (end === undefined) break;
      const sequence = text.slice(at, end);
      if (sequence === PASTE_START) this.paste = new UnfinishedPaste();
      else complete.push(sequence);
      at = end;
    }
    return complete.filter((sequence) => !this.isRepeated(sequence));
  }

  /** Returns an incomplete sequence as it is. A paste continues until its end arrives. */
  flush(): string[] {
    const { rest } = this;
    this.rest = "";
    return rest === "" ? [] : [rest];
  }

  /** Discards incomplete input. */
  clear(): void {
    this.rest = "";
    this.paste = undefined;
    this.reported = undefined;
  }

  private isRepeated(sequence: string): boolean {
    const isRepeated = sequence === this.reported;
    const code = isRepeated ? undefined : REPORTED_CHARACTER.exec(sequence)?.[1];
    this.reported = code === undefined ? undefined : toCharacter(Number(code));
    return isRepeated;
  }
}

/** A paste without its end. It is joined only once: it may be megabytes in thousands of chunks. */
class UnfinishedPaste {
  private readonly pieces = [PASTE_START];
  /** The last characters, in which the end marker may start. */
  private tail = "";

  /** @returns the whole paste once its end has arrived, and the input after it. */
  add(piece: string): { whole: string | undefined; rest: string } {
    const joined = this.tail + piece;
    const mark = joined.indexOf(PASTE_END);
    const end = mark < 0 ? piece.length : mark + PASTE_END.length - this.tail.length;
    this.pieces.push(piece.slice(0, end));
    this.tail = joined.slice(1 - PASTE_END.length);
    return { whole: mark < 0 ? undefined : this.pieces.join(""), rest: piece.slice(end) };
  }
}

/** The content of a paste, without its markers; undefined for other input. */
export function readPaste(sequence: string): string | undefined {
  if (!sequence.startsWith(PASTE_START)) return undefined;
  const end = sequence.endsWith(PASTE_END) ? -PASTE_END.length : undefined;
  return sequence.slice(PASTE_START.length, end);
}

function toCharacter(code: number): string | undefined {
  return code >= 0x20 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Undefined if the sequence is incomplete. */
function findSequenceEnd(text: string, at: number): number | undefined {
  if (text[at] !== ESCAPE) return findCharacterEnd(text, at);
  switch (text[at + 1]) {
    case undefined:
      return undefined;
    // The Escape key; the second one starts the next element.
    case ESCAPE:
      return at + 1;
    case "[":
      return findControlEnd(text, at);
    case "O":
      return findShiftEnd(text, at);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return findStringEnd(text, at);
    default:
      return findCharacterEnd(text, at + 1);
  }
}

function findCharacterEnd(text: string, at: number): number | undefined {
  const code = text.codePointAt(at) ?? 0;
  if (code > 0xffff) return at + 2;
  const isHalf = code >= 0xd800 && code <= 0xdbff && at + 1 >= text.length;
  return isHalf ? undefined : at + 1;
}

/** `ESC [`, parameters and a final character; any other character starts the next element. */
function findControlEnd(text: string, at: number): number | undefined {
  if (text.startsWith(MOUSE, at)) return text.length - at < MOUSE_LENGTH ? undefined : at + MOUSE_LENGTH;
  // The Linux console sends `ESC [ [ A` for F1.
  const start = text[at + 2] === "[" ? at + 3 : at + 2;
  PARAMETERS.lastIndex = start;
  const end = start + (PARAMETERS.exec(text)?.[0].length ?? 0);
  const final = text[end];
  if (final === undefined) return undefined;
  return FINAL.test(final) ? end + 1 : end;
}

function findShiftEnd(text: string, at: number): number | undefined {
  const key = text[at + 2];
  if (key === undefined) return undefined;
  return key === ESCAPE ? at + 2 : at + 3;
}

/** A string ends with `ESC \` or BEL; before any other escape it was a key. */
function findStringEnd(text: string, at: number): number | undefined {
  const bell = text.indexOf("\x07", at);
  const next = text.indexOf(ESCAPE, at + 2);
  if (bell >= 0 && (next < 0 || bell < next)) return bell + 1;
  if (next < 0 || next + 1 >= text.length) return undefined;
  return text[next + 1] === "\\" ? next + 2 : next;
}
