import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from "@earendil-works/pi-tui/dist/autocomplete.js";
import { toSingleLine } from "../../terminal-text.ts";
import type { CompletableCommand } from "./completable-command.ts";
import type { FileIndex } from "./file-index.ts";
import { findCommands } from "./find-commands.ts";
import { quotePath, toMention } from "./mention-text.ts";
import { rankPaths } from "./rank-paths.ts";

/** What there is to complete from. */
export interface CompletionOptions {
  commands: readonly CompletableCommand[];
  files: FileIndex;
}

const MAX_OFFERED = 50;
const MAX_LABEL_COLUMNS = 200;

/** What is offered while a prompt is written: commands behind `/`, files behind `@`, and on Tab files for any word. */
export function createCompletion({ commands, files }: CompletionOptions): AutocompleteProvider {
  return {
    async getSuggestions(lines, line, column, { signal, force = false }) {
      const before = (lines[line] ?? "").slice(0, column);
      const command = line === 0 ? /^\s*(\/(?!\/)\S*)$/.exec(before)?.[1] : undefined;
      if (command !== undefined) return suggest(command, findCommands(commands, command.slice(1)));
      const mention = findMention(before);
      if (mention) return suggestFiles(mention, files, signal);
      const argument = line === 0 ? /^\s*\/(?!\/)(\S+)\s+(.*)$/s.exec(before) : undefined;
      if (argument) return suggestArguments(commands, argument);
      return force ? suggestFiles(findWord(before), files, signal) : null;
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      writeCompletion({ lines, line, column }, item.value, prefix),
  };
}

interface PathStart {
  /** As it is written. */
  prefix: string;
  query: string;
  quote(path: string): string;
}

/** The file that is being named right before the cursor, in quotes or not. */
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

async function suggestFiles(
  { prefix, query, quote }: PathStart,
  files: FileIndex,
  signal: AbortSignal,
): Promise<AutocompleteSuggestions | null> {
  // What is not below this directory is not in the list.
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

interface TextPlace {
  lines: readonly string[];
  line: number;
  column: number;
}

/** The value in place of what is written of it, with a space behind unless something can follow. */
function writeCompletion({ lines, line, column }: TextPlace, value: string, prefix: string) {
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
