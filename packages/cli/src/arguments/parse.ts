import { nearestName } from "@diligent/core/light";
import { UsageError } from "../errors.ts";
import {
  APPROVAL_MODES,
  type Command,
  EVIDENCE_KINDS,
  INPUT_FORMATS,
  isSessionReference,
  OUTPUT_FORMATS,
  type Resumption,
  type RunCommand,
  type RunCommandOptions,
  type SubcommandCall,
} from "./command.ts";
import {
  findLongOption,
  findShortOption,
  type Option,
  type OptionName,
  optionLabel,
  optionSpellings,
} from "./options.ts";
import { isSubcommandName, SUBCOMMAND_PAGES, type SubcommandName } from "./subcommands.ts";

/**
 * Parses the command line; `argv` excludes the program's name. A well-formed request for help or the version takes
 * precedence.
 * @throws UsageError if it is invalid.
 */
export function parseArguments(argv: readonly string[]): Command {
  const split = splitArguments(argv);
  const question = argv.includes("--") ? undefined : toQuestion(split);
  if (question) return question;
  if (split.options.has("help")) return { kind: "help" };
  if (split.options.has("version")) return { kind: "version" };
  if (split.subcommand) return toSubcommandCall(split.subcommand, split.options);
  if (split.options.has("list")) return toListCommand(split);
  if (split.options.has("json")) {
    throw new UsageError("--json needs --list; for a run, use --output-format json");
  }
  const run = toRunCommand(split);
  // After `--` everything is a prompt; in a resumed session, a word such as "yes" is an ordinary prompt.
  if (argv.includes("--") || run.resumption) return run;
  assertPrompt(split.words, run);
  const [word = "", ...more] = split.words;
  const isUncertain = isWithoutOptions(split) ? looksLikeCommand(word) : isNearSlashCommand(word);
  const isBareWord = !run.isPrint && more.length === 0 && isUncertain;
  return isBareWord ? { ...run, isBareWord } : run;
}

/** `help`, `help COMMAND` and `version` stand where a prompt could; further words make it a prompt. */
function toQuestion({ words: [word, ...more], options }: SplitArguments): Command | undefined {
  if (options.size > 0) return undefined;
  if (word === "version" && more.length === 0) return { kind: "version" };
  if (word !== "help" || more.length > 1) return undefined;
  const [name] = more;
  if (name === undefined || name === "help" || name === "version") return { kind: "help" };
  if (isSubcommandName(name)) return { kind: "help", about: name };
  const meant = findMeantCommand([name]);
  const hint = meant ? `did you mean ${meant}?` : "run diligent help for a list.";
  throw new UsageError(`unknown command "${name}"; ${hint} To send it as a prompt: diligent -- help ${name}`);
}

/** Commands accept `-C` too; with other options, the user asked for a run. */
function isWithoutOptions({ options }: SplitArguments): boolean {
  return [...options.keys()].every((name) => name === "directory" || name === "plain-ui");
}

/**
 * A near-miss of a command name would otherwise be sent to a model. With `-p` that is intended, unless the
 * word is a mere typo.
 */
function assertPrompt(words: SplitArguments["words"], { isPrint }: Pick<RunCommand, "isPrint">): void {
  const meant = isPrint && !isTypo(words) ? undefined : findMeantCommand(words);
  if (meant === undefined) return;
  throw new UsageError(
    `unknown command "${words[0]}"; did you mean ${meant}? To send it as a prompt: diligent ${isPrint ? "-p " : ""}-- ${words.join(" ")}`,
  );
}

/**
 * True for one word that is not the name of a command, nor its singular or plural, nor a common word for one.
 */
function isTypo([word = "", ...more]: SplitArguments["words"]): boolean {
  const name = word.toLowerCase();
  const isWord = [name, `${name}s`, name.replace(/s$/, "")].some((each) => isSubcommandName(each));
  return more.length === 0 && !isWord && !MEANT.has(name);
}

function toSubcommandCall(
  { name, rest }: NonNullable<SplitArguments["subcommand"]>,
  given: SplitArguments["options"],
): SubcommandCall {
  const idle = [...given.keys()].find((option) => option !== "directory");
  if (idle !== undefined) throw new UsageError(`--${idle} cannot be used with diligent ${name}`);
  const { directory } = toRunOptions({ options: given, lists: new Map() });
  return { kind: "subcommand", name, rest, ...(directory !== undefined && { directory }) };
}

function toListCommand(split: SplitArguments): Command {
  if (split.words.length > 0) throw new UsageError(`--list takes no prompt: ${split.words.join(" ")}`);
  const idle = (["record", "replay"] as const).find((option) => split.options.has(option));
  if (idle !== undefined) throw new UsageError(`--${idle} cannot be used with --list`);
  return { kind: "list", isJson: split.options.has("json"), options: toRunOptions(split) };
}

function toRunCommand(split: SplitArguments): RunCommand {
  const { words, referenceAt } = split;
  const resumption = toResumption(split.options, referenceAt === undefined ? undefined : words[referenceAt]);
  const prompt = words.filter((_, index) => index !== referenceAt).join(" ");
  const hasPrompt = words.length > (referenceAt === undefined ? 0 : 1);
  return {
    kind: "run",
    isPrint: split.options.has("print"),
    options: toRunOptions(split),
    ...(hasPrompt && { prompt }),
    ...(resumption && { resumption }),
  };
}

function toResumption(given: SplitArguments["options"], word: string | undefined): Resumption | undefined {
  const asked = (["continue", "resume", "fork"] as const).filter((name) => given.has(name));
  const [name, other] = asked;
  if (name === undefined) return undefined;
  if (other !== undefined) throw new UsageError(`--${name} and --${other} cannot be combined`);
  const reference = given.get(name);
  return {
    how: name === "fork" ? "fork" : "continue",
    ...(typeof reference === "string" && { reference }),
    ...(word !== undefined && { word: { text: word, option: `--${name}` } }),
    ...(name === "resume" && reference === true && { opensList: true }),
  };
}

/**
 * Validates the options of every run.
 * @throws UsageError for an invalid value.
 */
function toRunOptions({
  options: given,
  lists,
}: Pick<SplitArguments, "options" | "lists">): RunCommandOptions {
  const text = (name: OptionName) => {
    const value = given.get(name);
    return typeof value === "string" ? value : undefined;
  };
  return {
    isSaved: !given.has("no-session"),
    isVerbose: given.has("verbose"),
    ...present("isPlain", given.has("plain-ui") || undefined),
    ...present("model", toModel(text("model"), text("replay"))),
    ...present("approval", toChoice("--approval", text("approval"), APPROVAL_MODES)),
    ...present("network", text("network")),
    ...present("onlyHosts", lists.get("only-host")),
    ...present("maxTurns", toCount("--max-turns", text("max-turns"))),
    ...present("maxCost", toAmount("--max-cost", text("max-cost"))),
    ...present("requiredEvidence", toCheckKinds("--require-evidence", text("require-evidence"))),
    ...present("outputFormat", toChoice("--output-format", text("output-format"), OUTPUT_FORMATS)),
    ...present("inputFormat", toChoice("--input-format", text("input-format"), INPUT_FORMATS)),
    ...present("jsonSchema", text("json-schema")),
    ...present("allowedTools", lists.get("allowed-tools")),
    ...present("disallowedTools", lists.get("disallowed-tools")),
    ...present("permissionPrompt", text("permission-prompt")),
    ...present("addedDirectories", lists.get("add-dir")),
    ...present("appendSystemPrompt", text("append-system-prompt")),
    ...present("directory", text("directory")),
    ...present("worktree", toWorktree(given.get("worktree"))),
    ...present("record", text("record")),
  };
}

/** Kinds of checks, separated by commas. */
function toCheckKinds(label: string, text: string | undefined): RunCommandOptions["requiredEvidence"] {
  return text?.split(",").flatMap((word) => toChoice(label, word.trim(), EVIDENCE_KINDS) ?? []);
}

/** `--replay FILE` is short for `--model scripted/FILE`. */
function toModel(model: string | undefined, replay: string | undefined): string | undefined {
  if (replay === undefined) return model;
  if (model !== undefined)
    throw new UsageError("--replay replaces the model: use either --replay or --model");
  return `scripted/${replay}`;
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  const result: { [P in K]?: V } = {};
  if (value !== undefined) result[key] = value;
  return result;
}

/** @throws UsageError for none of the choices. */
export function toChoice<T extends string>(
  label: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const nearest = nearestName(text, choices);
  const hint = nearest ? `; did you mean ${nearest}?` : "";
  throw new UsageError(`${label} ${text}: not one of ${choices.join(", ")}${hint}`);
}

function toCount(label: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new UsageError(`${label} ${text}: not a whole number of 1 or more`);
}

function toWorktree(given: string | true | undefined): RunCommandOptions["worktree"] {
  if (given === undefined) return undefined;
  return given === true ? {} : { name: given };
}

/** @throws UsageError for text that is not an amount of money. */
export function toAmount(label: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (/^(\d+\.?\d*|\.\d+)$/.test(text) && amount > 0 && Number.isFinite(amount)) return amount;
  throw new UsageError(`${label} ${text}: not an amount in US dollars above 0, such as 0.50`);
}

/** A split command line: the value of each option (the last one wins) and the remaining words. */
interface SplitArguments {
  /** `true` for an option without a value. */
  options: ReadonlyMap<OptionName, string | true>;
  /** All values of the options that may be given several times. */
  lists: ReadonlyMap<OptionName, readonly string[]>;
  words: readonly string[];
  /** Index in `words` of the word right after an option that takes a session; it may be a session's name. */
  referenceAt?: number;
  /** The arguments after the subcommand's name, unparsed; undefined without a subcommand. */
  subcommand?: { name: SubcommandName; rest: readonly string[] };
}

/**
 * Splits a command line. If the first word is a subcommand's name, and neither `--` nor `--print` comes before it, the
 * rest belongs to the subcommand.
 * @throws UsageError for an unknown option, a missing value or an unexpected one.
 */
function splitArguments(argv: readonly string[]): SplitArguments {
  const rest = [...argv];
  const options = new Map<OptionName, string | true>();
  const lists = new Map<OptionName, string[]>();
  const words: string[] = [];
  let referenceAt: number | undefined;
  const split = () => ({ options, lists, words, ...(referenceAt !== undefined && { referenceAt }) });
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") return { ...split(), words: [...words, ...rest] };
    if (isOptionLike(word)) {
      const given = readOptions(word, rest);
      for (const [option, value] of given) {
        options.set(option.name, value);
        if (option.isRepeatable && value !== true)
          lists.set(option.name, [...(lists.get(option.name) ?? []), value]);
      }
      const [next] = rest;
      if (wantsReference(given) && next !== undefined && next !== "--" && !isOptionLike(next))
        referenceAt = words.length;
    } else if (words.length === 0 && isSubcommandName(word) && !options.has("print")) {
      return { options, lists, words, subcommand: { name: word, rest } };
    } else {
      words.push(word);
    }
  }
  return split();
}

function wantsReference(given: readonly Given[]): boolean {
  const [option, value] = given.at(-1) ?? [];
  return option?.takes === "reference" && value === true;
}

/** A lone dash, and a dash before a space as in a list, start a prompt. */
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

/** Short options may share a dash; the rest after one that takes a value is its value. */
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

/** An option in the middle of a group cannot take a value. */
function aloneOr(option: Option): true {
  if (option.value !== undefined && !option.takes) throw missingValue(option);
  return true;
}

function readValue(option: Option, rest: string[]): string | true {
  if (option.value === undefined) return true;
  const next = rest[0];
  if (option.takes === "reference") {
    return next !== undefined && isSessionReference(next) ? (rest.shift() ?? true) : true;
  }
  if (option.takes === "name")
    return next !== undefined && /^[^-\s]\S*$/.test(next) ? (rest.shift() ?? true) : true;
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

/** Every letter is equally near to every other: only the case can be mistaken. */
function nearestOption(spelling: string): string | undefined {
  const spellings = optionSpellings();
  if (spelling.length > 2)
    return nearestName(
      spelling,
      spellings.filter((name) => name.length > 2),
    );
  return spellings.find((name) => name.toLowerCase() === spelling.toLowerCase());
}

const RESUME = "diligent --continue";
const UPDATE = "diligent doctor, which says whether a newer version is out";
/** Commands of other programs, or near-misses of ours, and their equivalent here. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ["list", "diligent --list"],
  ["ls", "diligent --list"],
  ["session", "diligent sessions"],
  ["resume", RESUME],
  ["update", UPDATE],
  ["upgrade", UPDATE],
  ["signin", "diligent login"],
  ["auth", "diligent login"],
  ["signout", "diligent logout"],
  ["settings", "diligent config"],
  ["commands", "diligent help"],
  ["man", "diligent help"],
]);

/**
 * The command most likely meant by these words, such as `diligent doctor`; undefined for a prompt. A subcommand's name
 * matches with one slip: a letter missing, added or wrong, two neighbours swapped, or a different case. Anything
 * further away may be a word for a model: `test` is not `trust`. For the commands of
 * other programs only swapped neighbours count, since other slips may be ordinary words.
 */
function findMeantCommand([word, ...more]: readonly string[]): string | undefined {
  if (word === undefined) return undefined;
  const typed = word.toLowerCase();
  const name = Object.keys(SUBCOMMAND_PAGES).find((each) => isOneSlip(typed, each));
  const other = [...MEANT.keys()].find((each) => each === typed || isSwapped(typed, each));
  const meant = other === undefined ? name && `diligent ${name}` : MEANT.get(other);
  if (meant === undefined || more.length === 0) return meant;
  return isArgumentOf(meant, more) ? meant : undefined;
}

/** With more words it is a prompt, unless they can only be arguments: `resume 2`, `session show 1`. */
function isArgumentOf(meant: string, [first = "", ...others]: readonly string[]): boolean {
  if (meant === RESUME) return others.length === 0 && isSessionReference(first);
  const [, page] = Object.entries(SUBCOMMAND_PAGES).find(([name]) => meant === `diligent ${name}`) ?? [];
  const isShort = others.length === 0 || (others.length === 1 && isSessionReference(others[0] ?? ""));
  return isShort && (page?.words?.includes(first) ?? false);
}

/** Names of slash commands that are not ordinary prompts. */
const SLASH_NAMES = [
  ...["clear", "compact", "context", "cost", "exit", "init", "keys", "new", "permissions", "quit", "reload"],
  ...["status", "thinking", "tree", "usage"],
];

function isNearSlashCommand(word: string): boolean {
  return SLASH_NAMES.some((name) => isOneSlip(word.toLowerCase(), name));
}

/** True if the word has the form of a command, so it is not certainly a prompt. */
function looksLikeCommand(word: string): boolean {
  return /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d_-]+$/u.test(word);
}

function isOneSlip(word: string, name: string): boolean {
  const { typed, meant } = findDifference(word, name);
  return isSwapped(word, name) || Math.max(typed.length, meant.length) <= 1;
}

/** True if two neighbours are swapped. */
function isSwapped(word: string, name: string): boolean {
  const { typed, meant } = findDifference(word, name);
  return typed.length === 2 && typed === [...meant].reverse().join("");
}

/** The parts that differ between the common beginning and end. */
function findDifference(word: string, name: string): { typed: string; meant: string } {
  let start = 0;
  while (start < word.length && word[start] === name[start]) start++;
  let end = 0;
  const rest = Math.min(word.length, name.length) - start;
  while (end < rest && word.at(-1 - end) === name.at(-1 - end)) end++;
  return { typed: word.slice(start, word.length - end), meant: name.slice(start, name.length - end) };
}
