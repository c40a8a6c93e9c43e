import { isPassword, isRandom } from "./entropy.ts";
import { TOKEN_SHAPES } from "./token-shapes.ts";

/** A secret in a text, by the offsets of its characters. */
export interface FoundSecret {
  start: number;
  end: number;
  /** That of its shape; `value` if it has none. */
  kind: string;
}

/** What was found by its surroundings, not by its form. */
const ANY_KIND = "value";

/** The secrets in a text, in order and without overlaps. The same text has always the same secrets. */
export function findSecrets(text: string): FoundSecret[] {
  const found = scan(text);
  const encoded = findEncoded(text);
  return encoded.length === 0 ? found : withoutOverlaps([...found, ...encoded]);
}

/** The kind of a value that is known to be a secret: it does not depend on where it was found. */
export function kindOf(value: string): string {
  const [found] = findSecrets(value);
  return found?.start === 0 && found.end === value.length ? found.kind : ANY_KIND;
}

/** A prefix, and what follows it. */
interface Start {
  prefix: string;
  shape: Shape;
}

/** Its pattern is compiled with its first prefix: most texts have none. */
class Shape {
  private pattern: RegExp | undefined;

  constructor(
    readonly kind: string,
    private readonly source: string,
  ) {}

  get rest(): RegExp {
    this.pattern ??= new RegExp(`${this.source}(?![A-Za-z0-9_])`, "y");
    return this.pattern;
  }
}

const MIN_PREFIX_CHARS = 3;
const TABLE_SIZE = 1 << 12;

/** The prefixes of all shapes by their first three characters. */
class StartTable {
  private readonly rows: (Start[] | undefined)[] = new Array(TABLE_SIZE);
  readonly isFirst = new Uint8Array(128);
  readonly all: readonly Start[];

  constructor() {
    this.all = TOKEN_SHAPES.flatMap(({ kind, prefixes, rest }) => {
      const shape = new Shape(kind, rest);
      return prefixes.map((prefix) => ({ prefix, shape }));
    });
    for (const start of this.all) {
      this.isFirst[start.prefix.charCodeAt(0)] = 1;
      const row = rowOf(start.prefix, 0);
      const starts = this.rows[row];
      if (starts === undefined) this.rows[row] = [start];
      // A longer prefix says more: `sk-ant-` before `sk-`.
      else
        starts.splice(starts.filter(({ prefix }) => prefix.length >= start.prefix.length).length, 0, start);
    }
  }

  at(text: string, at: number): readonly Start[] | undefined {
    return at + MIN_PREFIX_CHARS > text.length ? undefined : this.rows[rowOf(text, at)];
  }
}

function rowOf(text: string, at: number): number {
  const code = text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2);
  return (code ^ (code >> 9)) & (TABLE_SIZE - 1);
}

let startTable: StartTable | undefined;

function starts(): StartTable {
  startTable ??= new StartTable();
  return startTable;
}

const EQUALS = 61;
const COLON = 58;
const GREATER = 62;
const DASH = 45;

function scan(text: string): FoundSecret[] {
  const { isFirst } = starts();
  const found: FoundSecret[] = [];
  let next = 0;
  const add = (secrets: readonly FoundSecret[] | undefined) => {
    for (const secret of secrets ?? []) {
      if (secret.start < next) continue;
      found.push(secret);
      next = secret.end;
    }
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) continue;
    if (code === EQUALS || code === COLON || code === GREATER) {
      add(findAssigned(text, at, code));
      if (code === COLON) add(findInAddress(text, at) ?? findBotToken(text, at));
    } else if (code === DASH && text.charCodeAt(at + 1) === DASH && at >= next) {
      add(text.startsWith("-----BEGIN ", at) ? findPrivateKey(text, at) : findOption(text, at));
    } else if (isFirst[code] === 1 && at >= next && isBoundary(text, at)) add(findShape(text, at));
    if (next > at + 1) at = next - 1;
  }
  return found;
}

const PERCENT = 37;
const BACKSLASH = 92;
const ESCAPE_LETTERS: ReadonlySet<number> = new Set([..."nrtbf"].map((letter) => letter.charCodeAt(0)));

/** True where a word may begin: also after an escape, as in JSON, and after an encoded character of an address. */
function isBoundary(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  if (!isWordCode(before) || text.charCodeAt(at - 3) === PERCENT) return true;
  return (
    (text.charCodeAt(at - 2) === BACKSLASH && ESCAPE_LETTERS.has(before)) ||
    (text.charCodeAt(at - 6) === BACKSLASH && text.charCodeAt(at - 5) === 117)
  );
}

function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
  );
}

// A key has more different characters than `xxxxxxxx`, which stands for one.
const MIN_DIFFERENT = 5;

function findShape(text: string, at: number): FoundSecret[] | undefined {
  for (const { prefix, shape } of starts().at(text, at) ?? []) {
    if (!text.startsWith(prefix, at)) continue;
    const { kind, rest } = shape;
    rest.lastIndex = at + prefix.length;
    const [match] = rest.exec(text) ?? [];
    if (match === undefined || new Set(match).size < MIN_DIFFERENT) continue;
    return [{ start: at, end: at + prefix.length + match.length, kind }];
  }
  return undefined;
}

/** Names of settings that hold a key, by their last words. */
const KEY_NAME =
  /(?:secret|token|api_?key|access_?key|private_?key|secret_?key|(?:auth|account|encryption|signing|master|service|client|storage|shared|license|session|webhook|admin|deploy|ssh|jwt|app|bot)_?key|credentials?|authorization|bearer)(?:_?(?:id|base64|b64|value|hash|salt|\d+))?$/i;
const PASSWORD_NAME = /(?:passw(?:or)?d|passphrase|passwd|pwd|_pass)(?:_?\d+)?$/i;
// These are public, or only name a key.
const OTHER_NAME =
  /public_?key|(?:key|token|secret)_?(?:name|type|count|path|file|url|uri|index|len|length)$|tokens$/i;
const MAX_NAME_CHARS = 60;
const MIN_VALUE_CHARS = 8;

type NameKind = "key" | "password";

function kindOfName(name: string): NameKind | undefined {
  // `apiKey`, `api-key` and `api.key` are `api_Key`.
  const words = name.replaceAll(/[-. ]/g, "_");
  if (OTHER_NAME.test(words)) return undefined;
  if (PASSWORD_NAME.test(words)) return "password";
  return KEY_NAME.test(words) ? "key" : undefined;
}

const SCHEME = /(?:Bearer|Basic|Token|Bot|ApiKey|Digest)[ ]+/iy;
const QUOTED = /(["'`])((?:(?!\1)[^\\\s]){8,2000})\1/y;
const ESCAPED_QUOTED = /\\"([^"\\\s]{8,2000})\\"/y;
const BARE = /[^\s"'`,;<>()[\]{}|&\\]{8,2000}/y;
// More of a value does not say more about it.
const MAX_JUDGED_CHARS = 120;

/** The value after `=`, `:` or the `>` of an element, if a name before it says that it is a secret. */
function findAssigned(text: string, at: number, code: number): FoundSecret[] | undefined {
  const from = skipToValue(text, at + 1);
  if (from === undefined) return undefined;
  const name = nameBefore(text, at, code);
  if (name === undefined) return undefined;
  const kind = kindOfName(name);
  return kind && readValue(text, from, kind);
}

/** Undefined where fewer than eight characters follow: most signs are followed by less. */
function skipToValue(text: string, after: number): number | undefined {
  let at = after;
  // `==`, `=>`, `: ` and ` = `.
  for (let code = text.charCodeAt(at); at < after + 4 && isSign(code); code = text.charCodeAt(at)) at++;
  for (let end = at; end < at + MIN_VALUE_CHARS; end++) {
    if (text.charCodeAt(end) > 32) continue;
    SCHEME.lastIndex = text.charCodeAt(at) === 34 ? at + 1 : at;
    return end > at + 2 && SCHEME.test(text) ? at : undefined;
  }
  return at;
}

function isSign(code: number): boolean {
  return code === EQUALS || code === GREATER || code === 32;
}

const BEFORE_SIGN: ReadonlySet<number> = new Set([..." :=!\"']\\"].map((sign) => sign.charCodeAt(0)));

function nameBefore(text: string, at: number, code: number): string | undefined {
  let end = at;
  while (end > 0 && at - end < 3 && BEFORE_SIGN.has(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && end - start < MAX_NAME_CHARS && isNameCode(text.charCodeAt(start - 1))) start--;
  if (end - start < 3) return undefined;
  // Only of an element: `a > b` assigns nothing.
  if (code === GREATER && text[start - 1] !== "<") return undefined;
  return text.slice(start, end);
}

function isNameCode(code: number): boolean {
  return isWordCode(code) || code === 45 || code === 46;
}

function readValue(text: string, from: number, kind: NameKind): FoundSecret[] | undefined {
  SCHEME.lastIndex = from;
  const quote = /["'`]/.test(text[from] ?? "") ? 1 : 0;
  SCHEME.lastIndex = from + quote;
  const [scheme = ""] = SCHEME.exec(text) ?? [];
  const start = scheme === "" ? from : from + quote + scheme.length;
  const value = valueAt(text, start);
  if (value === undefined) return undefined;
  const judged = value.text.slice(0, MAX_JUDGED_CHARS);
  const isSecret = kind === "password" ? isPassword(judged) : isRandom(judged);
  return isSecret ? toFound(value) : undefined;
}

interface Value {
  text: string;
  start: number;
}

function valueAt(text: string, at: number): Value | undefined {
  QUOTED.lastIndex = at;
  const [, quote, quoted] = QUOTED.exec(text) ?? [];
  if (quote !== undefined && quoted !== undefined) return { text: quoted, start: at + 1 };
  ESCAPED_QUOTED.lastIndex = at;
  const [, escaped] = ESCAPED_QUOTED.exec(text) ?? [];
  if (escaped !== undefined) return { text: escaped, start: at + 2 };
  BARE.lastIndex = at;
  const [bare] = BARE.exec(text) ?? [];
  // A call or an index is an expression.
  if (bare === undefined || /^[([{]/.test(text[at + bare.length] ?? "")) return undefined;
  return { text: bare.replace(/[.:?!]+$/, ""), start: at };
}

function toFound({ text, start }: Value): FoundSecret[] {
  const [shape] = findShape(text, 0) ?? [];
  return [{ start, end: start + text.length, kind: shape?.end === text.length ? shape.kind : ANY_KIND }];
}

const OPTION = /--([A-Za-z][\w-]{2,40})[ ]+(?=\S{8})/y;

/** The word after an option such as `--api-key`. */
function findOption(text: string, at: number): FoundSecret[] | undefined {
  OPTION.lastIndex = at;
  const [match, name = ""] = OPTION.exec(text) ?? [];
  const kind = match === undefined ? undefined : kindOfName(name);
  return match === undefined || kind === undefined ? undefined : readValue(text, at + match.length, kind);
}

const USER_AND_PASSWORD = /:\/\/[^\s/:@"'`<>]{0,200}:([^\s/@"'`<>]{6,500})@/y;

/** The password of `scheme://user:password@host`. */
function findInAddress(text: string, at: number): FoundSecret[] | undefined {
  if (text.charCodeAt(at + 1) !== 47) return undefined;
  USER_AND_PASSWORD.lastIndex = at;
  const [match, password = ""] = USER_AND_PASSWORD.exec(text) ?? [];
  if (match === undefined || !(isPassword(password) || isRandom(password))) return undefined;
  return toFound({ text: password, start: at + match.length - 1 - password.length });
}

const BOT_TOKEN_REST = /:AA[\w-]{33}(?![\w-])/y;

/** Telegram's tokens begin with the number of the bot. */
function findBotToken(text: string, at: number): FoundSecret[] | undefined {
  if (text.charCodeAt(at + 1) !== 65) return undefined;
  BOT_TOKEN_REST.lastIndex = at;
  const [rest] = BOT_TOKEN_REST.exec(text) ?? [];
  const [number] = /\d{8,10}$/.exec(text.slice(Math.max(0, at - 10), at)) ?? [];
  if (rest === undefined || number === undefined) return undefined;
  return [{ start: at - number.length, end: at + rest.length, kind: "telegram-token" }];
}

const PRIVATE_KEY_MARK = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const BODY_OF_KEY = /^[A-Za-z0-9+/=\s\\.,:()|→-]*/;
const MAX_BODY_CHARS = 40_000;
const LINES_OF_KEY = /\\[nr]|([A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,}={1,2})/g;

/** The lines of a private key, each by itself: some tools print a number before each line. */
function findPrivateKey(text: string, at: number): FoundSecret[] | undefined {
  PRIVATE_KEY_MARK.lastIndex = at;
  const [mark] = PRIVATE_KEY_MARK.exec(text) ?? [];
  if (mark === undefined) return undefined;
  const from = at + mark.length;
  const end = text.indexOf("-----", from);
  const [body = ""] = BODY_OF_KEY.exec(text.slice(from, end < 0 ? from + MAX_BODY_CHARS : end)) ?? [];
  return [...body.matchAll(LINES_OF_KEY)].flatMap(({ 1: line, index }) =>
    line === undefined ? [] : [{ start: from + index, end: from + index + line.length, kind: "private-key" }],
  );
}

// Of this length, a text in base64 can hold a token.
const MIN_ENCODED_CHARS = 28;
const ENCODED = new RegExp(`[A-Za-z0-9_+/-]{${MIN_ENCODED_CHARS},}`, "g");
const PROBE_CHARS = 16;

/** Texts in base64 in which a secret is found. */
function findEncoded(text: string): FoundSecret[] {
  const found: FoundSecret[] = [];
  ENCODED.lastIndex = 0;
  for (let run = ENCODED.exec(text); run !== null; run = ENCODED.exec(text)) {
    const start = run.index;
    const end = endOfLines(text, start + run[0].length);
    if (holdsSecret(text.slice(start, end))) found.push({ start, end, kind: "encoded-secret" });
    ENCODED.lastIndex = end + 1;
  }
  return found;
}

function isEncodedCode(code: number): boolean {
  return isWordCode(code) || code === 43 || code === 47 || code === 45;
}

/** The end of a text in base64, which may continue on further lines. */
function endOfLines(text: string, lineEnd: number): number {
  let end = lineEnd;
  for (let next = end; text[next] === "\n" || text.startsWith("\r\n", next); ) {
    next += text[next] === "\n" ? 1 : 2;
    const from = next;
    while (isEncodedCode(text.charCodeAt(next))) next++;
    if (next === from) break;
    end = next;
  }
  while (text[end] === "=") end++;
  return end;
}

function holdsSecret(run: string): boolean {
  return isPrintable(decode(run.slice(0, PROBE_CHARS))) && scan(decode(run)).length > 0;
}

function decode(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}

function isPrintable(text: string): boolean {
  return text.length > 0 && /^[\t\n\r -~]*$/.test(text);
}

/** Of two that overlap, the longer one. */
function withoutOverlaps(found: readonly FoundSecret[]): FoundSecret[] {
  const kept: FoundSecret[] = [];
  for (const secret of [...found].sort((one, other) => one.start - other.start || other.end - one.end)) {
    const last = kept.at(-1);
    if (last === undefined || secret.start >= last.end) kept.push(secret);
    else if (secret.end - secret.start > last.end - last.start) kept[kept.length - 1] = secret;
  }
  return kept;
}

// A secret that is still being written is longer than this only rarely.
const MAX_UNDECIDED_CHARS = 200;
const MAX_TOKEN_CHARS = 2_048;
const OPEN_END = /[^\s"'`,;<>()[\]{}|&]*$/;
const OPEN_ASSIGNMENT =
  /([\w.-]{3,60})["'\]\\]{0,2}\s{0,3}(?::=|={1,3}|=>|:|>)\s{0,3}["'`]?(?:(?:Bearer|Basic|Token|Bot)\s+)?["'`\\]{0,2}$/i;
const OPEN_OPTION = /--([\w-]{3,40})[ ]+["']?$/;
const OPEN_MARK = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\.,:()|→-]*$/;

/**
 * How many characters at the end of a text may belong to a secret that the text has only a part of, at most 200.
 */
export function countOpen(text: string): number {
  const word = OPEN_END.exec(text.slice(-MAX_TOKEN_CHARS))?.[0] ?? "";
  return Math.min(MAX_UNDECIDED_CHARS, countOpenOf(text, word));
}

function countOpenOf(text: string, word: string): number {
  if (word === "") return 0;
  const wordStart = text.length - word.length;
  const before = text.slice(Math.max(0, wordStart - 120), wordStart);
  const name = OPEN_ASSIGNMENT.exec(before)?.[1] ?? OPEN_OPTION.exec(before)?.[1];
  if (name !== undefined && kindOfName(name) !== undefined) return word.length;
  const mark = text.lastIndexOf("-----BEGIN ");
  if (mark >= 0 && OPEN_MARK.test(text.slice(mark))) return word.length;
  for (let at = wordStart; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isAssigned = code === EQUALS || code === COLON;
    if (isAssigned && kindOfName(nameBefore(text, at, code) ?? "") !== undefined) return text.length - at - 1;
    if (code === COLON && text.startsWith("://", at)) return text.length - at;
    if (code < 128 && isBoundary(text, at) && isOpenShape(text, at)) return text.length - at;
  }
  return word.length >= PROBE_CHARS && isPrintable(decode(word.slice(0, PROBE_CHARS))) ? word.length : 0;
}

let prefixesByFirst: Map<string, string[]> | undefined;

/** Runs for each word of an unfinished text with each piece that arrives, so it tries few prefixes. */
function isOpenShape(text: string, at: number): boolean {
  prefixesByFirst ??= Map.groupBy(
    starts().all.map(({ prefix }) => prefix),
    (prefix) => prefix.charAt(0),
  );
  const left = text.length - at;
  const prefixes = prefixesByFirst.get(text.charAt(at)) ?? [];
  return prefixes.some((prefix) =>
    left < prefix.length ? prefix.startsWith(text.slice(at)) : text.startsWith(prefix, at),
  );
}
