import { Editor, type EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import { CURSOR_MARKER, type TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { getGraphemeSegmenter, getWordSegmenter, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { segmentAroundStandIns } from "./stand-in.ts";

/** The rows of a text area as they would be drawn, of which a caller may show fewer. */
export interface TextAreaRows {
  /** Rows of text; the cursor's place is marked for pi-tui when the area has the focus. */
  text: string[];
  /** The row with the cursor, from 0. */
  cursorRow: number;
  /** How many rows of text are above and below these. */
  hiddenAbove: number;
  hiddenBelow: number;
  /** Rows of the open completion list. */
  completion: string[];
}

const BORDER = "\0";
// pi-tui wraps a character that is wider than a row without end. One column is kept for the cursor.
const WIDEST_CHARACTER = 2;
const MIN_COLUMNS = WIDEST_CHARACTER + 1;
const INVERSE = "\x1b[7m";
const RESET = "\x1b[0m";

/**
 * pi-tui's editor without its borders and its drawn cursor, to which a stand-in is one character.
 *
 * How it divides text into characters is a private method of pi-tui's, replaced here on the object; a test of the prompt
 * editor fails when an upgrade calls it otherwise.
 */
export class TextArea extends Editor {
  private hiddenAbove = 0;
  private hiddenBelow = 0;

  constructor(tui: TUI, theme: EditorTheme) {
    super(tui, theme);
    Object.defineProperty(this, "segment", {
      value: (text: string, mode: "word" | "grapheme") =>
        mode === "word" ? segmentAroundStandIns(text, getWordSegmenter()) : segmentCharacters(text),
    });
  }

  /** Rows of at most `width` columns, or of three where it is less. */
  layOut(width: number): TextAreaRows {
    const rows = this.render(Math.max(MIN_COLUMNS, width));
    const end = rows.lastIndexOf(BORDER);
    const text = rows.slice(1, end);
    return {
      text: text.map(withoutDrawnCursor),
      cursorRow: Math.max(
        0,
        text.findIndex((row) => row.includes(INVERSE)),
      ),
      hiddenAbove: this.hiddenAbove,
      hiddenBelow: this.hiddenBelow,
      completion: rows.slice(end + 1),
    };
  }

  protected override renderTopBorder(_width: number, hiddenRows: number): string {
    this.hiddenAbove = hiddenRows;
    return BORDER;
  }

  protected override renderBottomBorder(_width: number, hiddenRows: number): string {
    this.hiddenBelow = hiddenRows;
    return BORDER;
  }
}

/** A letter with many marks that stand beside it is divided: it would be wider than any row. */
function* segmentCharacters(text: string): Generator<Intl.SegmentData, void> {
  for (const data of segmentAroundStandIns(text, getGraphemeSegmenter())) {
    const isOne =
      data.segment.length <= 1 || data.isWordLike || visibleWidth(data.segment) <= WIDEST_CHARACTER;
    if (isOne) yield data;
    else yield* divideCharacter(data);
  }
}

function* divideCharacter({ segment, index, input }: Intl.SegmentData): Generator<Intl.SegmentData, void> {
  let start = index;
  for (const part of segment) {
    yield { segment: part, index: start, input };
    start += part.length;
  }
}

/** The terminal's own cursor shows the place; nothing else in a row is an escape sequence. */
function withoutDrawnCursor(row: string): string {
  const start = row.indexOf(INVERSE);
  if (start < 0) return row;
  const end = row.indexOf(RESET, start);
  const shown = row.slice(start + INVERSE.length, end) + row.slice(end + RESET.length);
  return row.slice(0, start) + shown;
}

export { CURSOR_MARKER };
