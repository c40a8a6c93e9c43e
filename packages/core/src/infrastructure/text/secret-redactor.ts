/** A secret value and its placeholder, such as `[key of anthropic]`. */
export interface SecretValue {
  value: string;
  placeholder: string;
}

/** Finds secrets that nobody has named, by their form and their surroundings. */
export interface SecretFinder {
  /** In order and without overlaps; equal for equal texts. */
  find(text: string): readonly { start: number; end: number; kind: string }[];
  /** How many characters at the end of an unfinished text may belong to a secret, at most 200. */
  countOpen(text: string): number;
  /** The placeholder of a value: always the same one. */
  placeholderOf(value: string): string;
  /** False for a value that is no secret. */
  isSecret(value: string): boolean;
}

/** Placeholders of a session. */
export interface PlaceholderLists {
  /** Those that have replaced something in its texts. */
  issued: Iterable<string>;
  /** Those that a text from elsewhere has contained. */
  foreign: Iterable<string>;
}

/** A place in a text where a placeholder stands for a part of it. */
export interface MaskedPart {
  placeholder: string;
  /** What stands there. */
  original: string;
  start: number;
  end: number;
}

/** A form in which a secret appears in a text. */
interface SecretForm {
  text: string;
  placeholder: string;
  /** The searched text: the beginning of the form, or all of it. */
  head: string;
  /** The end of the form, if its beginning may be cut off; undefined if only the complete form counts. */
  tail?: string | undefined;
}

/** A searched text. */
interface Needle {
  form: SecretForm;
  text: string;
}

interface Range {
  start: number;
  end: number;
  placeholder: string;
}

// Shorter values occur in ordinary texts.
const MIN_VALUE_CHARS = 8;
// A truncated key is recognized by a piece of this length. Common prefixes of keys, such as `sk-ant-api03-`, are
// shorter.
const PIECE_CHARS = 20;
// A shorter key has no pieces: a piece would be most of it.
const MIN_CHARS_WITH_PIECES = 30;
// The encoded form of a shorter value could be a word.
const MIN_ENCODED_CHARS = 16;
// The minimum length of a line of a longer secret, such as a private key, that is redacted separately.
const MIN_LINE_CHARS = 24;
// The header of a signed token, which most tokens share.
const COMMON_BEGINNING = /^eyJ/;
const TOKEN = /^[\w.+/=~:-]+$/;
// What a text can end with while a secret is incomplete; a longer one is cut there.
const MAX_UNDECIDED_CHARS = 200;
// Values that were found are searched for in later texts; a file with more of them is searched itself.
const MAX_FOUND_VALUES = 20_000;
// A text passes several times, as an event, an entry and part of a request; names of properties pass all the time.
const MAX_REMEMBERED_CHARS = 4 * 1024 * 1024;
// What a remembered text takes besides its characters.
const REMEMBERED_OVERHEAD = 128;

// What a key is written with: keys have no spaces.
const LONG_RUN = new RegExp(`[!-~]{${MIN_VALUE_CHARS},}`, "g");
const WORD = /^[^A-Za-z0-9]*(?:[A-Z]?[a-z]+|[A-Z]+)(?:'[a-z]+)?[^A-Za-z0-9]*$/;
// A longer run of letters may be a key.
const MAX_WORD_CHARS = 20;

/** False for a text of words only. A key of at most 20 letters, all small or all large, is such a word, too. */
export function mayContainKey(text: string): boolean {
  const runs = text.match(LONG_RUN) ?? [];
  return runs.some((run) => run.length > MAX_WORD_CHARS || !WORD.test(run));
}

// Nobody can make up its code.
const CODED_PLACEHOLDER = /^\[secret [\w-]{1,60} [0-9a-f]{8}\]$/;
const PLACEHOLDER = /\[(?:secret|key of|value of) [^\]\n]{1,100}\]/g;

/**
 * Replaces secrets in texts by their placeholders: verbatim, in base64, URL encoding, hexadecimal and JSON escapes, and
 * long pieces of truncated keys. Data without secrets is returned as the same object.
 */
export class SecretRedactor {
  private readonly placeholders = new Map<string, string>();
  private readonly index = new NeedleIndex();
  private finder: SecretFinder | undefined;
  private known = new WeakMap<object, unknown>();
  private remembered = new Map<string, string>();
  private rememberedChars = 0;
  private readonly shown = new Set<string>();
  /** The values of those that stood for a value itself, not for a part or an encoded form of it. */
  private readonly issued = new Map<string, string>();
  private readonly foreign = new Set<string>();
  private foundCount = 0;

  constructor(secrets: readonly SecretValue[] = []) {
    for (const secret of secrets) this.add(secret);
  }

  /** Redacts this value as well from now on, if it has 8 characters or more. The first placeholder of a value stays. */
  add(secret: SecretValue): void {
    if (!this.include(secret)) return;
    this.known = new WeakMap();
    this.forget();
  }

  /** Redacts from now on what this finds as well. */
  use(finder: SecretFinder): void {
    this.finder = finder;
    this.known = new WeakMap();
    this.forget();
  }

  /** Redacts a text, or every string in a data structure, including keys. The data itself is not changed. */
  redact<T>(value: T): T;
  redact(value: unknown): unknown {
    if (this.placeholders.size === 0 && this.finder === undefined) return value;
    if (typeof value === "string") return this.redactText(value);
    if (typeof value !== "object" || value === null) return value;
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const redacted = Array.isArray(value) ? this.redactList(value) : this.redactRecord(value);
    this.known.set(value, redacted);
    return redacted;
  }

  /**
   * The secrets in a text, in order and without overlaps.
   * @param undecided how many characters at its end may be part of a secret of which more is to come.
   */
  findParts(text: string, undecided = 0): MaskedPart[] {
    return mergeRanges(this.findRanges(text, undecided)).map(({ start, end, placeholder }) => ({
      ...{ start, end, placeholder },
      original: text.slice(start, end),
    }));
  }

  /** The placeholders in a text that stand for something: this redactor has put them into some text. */
  placeholdersIn(text: string): string[] {
    return [...new Set(text.match(PLACEHOLDER))].filter((placeholder) => this.shown.has(placeholder));
  }

  /** All placeholders that this redactor has put into a text. */
  get shownPlaceholders(): ReadonlySet<string> {
    return this.shown;
  }

  /** All placeholders that texts from elsewhere have named. */
  get foreignPlaceholders(): ReadonlySet<string> {
    return this.foreign;
  }

  /**
   * Continues an earlier session, which another program has masked: what it has issued stands for known values, and
   * what it was told from elsewhere is not restored.
   */
  continueFrom({ issued, foreign }: PlaceholderLists): void {
    for (const placeholder of foreign) this.foreign.add(placeholder);
    const values = new Map([...this.placeholders].map(([value, placeholder]) => [placeholder, value]));
    for (const placeholder of issued) {
      const value = CODED_PLACEHOLDER.test(placeholder) ? values.get(placeholder) : undefined;
      if (value !== undefined) this.show(placeholder, value);
    }
  }

  /** Placeholders in a text that comes from elsewhere: somebody wants them restored who does not know the value. */
  noteForeign(text: string): void {
    for (const placeholder of text.match(PLACEHOLDER) ?? []) this.foreign.add(placeholder);
  }

  /** The value of a placeholder that was issued here, unless a text from elsewhere has named it, too. */
  valueOf(placeholder: string): string | undefined {
    return this.foreign.has(placeholder) ? undefined : this.issued.get(placeholder);
  }

  /** Redacts an unfinished text: a possible beginning of a secret at its end is left out. */
  redactPart(text: string): string {
    return this.redact(text.slice(0, text.length - this.countUndecided(text)));
  }

  /** How many characters at the end of a text may be the beginning of a secret, at most 200. */
  countUndecided(text: string): number {
    return Math.max(this.index.countOpen(text), this.finder?.countOpen(text) ?? 0);
  }

  private include({ value, placeholder }: SecretValue): boolean {
    if (value.length < MIN_VALUE_CHARS || this.placeholders.has(value)) return false;
    this.placeholders.set(value, placeholder);
    for (const form of toForms({ value, placeholder })) this.index.add(form);
    return true;
  }

  private redactText(text: string): string {
    if (text.length < MIN_VALUE_CHARS) return text;
    const remembered = this.remembered.get(text);
    if (remembered !== undefined) return remembered;
    const ranges = this.findRanges(text);
    const redacted = ranges.length === 0 ? text : replaceRanges(text, mergeRanges(ranges));
    this.remember(text, redacted);
    return redacted;
  }

  private findRanges(text: string, undecided = 0): Range[] {
    const named = this.index.find(text);
    const found = this.findUnnamed(text, { named, undecided });
    // A value that was found just now may stand elsewhere in the text, too.
    const all = found.length === 0 ? named : [...found, ...this.index.find(text)];
    for (const { start, end, placeholder } of all) this.show(placeholder, text.slice(start, end));
    return all;
  }

  private findUnnamed(
    text: string,
    { named, undecided }: { named: readonly Range[]; undecided: number },
  ): Range[] {
    const found = this.finder?.find(text) ?? [];
    if (found.length === 0) return [];
    const covered = mergeAdjacent(named);
    const cut = text.length - undecided;
    return found.flatMap(({ start, end }) => {
      const isNamed = covered.some((range) => range.start <= start && range.end >= end);
      if (isNamed || (start >= cut && undecided > 0)) return [];
      const value = text.slice(start, end);
      // The beginning of a value is not searched for later.
      const placeholder = end > cut ? this.finder?.placeholderOf(value) : this.placeholderOf(value);
      return placeholder === undefined ? [] : [{ start, end, placeholder }];
    });
  }

  /** A value that was found once is a secret in later texts, too, whatever is around it there. */
  private placeholderOf(value: string): string | undefined {
    const known = this.placeholders.get(value);
    if (known !== undefined || !this.finder?.isSecret(value)) return known;
    const placeholder = this.finder.placeholderOf(value);
    if (this.foundCount < MAX_FOUND_VALUES && this.include({ value, placeholder })) {
      this.foundCount += 1;
      // Texts that were sent stay as they were: requests begin as the previous ones did.
      this.forget();
    }
    return placeholder;
  }

  private show(placeholder: string, original: string): void {
    this.shown.add(placeholder);
    if (this.placeholders.get(original) === placeholder) this.issued.set(placeholder, original);
  }

  private remember(text: string, redacted: string): void {
    if (text.length > MAX_REMEMBERED_CHARS / 4) return;
    if (this.rememberedChars > MAX_REMEMBERED_CHARS) this.forget();
    this.remembered.set(text, redacted);
    this.rememberedChars += text.length + REMEMBERED_OVERHEAD;
  }

  private forget(): void {
    this.remembered = new Map();
    this.rememberedChars = 0;
  }

  /** Most data has no secrets: then nothing is copied. */
  private redactList(list: readonly unknown[]): unknown {
    return list.every((item) => this.redact(item) === item) ? list : list.map((item) => this.redact(item));
  }

  private redactRecord(record: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(record);
    // Objects that are not plain data, such as errors, are redacted by their owners.
    if (prototype !== Object.prototype && prototype !== null) return record;
    const entries = Object.entries(record);
    if (entries.every(([key, value]) => this.redactText(key) === key && this.redact(value) === value))
      return record;
    return Object.fromEntries(entries.map(([key, value]) => [this.redactText(key), this.redact(value)]));
  }
}

/**
 * Redacts a text that arrives in pieces: a possible beginning of a secret is held back until more arrives. The returned
 * pieces together are the redacted text.
 */
export class RedactedPieces {
  private waiting = "";
  /** The end of what was shown, as it arrived: the name before a value says that it is a secret. */
  private before = "";

  constructor(private readonly redactor: SecretRedactor) {}

  /** The text that can be shown now; may be empty. */
  push(piece: string): string {
    const text = this.before + this.waiting + piece;
    const waiting = this.waiting.length + piece.length;
    return this.show(text, Math.min(waiting, this.redactor.countUndecided(text)));
  }

  /** The remaining text at the end. */
  finish(): string {
    return this.show(this.before + this.waiting, 0);
  }

  private show(text: string, undecided: number): string {
    const from = this.before.length;
    const parts = this.redactor.findParts(text, undecided);
    // A secret that has arrived only in part is shown, or waits, as a whole.
    const cut = text.length - undecided;
    const divided = parts.find(({ start, end }) => start < cut && end > cut);
    const until = divided === undefined ? cut : divided.end;
    let shown = "";
    let end = from;
    for (const part of parts) {
      if (part.end <= from || part.start >= until) continue;
      shown += text.slice(end, Math.max(end, part.start)) + (part.start >= from ? part.placeholder : "");
      end = part.end;
    }
    shown += text.slice(end, Math.max(end, until));
    this.waiting = text.slice(Math.max(end, until));
    this.before = contextIn(text.slice(0, Math.max(end, until)));
    return shown;
  }
}

// A private key has about 3,200 characters, and its first line says that it is one.
const MAX_CONTEXT_CHARS = 4096;
const KEY_LINE = "-----BEGIN ";
const MAX_TOKEN_CHARS = 2048;
const BACKSLASH = 92;
// A name, a sign and a scheme before a value.
const MAX_NAME_CHARS = 120;

/** The end of a shown text that decides about what follows: all of it would be searched with each piece that arrives. */
function contextIn(shown: string): string {
  const end = shown.slice(-MAX_CONTEXT_CHARS);
  if (end.includes(KEY_LINE)) return end;
  const least = Math.max(0, end.length - MAX_TOKEN_CHARS);
  let word = end.length;
  while (word > least && isInWord(end.charCodeAt(word - 1))) word--;
  let lines = end.length;
  while (lines > 0 && isInEncodedLines(end.charCodeAt(lines - 1))) lines--;
  return end.slice(Math.max(0, Math.min(word, lines) - MAX_NAME_CHARS));
}

/** An escape ends a word, too: JSON of text has no spaces between its lines. */
function isInWord(code: number): boolean {
  return code > 32 && code !== BACKSLASH;
}

/** Of base64 in both alphabets, which may be wrapped. */
function isInEncodedLines(code: number): boolean {
  const isLetterOrDigit =
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
  return isLetterOrDigit || "+/=-_\r\n".includes(String.fromCharCode(code));
}

function toForms({ value, placeholder }: SecretValue): SecretForm[] {
  const bytes = Buffer.from(value);
  const lines = value.includes("\n")
    ? value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_CHARS)
    : [];
  const escaped = JSON.stringify(value).slice(1, -1);
  const encoded = [
    ...[0, 1, 2].flatMap((offset) => toBase64(bytes, offset)),
    bytes.toString("hex"),
    encodeURIComponent(value),
  ].filter((text) => text.length >= MIN_ENCODED_CHARS);
  const texts = new Set([value, ...lines, escaped, ...encoded]);
  return [...texts].map((text) => toForm(text, placeholder));
}

function toForm(text: string, placeholder: string): SecretForm {
  const hasPieces =
    text.length >= MIN_CHARS_WITH_PIECES &&
    TOKEN.test(text) &&
    !text.includes("://") &&
    !COMMON_BEGINNING.test(text);
  if (!hasPieces) return { text, placeholder, head: text };
  return { text, placeholder, head: text.slice(0, PIECE_CHARS), tail: text.slice(-PIECE_CHARS) };
}

/**
 * The base64 characters that depend on the bytes alone when `offset` bytes precede them in the last group; in both
 * alphabets if they differ.
 */
function toBase64(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  const own = text.slice(Math.ceil((offset * 8) / 6), whole);
  return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
}

const BASE = 0x01000193;
// `BASE` to the power of seven: the weight of the first of eight characters.
const FIRST_WEIGHT = Array.from({ length: MIN_VALUE_CHARS - 1 }).reduce<number>(
  (weight) => Math.imul(weight, BASE),
  1,
);
const LEAST_FILTER_SIZE = 1 << 14;
const FEW_NEEDLES = 64;

/** Finds all forms in one pass over a text, however many there are: by a hash of their first eight characters. */
class NeedleIndex {
  private readonly needles = new Map<number, Needle[]>();
  private count = 0;
  private filter = new Uint8Array(LEAST_FILTER_SIZE);
  private readonly forms: string[] = [];
  private isSorted = true;

  add(form: SecretForm): void {
    this.addNeedle({ form, text: form.head });
    if (form.tail !== undefined) this.addNeedle({ form, text: form.tail });
    this.forms.push(form.text);
    this.isSorted = false;
  }

  find(text: string): Range[] {
    if (this.count === 0 || text.length < MIN_VALUE_CHARS) return [];
    return this.count <= FEW_NEEDLES ? this.findEach(text) : this.findAll(text);
  }

  /** One after the other: sooner done than one loop over all characters, which has to be compiled first. */
  private findEach(text: string): Range[] {
    const ranges: Range[] = [];
    for (const needles of this.needles.values())
      for (const needle of needles)
        for (let at = text.indexOf(needle.text); at >= 0; at = text.indexOf(needle.text, at + 1))
          ranges.push(toRange(text, needle, at));
    return ranges;
  }

  private findAll(text: string): Range[] {
    const ranges: Range[] = [];
    const mask = this.filter.length - 1;
    let hash = hashAt(text, 0);
    for (let at = 0; ; at++) {
      if (this.filter[(hash ^ (hash >>> 15)) & mask] === 1)
        for (const needle of this.needles.get(hash) ?? [])
          if (text.startsWith(needle.text, at)) ranges.push(toRange(text, needle, at));
      const next = at + MIN_VALUE_CHARS;
      if (next >= text.length) return ranges;
      const without = (hash - Math.imul(text.charCodeAt(at), FIRST_WEIGHT)) | 0;
      hash = (Math.imul(without, BASE) + text.charCodeAt(next)) | 0;
    }
  }

  /** How many characters at the end of a text are the beginning of a form, at most 200. */
  countOpen(text: string): number {
    if (this.count === 0) return 0;
    if (!this.isSorted) this.forms.sort(compareCodes);
    this.isSorted = true;
    for (let start = Math.max(0, text.length - MAX_UNDECIDED_CHARS); start < text.length; start++)
      if (this.isBeginning(text.slice(start))) return text.length - start;
    return 0;
  }

  private isBeginning(part: string): boolean {
    let low = 0;
    let high = this.forms.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.forms[middle] ?? "") < part) low = middle + 1;
      else high = middle;
    }
    const next = this.forms[low];
    return next !== undefined && next.length > part.length && next.startsWith(part);
  }

  private addNeedle(needle: Needle): void {
    const hash = hashAt(needle.text, 0);
    const list = this.needles.get(hash);
    if (list) list.push(needle);
    else this.needles.set(hash, [needle]);
    this.count += 1;
    if (this.count * 8 > this.filter.length) this.grow();
    this.filter[(hash ^ (hash >>> 15)) & (this.filter.length - 1)] = 1;
  }

  private grow(): void {
    this.filter = new Uint8Array(this.filter.length * 4);
    for (const hash of this.needles.keys())
      this.filter[(hash ^ (hash >>> 15)) & (this.filter.length - 1)] = 1;
  }
}

function compareCodes(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Of eight characters. */
function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let index = at; index < at + MIN_VALUE_CHARS; index++)
    hash = (Math.imul(hash, BASE) + text.charCodeAt(index)) | 0;
  return hash;
}

function toRange(text: string, { form, text: needle }: Needle, start: number): Range {
  const { head, tail, placeholder } = form;
  const end = start + needle.length;
  if (tail === undefined) return { start, end, placeholder };
  return needle === head
    ? { start, end: extendForward(text, form, end), placeholder }
    : { start: extendBackward(text, form, start), end, placeholder };
}

/** Finds the end of a form from a given position; line breaks are allowed anywhere, as in wrapped base64. */
function extendForward(text: string, { text: form }: SecretForm, from: number): number {
  let end = from;
  for (let at = from, index = PIECE_CHARS; index < form.length && at < text.length; at++) {
    if (text[at] === form[index]) {
      index++;
      end = at + 1;
    } else if (text[at] !== "\n" && text[at] !== "\r") break;
  }
  return end;
}

/** Finds the beginning of a form backwards from its tail. */
function extendBackward(text: string, { text: form }: SecretForm, from: number): number {
  let start = from;
  for (let at = from - 1, index = form.length - PIECE_CHARS - 1; index >= 0 && at >= 0; at--) {
    if (text[at] === form[index]) {
      index--;
      start = at;
    } else if (text[at] !== "\n" && text[at] !== "\r") break;
  }
  return start;
}

/** Merges overlapping ranges; the longest determines the placeholder. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: (Range & { longest: number })[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    const length = range.end - range.start;
    if (last === undefined || range.start >= last.end) merged.push({ ...range, longest: length });
    else {
      last.end = Math.max(last.end, range.end);
      if (length > last.longest) Object.assign(last, { placeholder: range.placeholder, longest: length });
    }
  }
  return merged;
}

/** Two keys without anything between them cover one range. */
function mergeAdjacent(ranges: readonly Range[]): { start: number; end: number }[] {
  const sorted = [...ranges].sort((one, other) => one.start - other.start);
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const last = merged.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let redacted = "";
  let end = 0;
  for (const range of ranges) {
    redacted += text.slice(end, range.start) + range.placeholder;
    end = range.end;
  }
  return redacted + text.slice(end);
}
