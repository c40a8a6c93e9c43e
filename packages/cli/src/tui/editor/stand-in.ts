/**
 * The editor of pi-tui counts columns and moves over the very characters it is given. What it is to show as something
 * else (a long paste, a tab, a character nobody can see) therefore stands in its text as a run of private characters, one
 * for each character of the label that is shown, with an invisible number behind the first that tells which it is. No
 * such character can come from outside: whoever fills the editor holds those too (`held-text.ts`).
 */

// Private use, plane 16: the first character of a run, and the others, as label characters from U+0020 to U+007E.
const FIRST = 0x10f000;
const NEXT = 0x10f100;
// Tag characters take no column and are never text of their own here, since they are among what is not shown raw.
const DIGIT = 0xe0030;
const BASE = 10;

const FIRST_CLASS = "\\u{10f020}-\\u{10f07e}";
const NEXT_CLASS = "\\u{10f120}-\\u{10f17e}";
const DIGITS = "\\u{e0030}-\\u{e0039}";
const STAND_IN = new RegExp(`[${FIRST_CLASS}]([${DIGITS}]+)[${NEXT_CLASS}]*`, "gu");
// A row may begin within a run.
const PART = new RegExp(`[${FIRST_CLASS}][${DIGITS}]*[${NEXT_CLASS}]*|[${NEXT_CLASS}]+`, "gu");
const PRIVATE = new RegExp(`[${FIRST_CLASS}${NEXT_CLASS}]`, "u");

/** The run for a label of printable ASCII characters, at least one. `number` counts from 0. */
export function createStandIn(label: string, number: number): string {
  const digits = Array.from(number.toString(BASE), (digit) => String.fromCodePoint(DIGIT + Number(digit)));
  const [first = "", ...rest] = Array.from(label, (character, index) =>
    String.fromCodePoint((index === 0 ? FIRST : NEXT) + character.charCodeAt(0)),
  );
  return [first, ...digits, ...rest].join("");
}

/** The text with every run replaced by what `textOf` says for its number. */
export function replaceStandIns(text: string, textOf: (number: number) => string): string {
  return text.replace(STAND_IN, (_run: string, digits: string) => textOf(readNumber(digits)));
}

/** The numbers of the runs in a text, in order. */
export function findStandIns(text: string): number[] {
  return Array.from(text.matchAll(STAND_IN), ([, digits = ""]) => readNumber(digits));
}

/** A row of the editor, which may hold but a part of a run, with the labels in place of the runs. */
export function showStandIns(row: string, style: (label: string) => string): string {
  return row.replace(PART, (part) => {
    const label = Array.from(part, toLabelCharacter).join("");
    return label.trim() === "" ? label : style(label);
  });
}

/** The text with blanks in place of the runs; every character keeps its place. */
export function blankStandIns(text: string): string {
  return text.replace(PART, (part) => " ".repeat(part.length));
}

/** True for a character that runs are made of. */
export function isStandInCharacter(character: string): boolean {
  return PRIVATE.test(character);
}

/** The text in segments as `segmenter` makes them, but that each run is one, and like a word. */
export function segmentAroundStandIns(text: string, segmenter: Intl.Segmenter): Iterable<Intl.SegmentData> {
  return PRIVATE.test(text) ? divide(text, segmenter) : segmenter.segment(text);
}

function* divide(text: string, segmenter: Intl.Segmenter): Generator<Intl.SegmentData, void> {
  let end = 0;
  for (const { 0: run, index } of text.matchAll(STAND_IN)) {
    yield* segmentsFrom(text, { start: end, end: index, segmenter });
    yield { segment: run, index, input: text, isWordLike: true };
    end = index + run.length;
  }
  yield* segmentsFrom(text, { start: end, end: text.length, segmenter });
}

function* segmentsFrom(
  text: string,
  { start, end, segmenter }: { start: number; end: number; segmenter: Intl.Segmenter },
): Generator<Intl.SegmentData, void> {
  for (const data of segmenter.segment(text.slice(start, end)))
    yield { ...data, index: start + data.index, input: text };
}

function readNumber(digits: string): number {
  return Number.parseInt(Array.from(digits, (digit) => (digit.codePointAt(0) ?? 0) - DIGIT).join(""), BASE);
}

function toLabelCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < FIRST ? "" : String.fromCharCode(code & 0xff);
}
