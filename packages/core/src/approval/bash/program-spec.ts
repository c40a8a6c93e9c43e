import { showWord } from "./parse.ts";

/** An operand of a command; a pattern with the names it stands for. */
export interface Operand {
  text: string;
  /** The names of files the shell puts here; undefined for a word that stays as it is. */
  names: readonly string[] | undefined;
}

/** The words of a call, by kind. */
export interface ReadOptions {
  operands: Operand[];
  /** Values that name files, or would where the option takes none. */
  paths: string[];
  /** The options that were there, by their name without a value. */
  given: ReadonlySet<string>;
  /** The options that had a value, in their order. */
  values: { name: string; text: string }[];
  /** Scripts and expressions, from options or else the first operand. */
  patterns: string[];
}

interface Found extends ReadOptions {
  given: Set<string>;
}

type Kind = "flag" | "optional" | "value" | "path" | "pattern";

const known = new WeakMap<ProgramSpec, ReadonlyMap<string, Kind>>();

/** The names in a list of a spec. */
const splitNames = (list = ""): string[] => list.split(" ").filter((name) => name !== "");

function kindsOf(spec: ProgramSpec): ReadonlyMap<string, Kind> {
  const kinds =
    known.get(spec) ??
    new Map<string, Kind>([
      ...splitNames(spec.flags).map((name) => [name, "flag"] as const),
      ...splitNames(spec.optionalValues).map((name) => [name, "optional"] as const),
      ...splitNames(spec.values).map((name) => [name, "value"] as const),
      ...splitNames(spec.pathValues).map((name) => [name, "path"] as const),
      ...splitNames(spec.patternValues).map((name) => [name, "pattern"] as const),
    ]);
  known.set(spec, kinds);
  return kinds;
}

/** Separates options, values and operands. Options may be anywhere, as with GNU. */
export function readOptions(
  words: readonly Operand[],
  spec: ProgramSpec,
): ReadOptions | { obstacle: string } {
  const found: Found = { operands: [], paths: [], given: new Set(), values: [], patterns: [] };
  const response = spec.responseFiles ? findResponseFile(words) : undefined;
  if (response !== undefined) return { obstacle: `the response file ${showWord(response)}` };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.text === "--") {
      found.operands.push(...rest.splice(0));
    } else if (word.names !== undefined || !/^-./.test(word.text)) {
      found.operands.push(word);
    } else {
      const obstacle = word.text.startsWith("--")
        ? takeLong(word.text, { spec, found, rest })
        : takeShort(word.text, { spec, found, rest });
      if (obstacle !== undefined) return { obstacle };
    }
  }
  return takePattern(found, spec) ?? found;
}

function findResponseFile(words: readonly Operand[]): string | undefined {
  return words.flatMap(({ text, names }) => [text, ...(names ?? [])]).find((text) => text.startsWith("@"));
}

interface Target {
  spec: ProgramSpec;
  found: Found;
  rest: Operand[];
}

function takeLong(text: string, target: Target): string | undefined {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const kind = kindsOf(target.spec).get(name);
  if (kind === undefined) return `the option ${showWord(name)}`;
  const value = at < 0 ? undefined : text.slice(at + 1);
  if (kind === "flag" || kind === "optional") {
    target.found.given.add(name);
    return isTooWide(name, value ?? "", target.spec) ? `what follows the option ${name}` : undefined;
  }
  return takeValue(name, value, { ...target, kind });
}

function takeShort(text: string, target: Target): string | undefined {
  const { spec, found } = target;
  if (spec.numbers && /^-\d+$/.test(text)) return undefined;
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at);
    const kind = kindsOf(spec).get(letter);
    if (kind === undefined) return `the option -${letter}`;
    const attached = text.slice(at + 1);
    if (kind === "flag" || kind === "optional") {
      found.given.add(letter);
      if (kind === "flag") continue;
      const isPlain = /^\w*$/.test(attached) && !isTooWide(letter, attached, spec);
      return isPlain ? undefined : `what follows the option -${letter}`;
    }
    if (spec.valuesApart && attached !== "") return `what follows the option -${letter}`;
    const value = spec.shortEquals ? attached.replace(/^=/, "") : attached;
    return takeValue(letter, attached === "" ? undefined : value, { ...target, kind });
  }
  return undefined;
}

function takeValue(
  name: string,
  attached: string | undefined,
  { spec, found, rest, kind }: Target & { kind: Kind },
): string | undefined {
  const isShort = name.length === 1;
  const obstacle = `what follows the option ${isShort ? `-${name}` : name}`;
  const next = attached === undefined ? rest.shift() : { text: attached, names: undefined };
  if (next === undefined || next.names !== undefined) return obstacle;
  const { text } = next;
  found.given.add(name);
  found.values.push({ name, text });
  if (kind === "pattern") found.patterns.push(text);
  if (splitNames(spec.pathValues).includes(name)) found.paths.push(text);
  if (kind !== "value") return undefined;
  // Where the option took no value, this would be an option or a file.
  if (attached === undefined && /^-(?!\d+$)./.test(text)) return obstacle;
  if (attached === undefined && isShort && !isHarmlessName(text, spec)) found.paths.push(text);
  return spec.valuePattern?.test(text) === false || isTooWide(name, text, spec) ? obstacle : undefined;
}

/** A separator, such as `/`: no program that reads single files makes anything of that. */
function isHarmlessName(text: string, spec: ProgramSpec): boolean {
  return text.length === 1 && spec.recursive === undefined;
}

function isTooWide(name: string, text: string, spec: ProgramSpec): boolean {
  return /\d{5}/.test(text) && splitNames(spec.widths).includes(name);
}

/** Takes the first operand for the pattern where no option has brought one. */
function takePattern(found: Found, spec: ProgramSpec): { obstacle: string } | undefined {
  const needsPattern = spec.operands === "pattern_and_paths" && !bringsPattern(found.given, spec);
  if (!needsPattern) return undefined;
  const first = found.operands.shift();
  if (first?.names !== undefined) return { obstacle: "file names in place of a pattern" };
  if (first) found.patterns.push(first.text);
  return undefined;
}

function bringsPattern(given: ReadonlySet<string>, spec: ProgramSpec): boolean {
  return splitNames(spec.patternValues).some((name) => given.has(name));
}

/** The arguments with which a read-only program is known to only read. */
export interface ProgramSpec {
  /** Options without a value, or with one behind `=`; words such as `-a` are given as `a`. Separated by spaces. */
  flags?: string;
  /** Options whose value, if they have one, stands in the same word: `-w16`, `--context=3`. */
  optionalValues?: string;
  /** Options whose value follows, in the same word or as the next. */
  values?: string;
  /** Options whose value is a file to be read. */
  pathValues?: string;
  /** Options that bring the pattern which would otherwise be the first operand. */
  patternValues?: string;
  /** Of the options with a value, those that say which names a search takes or leaves out. */
  nameFilters?: Readonly<Record<string, NameFilter["kind"]>>;
  /** Of the values, those that say how much is printed: no number in them may have more than four digits. */
  widths?: string;
  /** True where a value is always a word of its own, and letters in one word may each take the next one. */
  valuesApart?: boolean;
  /** True where `-g=x` means `-g x`. */
  shortEquals?: boolean;
  /** True where `-20` is a number. */
  numbers?: boolean;
  /** True where a word that begins with `@` is replaced by what that file says. */
  responseFiles?: boolean;
  operands: "none" | "text" | "paths" | "pattern_and_paths";
  /** Fewer than these mean everything there is. */
  minOperands?: number;
  /** More than these are written to, or mean something else. */
  maxOperands?: number;
  /** How it uses its files; `content` by default. */
  reads?: "content" | "names";
  /** Options that make it read everything below a directory; `always` where it does so without being told. */
  recursive?: string;
  /** Options with which it follows the links it finds there; `always` likewise. */
  following?: string;
  /** Every operand has to look like this. */
  operandPattern?: RegExp;
  /** Every value that is neither a file nor a pattern has to look like this. */
  valuePattern?: RegExp;
  /** The program that it is a script for, which is looked up as well. */
  runs?: string;
  /** True for what the shell does itself: no program of that name is looked up. */
  isBuiltin?: boolean;
}

/** Takes in, or leaves out, the files of a search whose name is like `pattern`; the last one that matches counts. */
export interface NameFilter {
  kind: "include" | "exclude";
  pattern: string;
}

/** Which of the files below a directory are read. */
export interface SearchScope {
  /** The directories that are searched, as written; `.` if there are none. */
  places: readonly string[];
  followsLinks: boolean;
  /** True where pipes and devices found on the way are opened. */
  opensSpecial: boolean;
  /** Hidden files and directories are skipped, unless a file such as `.ignore` names them. */
  skipsHidden: boolean;
  filters: readonly NameFilter[];
  /** What becomes of files that no filter matches. */
  takesUnmatched: boolean;
}

/** What a call of such a program would touch. */
export interface ProgramUse {
  /** Operands and values that name files, or may. */
  paths: string[];
  readsContent: boolean;
  /** Set when everything below the operands is read too. */
  search?: SearchScope | undefined;
}

/** What a call touches, or what keeps that from being known: words to follow "because of". */
export type ProgramReading = { use: ProgramUse } | { obstacle: string };

/** A call that opens none of its files: it looks at their names, their status, or at nothing. */
export function namesOnly(paths: string[]): ProgramReading {
  return { use: { paths, readsContent: false } };
}

/** What a call touches, or why it is not certain that it only reads. */
export function readProgramUse(words: readonly Operand[], spec: ProgramSpec): ProgramReading {
  const read = readOptions(words, spec);
  return "obstacle" in read ? read : toUse(read, spec);
}

/** What the words mean for a program that is nothing but its spec. */
export function toUse(read: ReadOptions, spec: ProgramSpec): ProgramReading {
  const { operands } = read;
  if (spec.operands === "none" && operands.length > 0) return { obstacle: "an operand" };
  const names = operands.flatMap((operand) => operand.names ?? [operand.text]);
  if (names.length > (spec.maxOperands ?? Number.POSITIVE_INFINITY)) return { obstacle: "a further operand" };
  if (names.length < (spec.minOperands ?? 0)) return { obstacle: "what it does without an operand" };
  const strange = names.find((name) => spec.operandPattern?.test(name) === false);
  if (strange !== undefined) return { obstacle: `the operand ${showWord(strange)}` };
  // Of words that are no files, those the shell makes of a pattern still tell what is there.
  const areFiles = spec.operands === "paths" || spec.operands === "pattern_and_paths";
  const touched = areFiles ? names : operands.flatMap((operand) => operand.names ?? []);
  const use: ProgramUse = {
    paths: [...read.paths, ...touched],
    readsContent: (spec.reads ?? "content") === "content",
    search: toScope(read, areFiles ? names : [], spec),
  };
  return { use };
}

function toScope(
  { given, values }: ReadOptions,
  places: readonly string[],
  spec: ProgramSpec,
): SearchScope | undefined {
  const has = (list: string | undefined) =>
    list === "always" || splitNames(list).some((name) => given.has(name));
  if (!has(spec.recursive)) return undefined;
  const filters = values.flatMap(({ name, text }) => {
    const kind = spec.nameFilters?.[name];
    // Filters that stand in a file match some name, which one is not known.
    return kind === undefined
      ? []
      : [{ kind, pattern: splitNames(spec.pathValues).includes(name) ? "" : text }];
  });
  return {
    places: places.length === 0 ? ["."] : places,
    followsLinks: has(spec.following),
    opensSpecial: true,
    skipsHidden: false,
    filters,
    // The manual of GNU grep: what matches none is taken unless the first of them is to include.
    takesUnmatched: filters[0]?.kind !== "include",
  };
}
