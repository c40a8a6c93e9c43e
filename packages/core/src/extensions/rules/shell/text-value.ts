/**
 * Text of a command line as far as it is known. These characters of the private use area stand for what is not: they
 * occur in no command that is read, since `readable` removes them before.
 */

/** Any text, also none. */
export const UNKNOWN = "\uE000";
/** Text that a program has decoded or computed, so that nobody can see what is run. */
export const HIDDEN = "\uE001";
/** Marks within a word: where it is split, that a part was quoted, and braces to be expanded. */
export const SPLIT = "\uE010";
export const QUOTED = "\uE011";
const OPEN = "\uE012";
const COMMA = "\uE013";
const CLOSE = "\uE014";

// More would not be followed: a line with so many possibilities is not evaluated, but searched.
export const MAX_ALTERNATIVES = 16;

export function readable(text: string): string {
  return text.replace(/[\uE000-\uE0FF]/g, "");
}

/** True if a text is known in full. */
export function isKnown(text: string): boolean {
  return !text.includes(UNKNOWN) && !text.includes(HIDDEN);
}

/** All ways to join one of each. */
export function joinAlternatives(parts: readonly (readonly string[])[]): string[] {
  let joined = [""];
  for (const alternatives of parts) {
    joined = joined.flatMap((before) => alternatives.map((after) => before + after));
    if (joined.length > MAX_ALTERNATIVES) joined = joined.slice(0, MAX_ALTERNATIVES);
  }
  return joined;
}

/** Escapes of an unquoted word; braces become marks. */
export function readBareWord(text: string): string {
  let read = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "\\") {
      at += 1;
      if (text[at] !== "\n") read += text[at] ?? "";
    } else if (char === "{") read += OPEN;
    else if (char === "}") read += CLOSE;
    else if (char === ",") read += COMMA;
    else read += char;
  }
  return read;
}

/** Between double quotes a backslash is literal unless one of these follows. */
export function readQuotedText(text: string): string {
  return text.replace(/\\\n/g, "").replace(/\\([$`"\\])/g, "$1");
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
};

/** The escapes of `$'…'`, `printf` and `echo -e`. */
export function readEscapes(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|0?([0-7]{1,3})|(.))/gs,
    (whole, hex, short, long, octal, char) => {
      const code = hex ?? short ?? long;
      if (code !== undefined) return toCharacter(Number.parseInt(code, 16), whole);
      if (octal !== undefined) return toCharacter(Number.parseInt(octal, 8), whole);
      return ESCAPES[char] ?? char;
    },
  );
}

function toCharacter(code: number, fallback: string): string {
  return code <= 0x10ffff ? readable(String.fromCodePoint(code)) : fallback;
}

/** The words that a joined word becomes: braces are expanded, and it is split where an expansion was not quoted. */
export function toShellWords(text: string): string[] {
  return expandBraces(text)
    .flatMap((word) => word.split(SPLIT))
    .filter((field) => field !== "")
    .map((field) => field.replaceAll(QUOTED, ""));
}

function expandBraces(text: string, depth = 0): string[] {
  const found = /\uE012([^\uE012\uE014]*)\uE014/.exec(text);
  if (!found || depth > 6) return [restoreBraces(text)];
  const [whole, inner = ""] = found;
  const [before, after] = [text.slice(0, found.index), text.slice(found.index + whole.length)];
  const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])$/.exec(inner);
  const parts = range ? listRange(range[1] ?? "", range[2] ?? "") : inner.split(COMMA);
  if (parts.length < 2 && !range) return expandBraces(`${before}{${inner}}${after}`, depth + 1);
  return parts.slice(0, MAX_ALTERNATIVES).flatMap((part) => expandBraces(before + part + after, depth + 1));
}

function listRange(from: string, to: string): string[] {
  const isNumeric = /\d/.test(from + to);
  const [start, end] = isNumeric ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = start <= end ? 1 : -1;
  const values: string[] = [];
  for (let value = start; values.length < MAX_ALTERNATIVES && (end - value) * step >= 0; value += step)
    values.push(isNumeric ? String(value) : String.fromCharCode(value));
  return values;
}

/** Without marks: braces that expand to nothing are literal. */
export function restoreBraces(text: string): string {
  return text.replaceAll(OPEN, "{").replaceAll(COMMA, ",").replaceAll(CLOSE, "}");
}

/** The text of a value as a whole, such as that of an assignment. */
export function toText(text: string): string {
  return restoreBraces(text).replaceAll(SPLIT, " ").replaceAll(QUOTED, "");
}
