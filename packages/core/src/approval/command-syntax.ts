import type { GrammarReading, ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import { readTokens, type Token, type Word } from "./command-tokens.ts";

/** A program's name and its operands. */
export type SimpleCommand = readonly Word[];

/** Commands joined by `|`, and when they run: always, or only after what came before has succeeded or failed. */
export interface Pipeline {
  runs: "always" | "after_success" | "after_failure";
  commands: SimpleCommand[];
}

export type CommandReading =
  | { kind: "plain"; pipelines: Pipeline[] }
  /** More than plain words. `commands` are the texts of those that could be made out in it, for rules that deny. */
  | { kind: "opaque"; obstacle: string; commands: string[][] };

/** What the grammar may find in a line of plain words. */
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

/** Words that begin something else than a command. `time` and `[[` are of the shell, not programs. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"],
  ...["select", "function", "coproc", "time", "!", "[[", "]]"],
]);

// Behind so many parts nobody reads what is being asked.
const MAX_COMMANDS = 500;

/**
 * Reads a command line. It is plain only if two readers agree: ours, which knows nothing but words, quotes and four
 * operators, and the grammar of bash, which has to find the same commands with the same words and nothing else.
 */
export function readCommand(line: string, readGrammar: ReadGrammar): CommandReading {
  const read = readTokens(line);
  if ("obstacle" in read) return toOpaque(line, read.obstacle, { readGrammar, found: [] });
  const pipelines = toPipelines(read.tokens);
  const found = pipelines?.flatMap(({ commands }) => commands) ?? [];
  const obstacle =
    findObstacle(pipelines, found) ?? findDisagreement(found, readGrammar(joinLines(line, read.tokens)));
  if (pipelines && obstacle === undefined) return { kind: "plain", pipelines };
  return toOpaque(line, obstacle ?? "", { readGrammar, found });
}

function findObstacle(
  pipelines: readonly Pipeline[] | undefined,
  commands: readonly SimpleCommand[],
): string | undefined {
  if (pipelines === undefined) return "a command is missing beside an operator";
  if (commands.length === 0) return "it holds no command";
  if (commands.length > MAX_COMMANDS) return `it holds more than ${MAX_COMMANDS} commands`;
  return commands.map(findProgramObstacle).find((obstacle) => obstacle !== undefined);
}

/**
 * The line with a semicolon or space in the place of each line end, all else where it was: the grammar sometimes takes
 * a line end behind a pipeline for a space, and two commands for one.
 */
function joinLines(line: string, tokens: readonly Token[]): string {
  const lastWord = tokens.findLastIndex(({ kind }) => kind === "word");
  const lineEnds = tokens.flatMap((token, index) => {
    if (token.kind === "word" || token.text !== "\n") return [];
    const isEnd = tokens[index - 1]?.kind === "word" && index < lastWord;
    return [{ at: token.start, text: isEnd ? ";" : " " }];
  });
  let joined = "";
  let from = 0;
  for (const { at, text } of lineEnds) {
    joined += line.slice(from, at) + text;
    from = at + 1;
  }
  return joined + line.slice(from);
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
    if (command.length === 0) {
      // Empty lines are no commands, and a line may be broken behind an operator.
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

function findProgramObstacle([program]: SimpleCommand): string | undefined {
  if (!program) return "it holds no command";
  if (!program.isBare || program.isGlob) {
    return program.text === "[" ? undefined : "the name of a program is quoted or a pattern";
  }
  if (program.text.includes("=")) return "it sets a variable";
  if (RESERVED.has(program.text)) return `${program.text} is a word of the shell's own`;
  return undefined;
}

/** Why the grammar does not find exactly these commands; undefined when it does. */
function findDisagreement(commands: readonly SimpleCommand[], grammar: GrammarReading): string | undefined {
  const strange = [...grammar.kinds].find((kind) => !PLAIN_KINDS.has(kind));
  if (strange !== undefined) return `it holds a ${strange.replaceAll("_", " ")}`;
  if (grammar.hasError) return "bash might not understand it";
  const isSame =
    commands.length === grammar.commands.length &&
    commands.every((command, index) => isSameCommand(command, grammar.commands[index]));
  return isSame ? undefined : "it can be read in two ways";
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
  /** What our own reader has found, as far as it came. */
  found: readonly SimpleCommand[];
}

/** With what the line may run: as our reader sees it, as the grammar does, and where that errs as plain splitting does. */
function toOpaque(line: string, obstacle: string, { readGrammar, found }: Readers): CommandReading {
  const grammar = readGrammar(line);
  const own = found.map((command) => command.map(({ text }) => text));
  const parsed = grammar.commands.map(({ words }) =>
    guessWords(words.map(({ start, end }) => line.slice(start, end))),
  );
  const split = (text: string) => text.split(/[;&|\n\r(){}`]/).map((piece) => guessWords(piece.split(/\s+/)));
  const doubtful = grammar.hasError
    ? [line]
    : grammar.commands.map(({ start, end }) => line.slice(start, end)).filter((text) => text.includes("\n"));
  const commands = [...own, ...parsed, ...doubtful.flatMap(split)].filter((words) => words.length > 0);
  return { kind: "opaque", obstacle, commands };
}

/** Without quotes, backslashes and the variables set in front. */
function guessWords(words: readonly string[]): string[] {
  const bare = words.map((word) => word.replace(/["'\\]|\$(?=["'])/g, "")).filter((word) => word !== "");
  const program = bare.findIndex((word) => !/^\w+\+?=/.test(word));
  return program < 0 ? [] : bare.slice(program);
}
