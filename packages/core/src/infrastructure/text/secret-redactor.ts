/** A secret value and its placeholder, such as `[key of anthropic]`. */
export interface SecretValue {
  value: string;
  placeholder: string;
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

/** A searched text, and the offset of one of its grams. */
interface Gram {
  form: SecretForm;
  needle: string;
  offset: number;
}

interface Range {
  start: number;
  end: number;
  placeholder: string;
}

// Shorter values occur in ordinary texts.
const MIN_VALUE_CHARS = 8;
// A text is sampled: each searched value has one gram at a sampled position.
const GRAM_CHARS = 4;
const SAMPLE_DISTANCE = MIN_VALUE_CHARS - GRAM_CHARS + 1;
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

/**
 * Replaces secrets in texts by their placeholders: verbatim, in base64, URL encoding, hexadecimal and JSON escapes, and
 * long pieces of truncated keys. Data without secrets is returned as the same object.
 */
export class SecretRedactor {
  private readonly secrets: SecretValue[] = [];
  private compiled: { forms: readonly SecretForm[]; grams: GramIndex } | undefined;
  private known = new WeakMap<object, unknown>();

  constructor(secrets: readonly SecretValue[] = []) {
    for (const secret of secrets) this.add(secret);
  }

  /** Redacts this value as well from now on, if it has 8 characters or more. The first placeholder of a value stays. */
  add(secret: SecretValue): void {
    if (secret.value.length < MIN_VALUE_CHARS || this.secrets.some(({ value }) => value === secret.value))
      return;
    this.secrets.push(secret);
    this.compiled = undefined;
    this.known = new WeakMap();
  }

  /** Redacts a text, or every string in a data structure, including keys. The data itself is not changed. */
  redact<T>(value: T): T;
  redact(value: unknown): unknown {
    if (this.secrets.length === 0) return value;
    if (typeof value === "string") return this.redactText(value);
    if (typeof value !== "object" || value === null) return value;
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const redacted = Array.isArray(value) ? this.redactList(value) : this.redactRecord(value);
    this.known.set(value, redacted);
    return redacted;
  }

  /** The placeholders in a text. */
  placeholdersIn(text: string): string[] {
    return [...new Set(this.secrets.map(({ placeholder }) => placeholder))].filter((placeholder) =>
      text.includes(placeholder),
    );
  }

  /** Redacts an unfinished text: a possible beginning of a secret at its end is left out. */
  redactPart(text: string): string {
    return this.redact(text.slice(0, text.length - this.countUndecided(text)));
  }

  /** How many characters at the end of a text may be the beginning of a secret. */
  countUndecided(text: string): number {
    let undecided = 0;
    for (const { text: form } of this.compile().forms) {
      const [first = ""] = form;
      const from = Math.max(0, text.length - form.length + 1);
      for (let start = text.indexOf(first, from); start >= 0; start = text.indexOf(first, start + 1)) {
        const length = text.length - start;
        if (length <= undecided) break;
        if (form.startsWith(text.slice(start))) undecided = length;
      }
    }
    return undecided;
  }

  private compile() {
    if (this.compiled) return this.compiled;
    const forms = this.secrets.flatMap(toForms);
    this.compiled = { forms, grams: new GramIndex(forms) };
    return this.compiled;
  }

  private redactText(text: string): string {
    const ranges = this.compile().grams.find(text);
    return ranges.length === 0 ? text : replaceRanges(text, ranges);
  }

  private redactList(list: readonly unknown[]): unknown {
    const redacted = list.map((item) => this.redact(item));
    return redacted.every((item, index) => item === list[index]) ? list : redacted;
  }

  private redactRecord(record: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(record);
    // Objects that are not plain data, such as errors, are redacted by their owners.
    if (prototype !== Object.prototype && prototype !== null) return record;
    const entries = Object.entries(record);
    const redacted = entries.map(([key, value]): [string, unknown] => [
      this.redactText(key),
      this.redact(value),
    ]);
    const isSame = redacted.every(([key, value], index) => {
      const [oldKey, oldValue] = entries[index] ?? [];
      return key === oldKey && value === oldValue;
    });
    return isSame ? record : Object.fromEntries(redacted);
  }
}

/**
 * Redacts a text that arrives in pieces: a possible beginning of a secret is held back until more arrives. The returned
 * pieces together are the redacted text.
 */
export class RedactedPieces {
  private waiting = "";

  constructor(private readonly redactor: SecretRedactor) {}

  /** The text that can be shown now; may be empty. */
  push(piece: string): string {
    const text = this.waiting + piece;
    const shown = text.length - this.redactor.countUndecided(text);
    this.waiting = text.slice(shown);
    return this.redactor.redact(text.slice(0, shown));
  }

  /** The remaining text at the end. */
  finish(): string {
    const rest = this.redactor.redact(this.waiting);
    this.waiting = "";
    return rest;
  }
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

/** Finds all forms in one pass over a text. */
class GramIndex {
  private readonly grams = new Map<number, Gram[]>();
  private readonly isUsed = new Uint8Array(1 << 16);

  constructor(forms: readonly SecretForm[]) {
    for (const form of forms) {
      this.add(form, form.head);
      if (form.tail !== undefined) this.add(form, form.tail);
    }
  }

  find(text: string): Range[] {
    const ranges: Range[] = [];
    for (let at = 0; at + GRAM_CHARS <= text.length; at += SAMPLE_DISTANCE) {
      const code = gramCode(text, at);
      if (this.isUsed[code] === 0) continue;
      for (const { form, needle, offset } of this.grams.get(code) ?? [])
        if (at >= offset && text.startsWith(needle, at - offset))
          ranges.push(toRange(text, { form, needle }, at - offset));
    }
    return ranges;
  }

  private add(form: SecretForm, needle: string): void {
    for (let offset = 0; offset < SAMPLE_DISTANCE; offset++) {
      const code = gramCode(needle, offset);
      this.isUsed[code] = 1;
      this.grams.set(code, [...(this.grams.get(code) ?? []), { form, needle, offset }]);
    }
  }
}

/** 16 bits derived from four characters. */
function gramCode(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 4) ^ text.charCodeAt(at + 1);
  const second = (text.charCodeAt(at + 2) << 4) ^ text.charCodeAt(at + 3);
  return ((first * 31) ^ (second * 1021)) & 0xffff;
}

function toRange(text: string, { form, needle }: Pick<Gram, "form" | "needle">, start: number): Range {
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
function replaceRanges(text: string, ranges: readonly Range[]): string {
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
  let redacted = "";
  let end = 0;
  for (const range of merged) {
    redacted += text.slice(end, range.start) + range.placeholder;
    end = range.end;
  }
  return redacted + text.slice(end);
}
