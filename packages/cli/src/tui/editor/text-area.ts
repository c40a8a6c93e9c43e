import { Editor, type EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import { CURSOR_MARKER, type TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { getGraphemeSegmenter, getWordSegmenter, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { escapeCharacter, sanitizeTerminalText } from "../../text/terminal-text.ts";

/** The rows of a text area, of which a caller may show fewer. */
export interface TextAreaRows {
  /** Rows of text; the cursor position is marked for pi-tui if the area has the focus. */
  text: string[];
  /** The row with the cursor, from 0. */
  cursorRow: number;
  /** The number of text rows above and below these. */
  hiddenAbove: number;
  hiddenBelow: number;
  /** Rows of the open completion list. */
  completion: string[];
}

/** A pending request for completions. */
interface CompletionRequest {
  /** Requested with Tab: a single completion is inserted at once. */
  readonly isExplicit: boolean;
  /** Never fails. */
  readonly done: Promise<void>;
}

const BORDER = "\0";
// pi-tui loops forever when it wraps a character that is wider than a row. One column is reserved for the
// cursor.
const WIDEST_CHARACTER = 2;
const MIN_COLUMNS = WIDEST_CHARACTER + 1;
const INVERSE = "\x1b[7m";
const RESET = "\x1b[0m";

/**
 * pi-tui's editor without its borders and its own cursor; it treats a placeholder as one character.
 *
 * How it splits text into characters, where it puts the cursor in an earlier prompt, and when it requests
 * completions, are private methods of pi-tui that are replaced on the object here. The tests of the prompt
 * editor fail if an upgrade renames them.
 */
export class TextArea extends Editor {
  private hiddenAbove = 0;
  private hiddenBelow = 0;
  private request: CompletionRequest | undefined;
  /** The text before the cursor of the last request. */
  private requestedFor: string | undefined;

  constructor(tui: TUI, theme: EditorTheme) {
    super(tui, theme);
    Object.defineProperty(this, "segment", {
      value: (text: string, mode: "word" | "grapheme") =>
        mode === "word" ? segmentAroundPlaceholders(text, getWordSegmenter()) : segmentCharacters(text),
    });
    this.endHistoryAtEnd();
    this.followRequests();
  }

  /** The pending request for completions; undefined if the list is up to date. */
  get completionRequest(): CompletionRequest | undefined {
    return this.request;
  }

  /** The text of the line before the cursor. */
  get textBeforeCursor(): string {
    const { line, col } = this.getCursor();
    return (this.getLines()[line] ?? "").slice(0, col);
  }

  /** Requests completions, unless they were already requested for the same text before the cursor. */
  completeText(): void {
    const request: unknown = Reflect.get(this, "requestAutocomplete");
    if (this.requestedFor === this.textBeforeCursor || typeof request !== "function") return;
    Reflect.apply(request, this, [{ force: false, explicitTab: false }]);
  }

  /**
   * pi-tui puts the cursor before an earlier prompt that Up brings; shells put it after, to continue typing.
   */
  private endHistoryAtEnd(): void {
    const setText: unknown = Reflect.get(Editor.prototype, "setTextInternal");
    if (typeof setText !== "function") return;
    Object.defineProperty(this, "setTextInternal", {
      value: (text: string) => void Reflect.apply(setText, this, [text, "end"]),
    });
  }

  /** pi-tui delays requests for files and does not report any request. */
  private followRequests(): void {
    const request: unknown = Reflect.get(Editor.prototype, "requestAutocomplete");
    const cancel: unknown = Reflect.get(Editor.prototype, "cancelAutocompleteRequest");
    if (typeof request !== "function" || typeof cancel !== "function") return;
    Object.defineProperty(this, "getAutocompleteDebounceMs", { value: () => 0 });
    Object.defineProperty(this, "requestAutocomplete", {
      value: (options: { force: boolean; explicitTab: boolean }) => {
        Reflect.apply(request, this, [options]);
        this.follow(options.force || options.explicitTab);
      },
    });
    Object.defineProperty(this, "cancelAutocompleteRequest", {
      value: () => {
        Reflect.apply(cancel, this, []);
        this.request = undefined;
        this.requestedFor = undefined;
      },
    });
  }

  private follow(isExplicit: boolean): void {
    const work: unknown = Reflect.get(this, "autocompleteRequestTask");
    const request = { isExplicit, done: Promise.resolve(work).then(() => {}) };
    this.request = request;
    this.requestedFor = this.textBeforeCursor;
    void request.done.then(() => {
      if (this.request === request) this.request = undefined;
    });
  }

  /** Rows of at most `width` columns, and of three if it is less. */
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

/** Splits a letter with many marks that take their own columns: it would be wider than any row. */
function* segmentCharacters(text: string): Generator<Intl.SegmentData, void> {
  for (const data of segmentAroundPlaceholders(text, getGraphemeSegmenter())) {
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

/** The terminal's own cursor shows the position; a row contains no other escape sequence. */
function withoutDrawnCursor(row: string): string {
  const start = row.indexOf(INVERSE);
  if (start < 0) return row;
  const end = row.indexOf(RESET, start);
  const shown = row.slice(start + INVERSE.length, end) + row.slice(end + RESET.length);
  return row.slice(0, start) + shown;
}

export { CURSOR_MARKER };

/**
 * Stores texts that the editor shows as placeholders. All outside text passes through it on the way in, and
 * on the way out it returns the original text.
 */
export class PastedTexts {
  private held: HeldTexts = [];

  /** The text in the form that may be put into the editor. */
  hold(text: string): string {
    return this.store(holdText(this.held, text));
  }

  /** The text that a paste adds to the text `shown`; a long paste becomes a label. */
  holdPaste(data: string, shown: string): string {
    return this.store(takePaste(this.held, data, shown));
  }

  /** The text that a key types, which may be empty; undefined for a key that the editor can handle safely. */
  holdKey(data: string): string | undefined {
    const typed = readTypedText(data);
    if (typed === undefined || typed === "") return typed;
    const shown = this.hold(typed);
    return shown === typed ? undefined : shown;
  }

  /** The original of the editor's text. */
  release(shown: string): string {
    return releaseText(this.held, shown);
  }

  /** Like `release`, but long pastes are blanks. */
  releaseVisible(shown: string): string {
    return releaseVisibleText(this.held, shown);
  }

  private store({ text, held }: Holding): string {
    this.held = held;
    return text;
  }
}

/**
 * pi-tui's editor counts columns and moves over the characters that it contains. Text that is shown
 * differently (a long paste, a tab, an invisible character) is therefore represented by a run of private-use
 * characters, one per character of the visible label, with an invisible number after the first that
 * identifies the text. Such characters cannot come from outside, because input that contains them is replaced
 * by placeholders as well.
 */

// Private use, plane 16: the first character of a run, and the others, which represent the label's characters
// from U+0020 to U+007E.
const FIRST = 0x10f000;
const NEXT = 0x10f100;
// Tag characters take no column and never occur as text here, since they are among the characters that are
// not shown raw.
const DIGIT = 0xe0030;
const BASE = 10;

const FIRST_CLASS = "\\u{10f020}-\\u{10f07e}";
const NEXT_CLASS = "\\u{10f120}-\\u{10f17e}";
const DIGITS = "\\u{e0030}-\\u{e0039}";
const PLACEHOLDER_RUN = new RegExp(`[${FIRST_CLASS}]([${DIGITS}]+)[${NEXT_CLASS}]*`, "gu");
// A row may begin within a run.
const PART = new RegExp(`[${FIRST_CLASS}][${DIGITS}]*[${NEXT_CLASS}]*|[${NEXT_CLASS}]+`, "gu");
const PRIVATE = new RegExp(`[${FIRST_CLASS}${NEXT_CLASS}]`, "u");

/** The run for a label of printable ASCII characters, at least one. `number` counts from 0. */
function createPlaceholder(label: string, number: number): string {
  const digits = Array.from(number.toString(BASE), (digit) => String.fromCodePoint(DIGIT + Number(digit)));
  const [first = "", ...rest] = Array.from(label, (character, index) =>
    String.fromCodePoint((index === 0 ? FIRST : NEXT) + character.charCodeAt(0)),
  );
  return [first, ...digits, ...rest].join("");
}

/** The text with every run replaced by `textOf` of its number. */
function replacePlaceholders(text: string, textOf: (number: number) => string): string {
  return text.replace(PLACEHOLDER_RUN, (_run: string, digits: string) => textOf(readNumber(digits)));
}

/** The numbers of the runs in a text, in order. */
function findPlaceholders(text: string): number[] {
  return Array.from(text.matchAll(PLACEHOLDER_RUN), ([, digits = ""]) => readNumber(digits));
}

/** A row of the editor, which may contain part of a run, with the labels instead of the runs. */
export function showPlaceholders(row: string, style: (label: string) => string): string {
  return row.replace(PART, (part) => {
    const label = Array.from(part, toLabelCharacter).join("");
    return label.trim() === "" ? label : style(label);
  });
}

/** The text with blanks instead of the runs; every character keeps its position. */
export function blankPlaceholders(text: string): string {
  return text.replace(PART, (part) => " ".repeat(part.length));
}

/** True for a character that runs consist of. */
function isPlaceholderCharacter(character: string): boolean {
  return PRIVATE.test(character);
}

/**
 * The text in segments as `segmenter` makes them, except that each run is one segment, and counts as a word.
 */
function segmentAroundPlaceholders(text: string, segmenter: Intl.Segmenter): Iterable<Intl.SegmentData> {
  return PRIVATE.test(text) ? divide(text, segmenter) : segmenter.segment(text);
}

function* divide(text: string, segmenter: Intl.Segmenter): Generator<Intl.SegmentData, void> {
  let end = 0;
  for (const { 0: run, index } of text.matchAll(PLACEHOLDER_RUN)) {
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

/** A text that the editor shows as a label. */
interface HeldText {
  readonly kind: "paste" | "character";
  readonly content: string;
  readonly label: string;
}

/**
 * All texts that a prompt editor has ever held, by number: undo and the kill ring may bring back any of them.
 */
type HeldTexts = readonly HeldText[];

/** A text in the editor's form, with everything that it stands for. */
interface Holding {
  text: string;
  held: HeldTexts;
}

const TAB = "    ";

/**
 * The text with a placeholder for each tab and each character that must not reach a terminal or is invisible.
 */
function holdText(held: HeldTexts, text: string): Holding {
  const clean = cleanText(text);
  if (isShownAsItIs(clean)) return { text: clean, held };
  const all = [...held];
  const numbers = new Map<string, number>();
  const numberOf = (content: string) => {
    const known = all.findIndex((each) => each.kind === "character" && each.content === content);
    if (known >= 0) return known;
    const label = content === "\t" ? TAB : escapeCharacter(content);
    return all.push({ kind: "character", content, label }) - 1;
  };
  const shown = clean.replace(/[^\n -~]/gu, (character) => {
    if (character !== "\t" && isShownAsItIs(character)) return character;
    const number = numbers.get(character) ?? numberOf(character);
    numbers.set(character, number);
    return createPlaceholder(all[number]?.label ?? " ", number);
  });
  return { text: shown, held: all };
}

/**
 * The placeholder for a text that is shown as `[label]`; it includes a number if the same label is already in
 * `shown`, so that people can tell them apart.
 */
function holdPaste(
  held: HeldTexts,
  content: string,
  { label, shown }: { label: string; shown: string },
): Holding {
  const labels = new Set(findPlaceholders(shown).map((number) => held[number]?.label));
  let own = `[${label}]`;
  for (let count = 2; labels.has(own); count++) own = `[${label} #${count}]`;
  return {
    text: createPlaceholder(own, held.length),
    held: [...held, { kind: "paste", content, label: own }],
  };
}

/** The original of the editor's text: all placeholders are replaced by what they stand for. */
function releaseText(held: HeldTexts, text: string): string {
  return replacePlaceholders(text, (number) => held[number]?.content ?? "");
}

/** The typed text and visible pastes: long pastes are blanks. */
function releaseVisibleText(held: HeldTexts, text: string): string {
  return replacePlaceholders(text, (number) => {
    const each = held[number];
    return each?.kind === "character" ? each.content : " ";
  });
}

function isShownAsItIs(text: string): boolean {
  return !text.includes("\t") && !isPlaceholderCharacter(text) && sanitizeTerminalText(text) === text;
}

// A longer paste would push typed text out of sight.
const MAX_SHOWN_LINES = 10;
const MAX_SHOWN_CHARS = 1_000;

/**
 * The text that a paste adds to the editor: the paste itself, or `[pasted 120 lines]` if it is long.
 *
 * @param data the input, without the paste markers around it.
 * @param shown the editor's text so far.
 */
function takePaste(held: HeldTexts, data: string, shown: string): Holding {
  const content = cleanPaste(data);
  const lines = countLines(content);
  if (lines > MAX_SHOWN_LINES) return holdPaste(held, content, { label: `pasted ${lines} lines`, shown });
  if (content.length <= MAX_SHOWN_CHARS) return holdText(held, content);
  return holdPaste(held, content, { label: `pasted ${content.length} characters`, shown });
}

/** A trailing line end does not start another line. */
function countLines(text: string): number {
  const lines = text.split("\n").length;
  return text.endsWith("\n") ? lines - 1 : lines;
}

/**
 * Normalises a text for a prompt: line ends become LF, tabs stay, other control characters are removed, and
 * surrogate halves become U+FFFD. Merely invisible characters stay.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/(?![\n\t])\p{Cc}/gu, "");
}

/**
 * The pasted text within the input between paste markers. Some popups of tmux send control characters within
 * a paste as keys (`CSI 106 ; 5 u` for a line feed); escape sequences lose their escape character and remain
 * as text.
 */
export function cleanPaste(data: string): string {
  const decoded = data.replace(CONTROL_KEY, (sequence: string, code: string) => {
    const letter = Number(code) | 0x20;
    return letter >= 0x61 && letter <= 0x7a ? String.fromCharCode(letter - 0x60) : sequence;
  });
  return cleanText(decoded);
}

const CONTROL_KEY = new RegExp(`${"\x1b"}\\[(\\d{1,3});5u`, "g");

/**
 * The text that a key types, safe or not; empty for some keys, and undefined for keys that do something else.
 */
export function readTypedText(data: string): string | undefined {
  const decoded = decodePrintableKey(data);
  // The Kitty protocol gives keys without a character, such as F13, numbers in this range, which pi-tui takes
  // for text.
  if (decoded !== undefined) return /^[\ue000-\uf8ff]$/.test(decoded) ? "" : decoded;
  return data >= " " && data !== "\x7f" ? data : undefined;
}
