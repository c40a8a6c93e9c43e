/** A word of a command with its quotes taken off. */
export interface Word {
  text: string;
  /** True when it stands for the names of files: it holds a `*`, `?` or `[` outside quotes. */
  isGlob: boolean;
  /** True when it is written without quotes and backslashes. */
  isBare: boolean;
  /** Half-open, in UTF-16 units of the command line. */
  start: number;
  end: number;
}

/** A piece of a command line; `start` and `end` are as in `Word`. */
export type Token =
  | { kind: "word"; word: Word }
  | { kind: "operator"; text: Operator; start: number }
  /** What changes nothing of what is run: a comment, or output that goes to another stream or to `/dev/null`. */
  | { kind: "aside"; isComment: boolean; start: number; end: number };

/** All that joins or ends commands in a plain line. Not `&`: what runs in the background is an obstacle. */
export type Operator = "&&" | "||" | ";" | "|" | "\n";

/** The tokens of a line of plain words, or why it is none, such as `it holds a redirection`. */
export type Tokens = { tokens: Token[] } | { obstacle: string };

// No shell treats these as anything but themselves, wherever they stand in a word.
const PLAIN = /[A-Za-z0-9_./,:=@%+^\-!]/;

const OBSTACLES: Readonly<Record<string, string>> = {
  $: "it holds an expansion or substitution",
  "`": "it holds a command substitution",
  ">": "it holds a redirection",
  "<": "it holds a redirection",
  "&": "it runs something in the background or redirects",
  "(": "it holds a subshell, function or extended pattern",
  ")": "it holds a subshell, function or extended pattern",
  "{": "it holds a brace expansion or group",
  "}": "it holds a brace expansion or group",
  "#": "it holds a comment in an unusual place",
  "~": "it holds a home directory to be expanded",
};

/**
 * What is invisible or looks like a space: control characters but line feed and tab, formatting, what is not assigned,
 * fillers, separators but the space.
 */
const INVISIBLE = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

// Of all redirections these two write no file, in any shell. Not `&>`, which some take for a background command.
const HARMLESS_REDIRECTION = /(?:[12]?>>?[ \t]*\/dev\/null|[12]?>&[12])(?=[ \t\n;|]|&&|$)/y;

// Where a backslash ends it, readers of lines differ about what comes next.
const COMMENT = /#[^\n]*/y;

/**
 * Takes a command line apart as far as that needs no knowledge of shells: words of plain characters and quotes without
 * expansion, joined by `&&`, `||`, `;`, `|` and line ends. Anything else is an obstacle, but for comments and the
 * redirections that throw output away or join it.
 */
export function readTokens(line: string): Tokens {
  if (!line.isWellFormed() || INVISIBLE.test(line)) return { obstacle: "it holds invisible characters" };
  const tokens: Token[] = [];
  for (let at = 0; at < line.length; ) {
    const operator = operatorAt(line, at);
    const aside = asideAt(line, at);
    if (line[at] === " " || line[at] === "\t") at += 1;
    else if (aside) {
      if (line[aside.end - 1] === "\\") return { obstacle: "it holds a comment that ends in a backslash" };
      tokens.push(aside);
      at = aside.end;
    } else if (operator) {
      tokens.push({ kind: "operator", text: operator, start: at });
      at += operator.length;
    } else {
      const word = readWord(line, at);
      if ("obstacle" in word) return word;
      tokens.push({ kind: "word", word });
      at = word.end;
    }
  }
  return { tokens };
}

function operatorAt(line: string, at: number): Operator | undefined {
  const two = line.slice(at, at + 2);
  if (two === "&&" || two === "||") return two;
  const one = line[at];
  return one === ";" || one === "|" || one === "\n" ? one : undefined;
}

/** Only where a word could begin: behind a space or at the start of a line. */
function asideAt(line: string, at: number): (Token & { kind: "aside" }) | undefined {
  if (at > 0 && !/[ \t\n]/.test(line[at - 1] ?? "")) return undefined;
  const pattern = line[at] === "#" ? COMMENT : HARMLESS_REDIRECTION;
  pattern.lastIndex = at;
  const match = pattern.exec(line);
  return match
    ? { kind: "aside", isComment: line[at] === "#", start: at, end: at + match[0].length }
    : undefined;
}

interface Piece {
  text: string;
  end: number;
  isGlob?: boolean;
  isQuoted?: boolean;
}

function readWord(line: string, start: number): Word | { obstacle: string } {
  const word: Word = { text: "", isGlob: false, isBare: true, start, end: start };
  while (word.end < line.length && !/[ \t]/.test(line[word.end] ?? "") && !operatorAt(line, word.end)) {
    const piece = readPiece(line, word.end, start);
    if (typeof piece === "string") return { obstacle: piece };
    word.text += piece.text;
    word.end = piece.end;
    word.isGlob ||= piece.isGlob === true;
    word.isBare &&= piece.isQuoted !== true;
  }
  return word;
}

function readPiece(line: string, at: number, wordStart: number): Piece | string {
  const char = line[at] ?? "";
  if (PLAIN.test(char)) return { text: char, end: at + 1 };
  if (char === "*" || char === "?" || char === "[" || char === "]") {
    return { text: char, end: at + 1, isGlob: char !== "]" };
  }
  if (char === "'") return readSingleQuoted(line, at);
  if (char === '"') return readDoubleQuoted(line, at);
  if (char === "\\") return readEscaped(line, at);
  // `HEAD~1` and `a#b` are themselves; at the start of a word, or of a path in a list, both mean something.
  if ((char === "~" || char === "#") && at > wordStart && /[A-Za-z0-9_]/.test(line[at - 1] ?? "")) {
    return { text: char, end: at + 1 };
  }
  return OBSTACLES[char] ?? "it holds letters outside quotes that shells may read differently";
}

function readSingleQuoted(line: string, at: number): Piece | string {
  const close = line.indexOf("'", at + 1);
  if (close < 0) return "a quote is not closed";
  return { text: line.slice(at + 1, close), end: close + 1, isQuoted: true };
}

/** Between double quotes a backslash is one unless it stands before one of these. */
const ESCAPABLE = new Set(["$", "`", '"', "\\"]);

function readDoubleQuoted(line: string, at: number): Piece | string {
  let text = "";
  for (let next = at + 1; next < line.length; next++) {
    const char = line[next] ?? "";
    const after = line[next + 1] ?? "";
    if (char === '"') return { text, end: next + 1, isQuoted: true };
    if (char === "`" || (char === "$" && !/["|)\s]/.test(after))) return OBSTACLES.$ ?? "";
    if (char === "\\" && after === "\n") return "it goes on behind a backslash at the end of a line";
    if (char === "\\" && ESCAPABLE.has(after)) next += 1;
    text += char === "\\" && ESCAPABLE.has(after) ? after : char;
  }
  return "a quote is not closed";
}

function readEscaped(line: string, at: number): Piece | string {
  const char = line[at + 1];
  if (char === undefined) return "it ends in a backslash";
  if (char === "\n") return "it goes on behind a backslash at the end of a line";
  if (!/[!-~ ]/.test(char)) return "it holds letters outside quotes that shells may read differently";
  return { text: char, end: at + 2, isQuoted: true };
}
