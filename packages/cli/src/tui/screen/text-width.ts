import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { visibleWidth as countCarefully } from "@earendil-works/pi-tui/dist/utils.js";

/** Columns a tab takes on our screen wherever it stands, which is what the editor of pi-tui counts. */
export const TAB_COLUMNS = 3;

/**
 * Where Bun counts other columns than terminals show: tabs, marks that stand beside their letter (Indic, Burmese), half a
 * flag, blank letters, and pi-tui's mark of the cursor. The marks are Unicode's, and those that the tables of older
 * terminals have besides.
 */
const UNCOUNTED =
  /[\t\p{Mc}\u{1f1e6}-\u{1f1ff}\u3164\uffa0\u065f\u0f7f\u102b\u102c\u1031\u1033-\u1035\u1038\u103a-\u103e]/u;

/** Characters that every terminal shows in the same number of columns, alone and beside each other. */
const SETTLED =
  /^[\p{Cc} -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0373\u0376\u0377\u037a-\u037f\u0384-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u20a0-\u20bf\u2190-\u2193\u21d0-\u21d5\u2200-\u22ff\u2500-\u25a9\u25ac-\u25b5\u25b7-\u25bf\u25c1-\u25fa\u2713\u2717\u2800-\u28ff\u3000-\u3029\u3041-\u3096\u309b-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9f]*$/u;
const ASCII = /^[ -~]*$/;

/**
 * How many columns a line takes on our screen; escape sequences take none. Bun's own count, which is fifty times faster
 * than one in JavaScript, but for the texts that it miscounts.
 */
export function visibleWidth(text: string): number {
  if (text.includes(CURSOR_MARKER)) return visibleWidth(text.replaceAll(CURSOR_MARKER, ""));
  return UNCOUNTED.test(text) ? sumCharacters(text) : Bun.stringWidth(text);
}

const segmenter = new Intl.Segmenter();

/** One by one, so that a text takes what its characters take, each of them as it is counted alone. */
function sumCharacters(text: string): number {
  let columns = 0;
  for (const { segment } of segmenter.segment(Bun.stripANSI(text))) {
    columns += UNCOUNTED.test(segment) ? countCarefully(segment) : Bun.stringWidth(segment);
  }
  return columns;
}

/** True for text without anything but printable ASCII characters: as many columns as characters. */
export function isPrintableAscii(text: string): boolean {
  return ASCII.test(text);
}

/**
 * False for text that terminals disagree about: emoji and what they are composed of, combining marks, characters of newer
 * Unicode versions. Escape sequences make no difference.
 */
export function isWidthSettled(text: string): boolean {
  return SETTLED.test(text);
}

/** The columns that `text` takes at most, in a terminal that shows each of its characters by itself. */
export function mostColumns(text: string): number {
  let columns = 0;
  for (const character of Bun.stripANSI(text)) {
    if (character <= "\x7f") columns += 1;
    else if (!/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) columns += /\p{Mc}/u.test(character) ? 1 : 2;
  }
  return columns;
}
