import type { GrammarReading, ReadGrammar } from "./grammar.ts";

/** A word of a command without its quotes. */
export interface Word {
  text: string;
  /** True when the word is a file name pattern: it contains a `*`, `?` or `[` outside quotes. */
  isGlob: boolean;
  /** True when it is written without quotes and backslashes. */
  isBare: boolean;
  /** Half-open, in UTF-16 units of the command line. */
  start: number;
  end: number;
}

/** A token of a command line; `start` and `end` are as in `Word`. */
type Token =
  | { kind: "word"; word: Word }
  | { kind: "operator"; text: Operator; start: number }
  /** Text that does not change what is run: a comment, or output redirected to another stream or to `/dev/null`. */
  | { kind: "ignored"; isComment: boolean; start: number; end: number };

/** The operators that join or end commands in a plain line. `&` is missing: background commands are not supported. */
type Operator = "&&" | "||" | ";" | "|" | "\n";

/** The tokens of a line of plain words, or why it is not one, such as `it contains a redirection`. */
type Tokens = { tokens: Token[] } | { unsupported: string };

// Every shell treats these literally, wherever they are in a word.
const PLAIN = /[A-Za-z0-9_./,:=@%+^\-!]/;

const UNSUPPORTED: Readonly<Record<string, string>> = {
  $: "it contains an expansion or substitution",
  "`": "it contains a command substitution",
  ">": "it contains a redirection",
  "<": "it contains a redirection",
  "&": "it runs something in the background or redirects",
  "(": "it contains a subshell, function or extended pattern",
  ")": "it contains a subshell, function or extended pattern",
  "{": "it contains a brace expansion or group",
  "}": "it contains a brace expansion or group",
  "#": "it contains a comment in an unusual place",
  "~": "it contains a home directory to be expanded",
};

/**
 * Characters that are invisible or look like a space: control characters except line feed and tab, format characters,
 * unassigned code points, fillers, and separators except the space.
 */
const INVISIBLE = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

// Only these redirections write no file in any shell. Not `&>`, which some shells read as a background command.
const HARMLESS_REDIRECTION = /(?:[12]?>>?[ \t]*\/dev\/null|[12]?>&[12])(?=[ \t\n;|]|&&|$)/y;

// Parsers disagree about the next line when a comment ends in a backslash.
const COMMENT = /#[^\n]*/y;

/**
 * Parses a command line as far as possible without knowledge of shells: words of plain characters and quotes without
 * expansion, joined by `&&`, `||`, `;`, `|` and line ends. Anything else is unsupported, except comments and
 * redirections that discard output or join stderr to it.
 */
function readTokens(line: string): Tokens {
  if (!line.isWellFormed() || INVISIBLE.test(line))
    return { unsupported: "it contains invisible characters" };
  const tokens: Token[] = [];
  for (let at = 0; at < line.length; ) {
    const operator = operatorAt(line, at);
    const ignored = ignoredAt(line, at);
    if (line[at] === " " || line[at] === "\t") at += 1;
    else if (ignored) {
      if (line[ignored.end - 1] === "\\")
        return { unsupported: "it contains a comment that ends in a backslash" };
      tokens.push(ignored);
      at = ignored.end;
    } else if (operator) {
      tokens.push({ kind: "operator", text: operator, start: at });
      at += operator.length;
    } else {
      const word = readWord(line, at);
      if ("unsupported" in word) return word;
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

/**
 * Reads a comment or harmless redirection; both exist only where a word could begin, after a space or at the start of a
 * line.
 */
function ignoredAt(line: string, at: number): (Token & { kind: "ignored" }) | undefined {
  if (at > 0 && !/[ \t\n]/.test(line[at - 1] ?? "")) return undefined;
  const pattern = line[at] === "#" ? COMMENT : HARMLESS_REDIRECTION;
  pattern.lastIndex = at;
  const match = pattern.exec(line);
  return match
    ? { kind: "ignored", isComment: line[at] === "#", start: at, end: at + match[0].length }
    : undefined;
}

interface Piece {
  text: string;
  end: number;
  isGlob?: boolean;
  isQuoted?: boolean;
}

function readWord(line: string, start: number): Word | { unsupported: string } {
  const word: Word = { text: "", isGlob: false, isBare: true, start, end: start };
  while (word.end < line.length && !/[ \t]/.test(line[word.end] ?? "") && !operatorAt(line, word.end)) {
    const piece = readPiece(line, word.end, start);
    if (typeof piece === "string") return { unsupported: piece };
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
  // `HEAD~1` and `a#b` are literal; at the start of a word, or of a path in a list, both characters are special.
  if ((char === "~" || char === "#") && at > wordStart && /[A-Za-z0-9_]/.test(line[at - 1] ?? "")) {
    return { text: char, end: at + 1 };
  }
  return UNSUPPORTED[char] ?? "it contains letters outside quotes that shells may read differently";
}

function readSingleQuoted(line: string, at: number): Piece | string {
  const close = line.indexOf("'", at + 1);
  if (close < 0) return "a quote is not closed";
  return { text: line.slice(at + 1, close), end: close + 1, isQuoted: true };
}

/** Between double quotes a backslash is literal unless one of these follows. */
const ESCAPABLE = new Set(["$", "`", '"', "\\"]);

function readDoubleQuoted(line: string, at: number): Piece | string {
  let text = "";
  for (let next = at + 1; next < line.length; next++) {
    const char = line[next] ?? "";
    const after = line[next + 1] ?? "";
    if (char === '"') return { text, end: next + 1, isQuoted: true };
    if (char === "`" || (char === "$" && !/["|)\s]/.test(after))) return UNSUPPORTED.$ ?? "";
    if (char === "\\" && after === "\n") return "it continues after a backslash at the end of a line";
    if (char === "\\" && ESCAPABLE.has(after)) next += 1;
    text += char === "\\" && ESCAPABLE.has(after) ? after : char;
  }
  return "a quote is not closed";
}

function readEscaped(line: string, at: number): Piece | string {
  const char = line[at + 1];
  if (char === undefined) return "it ends in a backslash";
  if (char === "\n") return "it continues after a backslash at the end of a line";
  if (!/[!-~ ]/.test(char)) return "it contains letters outside quotes that shells may read differently";
  return { text: char, end: at + 2, isQuoted: true };
}

/** A program's name and its operands. */
export type SimpleCommand = readonly Word[];

/** Commands joined by `|`, and when they run: always, or only after what came before has succeeded or failed. */
export interface Pipeline {
  runs: "always" | "after_success" | "after_failure";
  commands: SimpleCommand[];
}

/** A parsed line. Anything that is not certainly plain is opaque, and `unsupported` says why. */
export type CommandReading =
  | { kind: "plain"; pipelines: Pipeline[] }
  /**
   * The line contains more than plain words. `commands` holds the words of the commands that were recognized, for deny
   * rules.
   */
  | { kind: "opaque"; unsupported: string; commands: string[][] };

/** The node kinds that the grammar may find in a line of plain words. */
const PLAIN_KINDS: ReadonlySet<string> = new Set([
  ...["program", "list", "pipeline", "command", "command_name", "word", "number", "raw_string", "string"],
  ...[
    "string_content",
    "concatenation",
    "test_command",
    "unary_expression",
    "binary_expression",
    "test_operator",
  ],
  ...["negated_expression", "parenthesized_expression", "regex", "extglob_pattern"],
]);

/** Words that begin something other than a command. `time` and `[[` are shell keywords, not programs. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"],
  ...["select", "function", "coproc", "time", "!", "[[", "]]"],
]);

// No user reads a question with more parts than this.
const MAX_COMMANDS = 500;

/**
 * Reads a command line. It is plain only if two parsers agree: this one, which knows only words, quotes and four
 * operators, and the bash grammar, which has to find the same commands with the same words and nothing else. A command
 * after `time` counts as itself.
 */
export function readCommand(line: string, readGrammar: ReadGrammar): CommandReading {
  const read = readTokens(line);
  const toOpaque = (unsupported: string, found: readonly SimpleCommand[]): CommandReading => {
    return { kind: "opaque", unsupported, commands: guessCommands(line, { readGrammar, found }) };
  };
  if ("unsupported" in read) return toOpaque(read.unsupported, []);
  const tokens = read.tokens.filter((token) => token.kind !== "ignored");
  const pipelines = toPipelines(tokens);
  const found = pipelines?.flatMap(({ commands }) => commands) ?? [];
  const timed = pipelines?.map(withoutTime);
  const unsupported =
    findUnsupported(timed) ?? findDisagreement(found, readGrammar(toGrammarText(line, read.tokens)));
  return timed && unsupported === undefined
    ? { kind: "plain", pipelines: timed }
    : toOpaque(unsupported ?? "", found);
}

/**
 * Removes `time` in front of a pipeline: it is a keyword in some shells, and a program that runs the same command in
 * the others.
 */
function withoutTime({ runs, commands }: Pipeline): Pipeline {
  const [[time, program, ...words] = [], ...others] = commands;
  const isTimed = time?.text === "time" && time.isBare && program && !/^(?:-.*|cd)$/.test(program.text);
  return isTimed ? { runs, commands: [[program, ...words], ...others] } : { runs, commands };
}

function findUnsupported(pipelines: readonly Pipeline[] | undefined): string | undefined {
  if (pipelines === undefined) return "an operator has no command next to it";
  const commands = pipelines.flatMap((pipeline) => pipeline.commands);
  if (commands.length === 0) return "it contains no command";
  if (commands.length > MAX_COMMANDS) return `it contains more than ${MAX_COMMANDS} commands`;
  return commands.map(findUnsupportedProgram).find((unsupported) => unsupported !== undefined);
}

/**
 * The line for the grammar, with all offsets unchanged: anything that is not part of a command becomes spaces, each
 * line end a semicolon or a space. The grammar sometimes reads a line end after a pipeline as a space, and two commands
 * as one.
 */
function toGrammarText(line: string, all: readonly Token[]): string {
  const tokens = all.filter((token) => token.kind !== "ignored");
  const lastWord = tokens.findLastIndex(({ kind }) => kind === "word");
  const lineEnds = tokens.flatMap((token, index) => {
    if (token.kind !== "operator" || token.text !== "\n") return [];
    const isEnd = tokens[index - 1]?.kind === "word" && index < lastWord;
    return [{ start: token.start, end: token.start + 1, text: isEnd ? ";" : " " }];
  });
  const ignored = all.flatMap((token) =>
    token.kind === "ignored" ? [{ ...token, text: " ".repeat(token.end - token.start) }] : [],
  );
  let text = "";
  let from = 0;
  for (const piece of [...lineEnds, ...ignored].sort((left, right) => left.start - right.start)) {
    text += line.slice(from, piece.start) + piece.text;
    from = piece.end;
  }
  return text + line.slice(from);
}

const CONDITIONS = { "&&": "after_success", "||": "after_failure" } as const;

/** Undefined when an operator has nothing to join. */
function toPipelines(tokens: readonly Token[]): Pipeline[] | undefined {
  const pipelines: Pipeline[] = [];
  let runs: Pipeline["runs"] = "always";
  let command: Word[] = [];
  let piped: SimpleCommand[] = [];
  let needsCommand = false;
  for (const token of [...tokens, { kind: "operator", text: "\n", start: 0 } as const]) {
    if (token.kind === "word") {
      command.push(token.word);
      continue;
    }
    if (token.kind === "ignored") continue;
    if (command.length === 0) {
      // Empty lines are not commands, and a line may be broken after an operator.
      if (token.text === "\n") continue;
      return undefined;
    }
    piped.push(command);
    command = [];
    needsCommand = token.text !== ";" && token.text !== "\n";
    if (token.text === "|") continue;
    pipelines.push({ runs, commands: piped });
    piped = [];
    runs = token.text === "&&" || token.text === "||" ? CONDITIONS[token.text] : "always";
  }
  return needsCommand ? undefined : pipelines;
}

function findUnsupportedProgram([program]: SimpleCommand): string | undefined {
  if (!program) return "it contains no command";
  if (!program.isBare || program.isGlob) {
    return program.text === "[" ? undefined : "the name of a program is quoted or a pattern";
  }
  if (program.text.includes("=")) return "it sets a variable";
  if (RESERVED.has(program.text)) return `${program.text} is a shell keyword`;
  return undefined;
}

/** The reason why the grammar does not find exactly these commands; undefined when it does. */
function findDisagreement(commands: readonly SimpleCommand[], grammar: GrammarReading): string | undefined {
  const unknownKind = [...grammar.kinds].find((kind) => !PLAIN_KINDS.has(kind));
  if (unknownKind !== undefined) return `it contains a ${unknownKind.replaceAll("_", " ")}`;
  if (grammar.hasError) return "bash might reject it";
  const isSame =
    commands.length === grammar.commands.length &&
    commands.every((command, index) => isSameCommand(command, grammar.commands[index]));
  return isSame ? undefined : "it is ambiguous";
}

function isSameCommand(
  command: SimpleCommand,
  other: GrammarReading["commands"][number] | undefined,
): boolean {
  if (!other || command[0]?.start !== other.start || command.at(-1)?.end !== other.end) return false;
  if (command[0].text === "[") return true;
  return (
    other.words.length === command.length &&
    command.every(
      ({ start, end }, index) => other.words[index]?.start === start && other.words[index]?.end === end,
    )
  );
}

interface Readers {
  readGrammar: ReadGrammar;
  /** The commands that our own parser found before it stopped. */
  found: readonly SimpleCommand[];
}

/**
 * The words of the commands that an unsupported line may run, from our parser, from the grammar and, where the grammar
 * fails, from plain splitting. They are used by deny rules, so too many commands do less harm than too few.
 */
function guessCommands(line: string, { readGrammar, found }: Readers): string[][] {
  const own = found.map((command) => command.map(({ text }) => text));
  // The shell removes these before it splits words.
  const joined = line.replaceAll("\\\n", "");
  const texts = joined === line ? [line] : [line, joined];
  return [...own, ...texts.flatMap((text) => commandsIn(text, readGrammar))].filter(
    (words) => words.length > 0,
  );
}

function commandsIn(line: string, readGrammar: ReadGrammar): string[][] {
  const grammar = readGrammar(line);
  const parsed = grammar.commands.map(({ words }) =>
    guessWords(words.map(({ start, end }) => line.slice(start, end))),
  );
  const split = (text: string) => text.split(/[;&|\n\r(){}`]/).map((piece) => guessWords(piece.split(/\s+/)));
  const doubtful = grammar.hasError
    ? [line]
    : grammar.commands.map(({ start, end }) => line.slice(start, end)).filter((text) => /[\n{}]/.test(text));
  return [...parsed, ...doubtful.flatMap(split)];
}

const ASSIGNMENT = /^\w+(?:\[[^\]]*\])?\+?=/;
const REDIRECTION = /^(?:\d+|\{\w+\})?(?:&>>?|[<>]{1,3}[&|]?)(.*)$/s;

/** Removes quotes and backslashes, and the assignments and redirections in front. */
function guessWords(words: readonly string[]): string[] {
  const bare = words.map((word) => word.replace(/["'\\]|\$(?=["'])/g, "")).filter((word) => word !== "");
  let at = 0;
  for (let word = bare[at]; word !== undefined; word = bare[at]) {
    const target = REDIRECTION.exec(word)?.[1];
    if (target === undefined && !ASSIGNMENT.test(word)) break;
    at += target === "" ? 2 : 1;
  }
  return bare.slice(at);
}

const MAX_SHOWN_CHARS = 200;

/** Characters that could form a sentence or end a quotation. */
const UNLIKE_A_WORD = /[\s"'`\u00ab\u00bb\u201c-\u201f\u2800\u3164]|\p{C}/u;

/**
 * A word of a command, or a path, for use in a reason. A name chosen by a model must never be mistaken for part of the
 * sentence: anything that is not plainly one word is quoted, in marks that it cannot close, and truncated when it is
 * long.
 */
export function showWord(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS && !UNLIKE_A_WORD.test(text)) return text;
  const shown = text
    .slice(0, MAX_SHOWN_CHARS)
    .toWellFormed()
    .replace(/[\u201c-\u201f]/g, "'");
  return `“${shown}${text.length > MAX_SHOWN_CHARS ? "…" : ""}”`;
}
