import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from "@earendil-works/pi-tui/dist/autocomplete.js";
import { fuzzyMatch } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { FileIndex } from "./file-index.ts";

/** The sources of completions. */
interface CompletionOptions {
  /** Read at each key: a session may add some. */
  readonly commands: readonly CompletableCommand[];
  files: FileIndex;
  /** What else can follow `@`, such as resources of servers. */
  listMentions?(): Promise<readonly string[]>;
}

const MAX_OFFERED = 50;
const MAX_LABEL_COLUMNS = 200;

/**
 * Completions while a prompt is being typed: commands after `/`, files after `@`, and files for any word on
 * Tab.
 */
export function createCompletion(options: CompletionOptions): AutocompleteProvider {
  const { files } = options;
  return {
    async getSuggestions(lines, line, column, { signal, force = false }) {
      const before = (lines[line] ?? "").slice(0, column);
      const command = line === 0 ? /^\s*(\/(?!\/)\S*)$/.exec(before)?.[1] : undefined;
      if (command !== undefined) return suggest(command, findCommands(options.commands, command.slice(1)));
      const mention = findMention(before);
      if (mention) return suggestMentions(mention, options, signal);
      const argument = line === 0 ? /^\s*\/(?!\/)(\S+)\s+(.*)$/s.exec(before) : undefined;
      if (argument) return suggestArguments(options.commands, argument);
      return force ? suggestFiles(findWord(before), files, signal) : null;
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      writeCompletion({ lines, line, column }, item.value, prefix),
  };
}

interface PathStart {
  /** As typed. */
  prefix: string;
  query: string;
  quote(path: string): string;
}

/** The file name being typed directly before the cursor, quoted or not. */
function findMention(before: string): PathStart | undefined {
  const found = /(?:^|[\s([{<"'`,;:])(@(?:"([^"]*)|([^\s"]*)))$/.exec(before);
  if (!found) return undefined;
  const [, prefix = "", quoted, plain = ""] = found;
  return { prefix, query: quoted ?? plain, quote: toMention };
}

function findWord(before: string): PathStart {
  const prefix = before.split(/[\s"'`]/).at(-1) ?? "";
  return { prefix, query: prefix, quote: quotePath };
}

/** Resources are offered once their server is named. */
async function suggestMentions(
  mention: PathStart,
  { files, listMentions }: CompletionOptions,
  signal: AbortSignal,
): Promise<AutocompleteSuggestions | null> {
  const found = await suggestFiles(mention, files, signal);
  if (mention.query === "") return found;
  const others = ((await listMentions?.()) ?? []).filter((each) => each.startsWith(mention.query));
  const items = others.map((each) => ({ value: `@${each}`, label: toLabel(each) }));
  return suggest(mention.prefix, [...items, ...(found?.items ?? [])].slice(0, MAX_OFFERED));
}

async function suggestFiles(
  { prefix, query, quote }: PathStart,
  files: FileIndex,
  signal: AbortSignal,
): Promise<AutocompleteSuggestions | null> {
  // The list contains only what is below this directory.
  if (/^(?:[/~]|\.\.\/)/.test(query)) return null;
  const paths = await files.paths(signal);
  if (signal.aborted) return null;
  // A quotation mark in a name would end the quotation.
  const found = rankPaths(paths, query.replace(/^\.\//, ""), MAX_OFFERED).filter(
    (path) => !path.includes('"'),
  );
  return suggest(
    prefix,
    found.map((path) => ({ value: quote(path), label: toLabel(path) })),
  );
}

async function suggestArguments(
  commands: readonly CompletableCommand[],
  [, name = "", argument = ""]: RegExpExecArray,
): Promise<AutocompleteSuggestions | null> {
  const command = commands.find((each) => each.name === name || each.aliases?.includes(name));
  const found = (await command?.complete?.(argument)) ?? [];
  return suggest(
    argument,
    found.slice(0, MAX_OFFERED).map((value) => ({ value, label: toLabel(value) })),
  );
}

function suggest(prefix: string, items: AutocompleteItem[]): AutocompleteSuggestions | null {
  return items.length === 0 ? null : { prefix, items };
}

function toLabel(text: string): string {
  return toSingleLine(text, MAX_LABEL_COLUMNS);
}

interface TextLocation {
  lines: readonly string[];
  line: number;
  column: number;
}

/** Replaces the typed part by the value, followed by a space unless it can be continued. */
function writeCompletion({ lines, line, column }: TextLocation, value: string, prefix: string) {
  const text = lines[line] ?? "";
  const before = text.slice(0, column - prefix.length);
  const after = text.slice(column).replace(prefix.includes('"') ? /^"/ : "", "");
  const isDirectory = /[^/]\/"?$/.test(value);
  const space = isDirectory || after.startsWith(" ") ? "" : " ";
  return {
    lines: lines.toSpliced(line, 1, before + value + space + after),
    cursorLine: line,
    cursorCol: before.length + (isDirectory ? value.replace(/"$/, "").length : value.length + 1),
  };
}

const MAX_DESCRIPTION_COLUMNS = 200;
// Names that begin with the typed text come before all others.
const BEGINNING_BONUS = 1_000;

/**
 * The commands that match the text after the slash, the likeliest first, each under its best-matching name.
 * For an empty text, all commands in their order.
 */
function findCommands(commands: readonly CompletableCommand[], written: string): AutocompleteItem[] {
  const found = commands.flatMap((command) => {
    const names = written === "" ? [command.name] : [command.name, ...(command.aliases ?? [])];
    const best = names.flatMap((name) => scoreName(name, written)).sort(byScore)[0];
    return best ? [{ ...best, command }] : [];
  });
  return found.sort(byScore).map(({ name, command }) => ({
    value: `/${name}`,
    label: `/${name}`,
    description: toSingleLine(describe(name, command), MAX_DESCRIPTION_COLUMNS),
  }));
}

function scoreName(name: string, written: string): { name: string; score: number }[] {
  if (written === "") return [{ name, score: 0 }];
  const { matches, score } = fuzzyMatch(written, name);
  if (!matches) return [];
  return [{ name, score: name.startsWith(written.toLowerCase()) ? score - BEGINNING_BONUS : score }];
}

function describe(name: string, command: CompletableCommand): string {
  return name === command.name ? command.description : `${command.description} (/${command.name})`;
}

function byScore(left: { score: number }, right: { score: number }): number {
  return left.score - right.score;
}

/**
 * The words of a command line such as `code -w` or `"/opt/my editor" --wait`: quotes and backslashes as in a
 * shell, and no other syntax. Undefined for an unclosed quotation mark, and for no words.
 */
export function readCommandWords(line: string): string[] | undefined {
  const words = line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+|\S/gs);
  const read = Array.from(words, ([word]) => ({ word, value: unquote(word) }));
  if (read.length === 0 || read.some(({ word }) => /^["'\\]$/.test(word))) return undefined;
  return read.map(({ value }) => value);
}

function unquote(word: string): string {
  return word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, escaped, double, single) => {
    if (typeof escaped === "string") return escaped;
    if (typeof double === "string") return double.replace(/\\(["\\$`])/g, "$1");
    return typeof single === "string" ? single : "";
  });
}

/** What completion knows about a slash command. */
interface CompletableCommand {
  /** Without the slash. */
  name: string;
  aliases?: readonly string[];
  description: string;
  /** The possible values for the argument typed so far; omitted if anything is allowed. */
  complete?(argument: string): readonly string[] | Promise<readonly string[]>;
}

// A match within the name itself is nearly always the intended one; pi-tui's scores are lower for better
// matches.
const NAME_BONUS = 30;
const LENGTH_COST = 0.1;

/**
 * The paths that contain the characters of `query` in order, the best first: in the last name before anywhere
 * else, together and at word starts before scattered, short before long. Without a query, those nearest to
 * the root.
 */
export function rankPaths(paths: readonly string[], query: string, limit: number): string[] {
  const scored = paths.flatMap((path) => {
    const score = query === "" ? countSlashes(path) : scorePath(path, query);
    return score === undefined ? [] : [{ path, score }];
  });
  return scored
    .sort((left, right) => left.score - right.score || (left.path < right.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

function scorePath(path: string, query: string): number | undefined {
  const whole = fuzzyMatch(query, path);
  if (!whole.matches) return undefined;
  const name = fuzzyMatch(query, path.slice(path.lastIndexOf("/", path.length - 2) + 1));
  const score = name.matches ? Math.min(whole.score, name.score - NAME_BONUS) : whole.score;
  return score + path.length * LENGTH_COST;
}

function countSlashes(path: string): number {
  return path.slice(0, -1).split("/").length;
}

const PLAIN_PATH = /^[^\s"'`,;()<>[\]{}]+$/;

/** How a prompt names a path: `@a.ts`, quoted if its end would be ambiguous. */
function toMention(path: string): string {
  return `@${quotePath(path)}`;
}

/** A path to follow `@`: quoted if its end would otherwise be ambiguous in the text. */
function quotePath(path: string): string {
  return PLAIN_PATH.test(path) && !/[.:!?]$/.test(path) ? path : `"${path}"`;
}
