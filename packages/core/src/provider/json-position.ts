/** A place in a text; lines and columns count from 1, columns in UTF-16 units. */
export interface TextPosition {
  line: number;
  column: number;
}

/** What JSON wants next. */
type Expected =
  | "a value"
  | "a value or ]"
  | "a name in double quotes"
  | "a name in double quotes or }"
  | ":"
  | ", or }"
  | ", or ]"
  | "the end of the file";

interface Token {
  kind: "{" | "}" | "[" | "]" | ":" | "," | "string" | "literal" | "end" | "invalid";
  start: number;
  end: number;
  /** For an invalid one: what its text wants at `start`. */
  expected?: string;
}

/** A container that is open, and the name or index of the member that is being read. */
interface Level {
  open: "{" | "[";
  key: string | number;
}

/** The first place where `text` is no JSON, and what should stand there. The runtime's own parser names no place. */
export function findJsonSyntaxError(text: string): (TextPosition & { expected: string }) | undefined {
  const fault = scan(text, () => false);
  return fault && { ...positionAt(text, fault.start), expected: fault.expected };
}

/** Where the value at `path` begins; undefined when the JSON in `text` has none there. */
export function findJsonValue(text: string, path: readonly PropertyKey[]): TextPosition | undefined {
  let found: number | undefined;
  scan(text, (levels, start) => {
    const isHere = levels.length === path.length && levels.every(({ key }, index) => key === path[index]);
    if (isHere) found = start;
    return isHere;
  });
  return found === undefined ? undefined : positionAt(text, found);
}

/** Reads to the first fault, or until `visit`, called at each value, returns true. Keeps its own stack: any depth will do. */
function scan(
  text: string,
  visit: (levels: readonly Level[], start: number) => boolean,
): { start: number; expected: string } | undefined {
  const levels: Level[] = [];
  let expected: Expected = "a value";
  for (let from = 0; ; ) {
    const token = readToken(text, from);
    from = token.end;
    const isValue = expected.startsWith("a value") && token.kind !== "]" && token.kind !== "invalid";
    if (isValue && visit(levels, token.start)) return undefined;
    if (token.kind === "end" && expected === "the end of the file") return undefined;
    const next = advance(levels, expected, { ...token, text });
    if (!next) return { expected, ...token };
    expected = next;
  }
}

function advance(levels: Level[], expected: Expected, token: Token & { text: string }): Expected | undefined {
  switch (expected) {
    case "a value":
    case "a value or ]":
      if (token.kind === "]" && expected === "a value or ]") return close(levels);
      return beginValue(levels, token.kind);
    case "a name in double quotes":
    case "a name in double quotes or }":
      if (token.kind === "}" && expected === "a name in double quotes or }") return close(levels);
      if (token.kind !== "string") return undefined;
      setKey(levels, String(JSON.parse(token.text.slice(token.start, token.end))));
      return ":";
    case ":":
      return token.kind === ":" ? "a value" : undefined;
    case ", or }":
      if (token.kind === "}") return close(levels);
      return token.kind === "," ? "a name in double quotes" : undefined;
    case ", or ]":
      if (token.kind === "]") return close(levels);
      return token.kind === "," ? nextItem(levels) : undefined;
    case "the end of the file":
      return undefined;
  }
}

function beginValue(levels: Level[], kind: Token["kind"]): Expected | undefined {
  if (kind === "string" || kind === "literal") return afterValue(levels);
  if (kind !== "{" && kind !== "[") return undefined;
  levels.push({ open: kind, key: 0 });
  return kind === "{" ? "a name in double quotes or }" : "a value or ]";
}

function afterValue(levels: readonly Level[]): Expected {
  const level = levels.at(-1);
  if (!level) return "the end of the file";
  return level.open === "{" ? ", or }" : ", or ]";
}

function close(levels: Level[]): Expected {
  levels.pop();
  return afterValue(levels);
}

function setKey(levels: readonly Level[], key: string): void {
  const level = levels.at(-1);
  if (level) level.key = key;
}

function nextItem(levels: readonly Level[]): Expected {
  const level = levels.at(-1);
  if (typeof level?.key === "number") level.key++;
  return "a value";
}

function readToken(text: string, from: number): Token {
  let start = from;
  while (" \t\r\n".includes(text.charAt(start)) && start < text.length) start++;
  const first = text.charAt(start);
  switch (first) {
    case "":
      return { kind: "end", start, end: start };
    case "{":
    case "}":
    case "[":
    case "]":
    case ":":
    case ",":
      return { kind: first, start, end: start + 1 };
    case '"':
      return readString(text, start);
    default:
      return readLiteral(text, start);
  }
}

function readString(text: string, start: number): Token {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') return { kind: "string", start, end: at + 1 };
    if (char < " ") return invalid(at, "\\n or another escape for this control character");
    if (char !== "\\") continue;
    const sequence = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at, at + 6))?.[0];
    if (!sequence) return invalid(at, "a known escape, or \\\\ for the backslash itself");
    at += sequence.length - 1;
  }
  return invalid(text.length, "the closing double quote of a string");
}

function invalid(start: number, expected: string): Token {
  return { kind: "invalid", start, end: start, expected };
}

function readLiteral(text: string, start: number): Token {
  let end = start;
  while (/[\w+.-]/.test(text.charAt(end))) end++;
  const isLiteral = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(
    text.slice(start, end),
  );
  return { kind: isLiteral ? "literal" : "invalid", start, end };
}

function positionAt(text: string, offset: number): TextPosition {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(0, lineStart).split("\n").length;
  return { line, column: offset - lineStart + 1 };
}
