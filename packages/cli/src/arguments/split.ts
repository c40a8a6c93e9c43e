import { nearestName } from "@diligent/core/light";
import { UsageError } from "../usage-error.ts";
import {
  findLongOption,
  findShortOption,
  type Option,
  type OptionName,
  optionLabel,
  optionSpellings,
} from "./option-table.ts";
import { isSessionReference } from "./session-reference.ts";
import { isSubcommandName, type SubcommandName } from "./subcommand-table.ts";

/** A command line taken apart: what each option was given (the last one counts), and the words that remain. */
export interface SplitArguments {
  /** `true` for an option that stands alone. */
  options: ReadonlyMap<OptionName, string | true>;
  words: readonly string[];
  /** What follows the subcommand's name, untouched; undefined when there is no subcommand. */
  subcommand?: { name: SubcommandName; rest: readonly string[] };
}

/**
 * Takes a command line apart. The first word, where it is a subcommand's name and neither `--` nor `--print` comes
 * before it, leaves everything behind it to the subcommand.
 * @throws UsageError for an option that is unknown, lacks its value or was given one it does not take.
 */
export function splitArguments(argv: readonly string[]): SplitArguments {
  const rest = [...argv];
  const options = new Map<OptionName, string | true>();
  const words: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") return { options, words: [...words, ...rest] };
    if (isOptionLike(word)) {
      for (const [option, value] of readOptions(word, rest)) options.set(option.name, value);
    } else if (words.length === 0 && isSubcommandName(word) && !options.has("print")) {
      return { options, words, subcommand: { name: word, rest } };
    } else {
      words.push(word);
    }
  }
  return { options, words };
}

/** A lone dash, and a dash before a space as in a list, begin a text. */
function isOptionLike(word: string): boolean {
  return /^--?[^-\s]/.test(word);
}

type Given = [Option, string | true];

function readOptions(word: string, rest: string[]): Given[] {
  return word.startsWith("--") ? [readLong(word, rest)] : readShort(word, rest);
}

function readLong(word: string, rest: string[]): Given {
  const equals = word.indexOf("=");
  const name = word.slice(2, equals < 0 ? undefined : equals);
  const option = findLongOption(name);
  if (!option) throw unknownOption(`--${name}`);
  if (equals < 0) return [option, readValue(option, rest)];
  if (option.value === undefined) throw new UsageError(`${optionLabel(option)} takes no value`);
  const value = word.slice(equals + 1);
  if (value === "") throw missingValue(option);
  return [option, value];
}

/** Short options may share a dash; what follows one that takes a value is its value. */
function readShort(word: string, rest: string[]): Given[] {
  // `-model x` would otherwise name the model `odel`.
  if (findLongOption(word.slice(1).split("=", 1)[0] ?? "")) throw unknownOption(word);
  const given: Given[] = [];
  const letters = [...word.slice(1)];
  for (let letter = letters.shift(); letter !== undefined; letter = letters.shift()) {
    const option = findShortOption(letter);
    if (!option) throw unknownOption(letters.length + given.length > 0 ? word : `-${letter}`);
    const attached = letters.join("").replace(/^=/, "");
    if (letters.length > 0 && takesAttached(option, letters[0] === "=", attached)) {
      if (attached === "") throw missingValue(option);
      return [...given, [option, attached]];
    }
    given.push([option, letters.length > 0 ? aloneOr(option) : readValue(option, rest)]);
  }
  return given;
}

function takesAttached(option: Option, hasEquals: boolean, attached: string): boolean {
  if (option.value === undefined) {
    if (hasEquals) throw new UsageError(`${optionLabel(option)} takes no value`);
    return false;
  }
  return option.takes !== "reference" || hasEquals || isSessionReference(attached);
}

/** An option in the middle of a group has no value to take. */
function aloneOr(option: Option): true {
  if (option.value !== undefined && option.takes !== "reference") throw missingValue(option);
  return true;
}

function readValue(option: Option, rest: string[]): string | true {
  if (option.value === undefined) return true;
  const next = rest[0];
  if (option.takes === "reference") {
    return next !== undefined && isSessionReference(next) ? (rest.shift() ?? true) : true;
  }
  if (next === undefined || next === "" || next === "--" || isKnownOption(next)) throw missingValue(option);
  rest.shift();
  return next;
}

function isKnownOption(word: string): boolean {
  return optionSpellings().includes(word.split("=", 1)[0] ?? word);
}

function missingValue(option: Option): UsageError {
  return new UsageError(`${optionLabel(option)} needs a value: ${optionLabel(option)} ${option.value}`);
}

function unknownOption(spelling: string): UsageError {
  const nearest = nearestOption(spelling);
  const hint = nearest ? `did you mean ${nearest}?` : "see diligent --help";
  return new UsageError(`unknown option ${spelling} (${hint})`);
}

/** One letter is as near to every other: there only the case can be mistaken. */
function nearestOption(spelling: string): string | undefined {
  const spellings = optionSpellings();
  if (spelling.length > 2)
    return nearestName(
      spelling,
      spellings.filter((name) => name.length > 2),
    );
  return spellings.find((name) => name.toLowerCase() === spelling.toLowerCase());
}
