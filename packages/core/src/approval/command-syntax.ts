import type { GrammarReading, ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import { readTokens, type Token, type Word } from "./command-tokens.ts";
import { guessCommands } from "./guess-commands.ts";

/** A program's name and its operands. */
export type SimpleCommand = readonly Word[];

/** Commands joined by `|`, and when they run: always, or only after what came before has succeeded or failed. */
export interface Pipeline {
  runs: "always" | "after_success" | "after_failure";
  commands: SimpleCommand[];
}

/** A line as far as it is understood: what is not surely plain is opaque, and `obstacle` says why. */
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
 * operators, and the grammar of bash, which has to find the same commands with the same words and nothing else. What is
 * timed counts as what it is.
 */
export function readCommand(line: string, readGrammar: ReadGrammar): CommandReading {
  const read = readTokens(line);
  const toOpaque = (obstacle: string, found: readonly SimpleCommand[]): CommandReading => {
    return { kind: "opaque", obstacle, commands: guessCommands(line, { readGrammar, found }) };
  };
  if ("obstacle" in read) return toOpaque(read.obstacle, []);
  const tokens = read.tokens.filter((token) => token.kind !== "aside");
  const pipelines = toPipelines(tokens);
  const found = pipelines?.flatMap(({ commands }) => commands) ?? [];
  const timed = pipelines?.map(withoutTime);
  const obstacle =
    findObstacle(timed) ?? findDisagreement(found, readGrammar(toGrammarText(line, read.tokens)));
  return timed && obstacle === undefined
    ? { kind: "plain", pipelines: timed }
    : toOpaque(obstacle ?? "", found);
}

/** `time` in front of a pipeline is a word of the shell's; where a shell has no such word it runs the same program. */
function withoutTime({ runs, commands }: Pipeline): Pipeline {
  const [[time, program, ...words] = [], ...others] = commands;
  const isTimed = time?.text === "time" && time.isBare && program && !/^(?:-.*|cd)$/.test(program.text);
  return isTimed ? { runs, commands: [[program, ...words], ...others] } : { runs, commands };
}

function findObstacle(pipelines: readonly Pipeline[] | undefined): string | undefined {
  if (pipelines === undefined) return "a command is missing beside an operator";
  const commands = pipelines.flatMap((pipeline) => pipeline.commands);
  if (commands.length === 0) return "it holds no command";
  if (commands.length > MAX_COMMANDS) return `it holds more than ${MAX_COMMANDS} commands`;
  return commands.map(findProgramObstacle).find((obstacle) => obstacle !== undefined);
}

/**
 * The line with spaces in the place of what is no part of a command, and a semicolon or space in that of each line end,
 * all else where it was: the grammar sometimes takes a line end behind a pipeline for a space, and two commands for one.
 */
function toGrammarText(line: string, all: readonly Token[]): string {
  const tokens = all.filter((token) => token.kind !== "aside");
  const lastWord = tokens.findLastIndex(({ kind }) => kind === "word");
  const lineEnds = tokens.flatMap((token, index) => {
    if (token.kind !== "operator" || token.text !== "\n") return [];
    const isEnd = tokens[index - 1]?.kind === "word" && index < lastWord;
    return [{ start: token.start, end: token.start + 1, text: isEnd ? ";" : " " }];
  });
  const asides = all.flatMap((token) =>
    token.kind === "aside" ? [{ ...token, text: " ".repeat(token.end - token.start) }] : [],
  );
  let text = "";
  let from = 0;
  for (const piece of [...lineEnds, ...asides].sort((left, right) => left.start - right.start)) {
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
    if (token.kind === "aside") continue;
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
