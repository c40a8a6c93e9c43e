import { showWord } from "./parse.ts";

/** An operand of a command, with the names that its pattern matches. */
export interface Operand {
  text: string;
  /** The names of the files that the shell substitutes; undefined for a word without a pattern. */
  names: readonly string[] | undefined;
}

/** The words of a call by kind. */
export interface ReadOptions {
  operands: Operand[];
  /** Values that name files, or that would if the option took no value. */
  paths: string[];
  /** The options of the call, without their values. */
  given: ReadonlySet<string>;
  /** The options with a value, in their order. */
  values: { name: string; text: string }[];
  /** Scripts and expressions, from options or from the first operand. */
  patterns: string[];
}

interface Found extends ReadOptions {
  given: Set<string>;
}

type Kind = "flag" | "optional" | "value" | "path" | "pattern";

const known = new WeakMap<ProgramSpec, ReadonlyMap<string, Kind>>();

/** Splits a list of names in a spec. */
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

/** Separates options, values and operands. Options may stand anywhere, as in GNU programs. */
export function readOptions(
  words: readonly Operand[],
  spec: ProgramSpec,
): ReadOptions | { unsupported: string } {
  const found: Found = { operands: [], paths: [], given: new Set(), values: [], patterns: [] };
  const response = spec.responseFiles ? findResponseFile(words) : undefined;
  if (response !== undefined) return { unsupported: `the response file ${showWord(response)}` };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.text === "--") {
      found.operands.push(...rest.splice(0));
    } else if (word.names !== undefined || !/^-./.test(word.text)) {
      found.operands.push(word);
    } else if (spec.maxOperands !== undefined && found.operands.length > 0) {
      // Where options end at the first operand, it is the operand that is written to.
      return { unsupported: `the option ${showWord(word.text)} after an operand` };
    } else {
      const unsupported = word.text.startsWith("--")
        ? takeLong(word.text, { spec, found, rest })
        : takeShort(word.text, { spec, found, rest });
      if (unsupported !== undefined) return { unsupported };
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
  const unsupported = `what follows the option ${isShort ? `-${name}` : name}`;
  const next = attached === undefined ? rest.shift() : { text: attached, names: undefined };
  if (next === undefined || next.names !== undefined) return unsupported;
  const { text } = next;
  found.given.add(name);
  found.values.push({ name, text });
  if (kind === "pattern") found.patterns.push(text);
  if (splitNames(spec.pathValues).includes(name)) found.paths.push(text);
  if (kind !== "value") return undefined;
  // If the option takes no value, this word is an option or a file.
  if (attached === undefined && /^-(?!\d+$)./.test(text)) return unsupported;
  if (attached === undefined && isShort && !isHarmlessName(text, spec)) found.paths.push(text);
  return spec.valuePattern?.test(text) === false || isTooWide(name, text, spec) ? unsupported : undefined;
}

/** True for a separator, such as `/`: no program that reads single files can use it. */
function isHarmlessName(text: string, spec: ProgramSpec): boolean {
  return text.length === 1 && spec.recursive === undefined;
}

function isTooWide(name: string, text: string, spec: ProgramSpec): boolean {
  return /\d{5}/.test(text) && splitNames(spec.widths).includes(name);
}

/** Uses the first operand as the pattern unless an option has given one. */
function takePattern(found: Found, spec: ProgramSpec): { unsupported: string } | undefined {
  const needsPattern = spec.operands === "pattern_and_paths" && !bringsPattern(found.given, spec);
  if (!needsPattern) return undefined;
  const first = found.operands.shift();
  if (first?.names !== undefined) return { unsupported: "file names in place of a pattern" };
  if (first) found.patterns.push(first.text);
  return undefined;
}

function bringsPattern(given: ReadonlySet<string>, spec: ProgramSpec): boolean {
  return splitNames(spec.patternValues).some((name) => given.has(name));
}

/** The arguments with which a program is known to only read. */
export interface ProgramSpec {
  /** Options without a value, or with one after `=`; `-a` is written as `a`. Separated by spaces. */
  flags?: string;
  /** Options whose optional value stands in the same word: `-w16`, `--context=3`. */
  optionalValues?: string;
  /** Options whose value follows, in the same word or as the next. */
  values?: string;
  /** Options whose value is a file that is read. */
  pathValues?: string;
  /** Options whose value is the pattern that would otherwise be the first operand. */
  patternValues?: string;
  /** Those of the options with a value that include or exclude names in a search. */
  nameFilters?: Readonly<Record<string, NameFilter["kind"]>>;
  /** Those of the values that set an output width: they may contain no number with more than four digits. */
  widths?: string;
  /** True when a value is always a separate word, and several letters in one word may each take the next word. */
  valuesApart?: boolean;
  /** True when `-g=x` means `-g x`. */
  shortEquals?: boolean;
  /** True when `-20` is a number. */
  numbers?: boolean;
  /** True when a word that begins with `@` is replaced by the contents of that file. */
  responseFiles?: boolean;
  operands: "none" | "text" | "paths" | "pattern_and_paths";
  /** With fewer operands the program processes everything. */
  minOperands?: number;
  /** With more operands the program writes to them, or uses them differently. */
  maxOperands?: number;
  /** How it uses its files; `content` by default. */
  reads?: "content" | "names";
  /** Options that make it read everything below a directory; `always` when it needs no option for that. */
  recursive?: string;
  /** Options that make it follow the links below a directory; `always` when it needs none. */
  following?: string;
  /** Every operand has to match this. */
  operandPattern?: RegExp;
  /** Every value that is neither a file nor a pattern has to match this. */
  valuePattern?: RegExp;
  /** The interpreter that runs this program; it is looked up as well. */
  runs?: string;
  /** True for shell builtins: no program of that name is looked up. */
  isBuiltin?: boolean;
}

/** Includes or excludes the files of a search whose name matches `pattern`; the last matching filter applies. */
export interface NameFilter {
  kind: "include" | "exclude";
  pattern: string;
}

/** The files that a search below a directory reads. */
export interface SearchScope {
  /** The directories that are searched, as written; `.` by default. */
  roots: readonly string[];
  followsLinks: boolean;
  /** True when pipes and devices below the directory are opened. */
  opensSpecial: boolean;
  /** Hidden files and directories are skipped, unless a file such as `.ignore` names them. */
  skipsHidden: boolean;
  filters: readonly NameFilter[];
  /** True when files that no filter matches are read. */
  includesUnmatched: boolean;
}

/** The files that a call of such a program would read. */
export interface ProgramUse {
  /** Operands and values that may name files. */
  paths: string[];
  readsContent: boolean;
  /** Set when everything below the operands is read too. */
  search?: SearchScope | undefined;
}

/** The files that a call would read, or `unsupported`: a phrase to follow "because of". */
export type ProgramReading = { use: ProgramUse } | { unsupported: string };

/** A call that opens none of its files: it only reads their names and status. */
export function namesOnly(paths: string[]): ProgramReading {
  return { use: { paths, readsContent: false } };
}

/** Reads a call by the program's spec. */
export function readProgramUse(words: readonly Operand[], spec: ProgramSpec): ProgramReading {
  const read = readOptions(words, spec);
  return "unsupported" in read ? read : toUse(read, spec);
}

/** Reads a call whose program is fully described by its spec. */
export function toUse(read: ReadOptions, spec: ProgramSpec): ProgramReading {
  const { operands } = read;
  if (spec.operands === "none" && operands.length > 0) return { unsupported: "an operand" };
  const names = operands.flatMap((operand) => operand.names ?? [operand.text]);
  if (names.length > (spec.maxOperands ?? Number.POSITIVE_INFINITY))
    return { unsupported: "a further operand" };
  if (names.length < (spec.minOperands ?? 0)) return { unsupported: "what it does without an operand" };
  const invalid = names.find((name) => spec.operandPattern?.test(name) === false);
  if (invalid !== undefined) return { unsupported: `the operand ${showWord(invalid)}` };
  // Operands that are not files still reveal file names when they contain a pattern.
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
  roots: readonly string[],
  spec: ProgramSpec,
): SearchScope | undefined {
  const has = (list: string | undefined) =>
    list === "always" || splitNames(list).some((name) => given.has(name));
  if (!has(spec.recursive)) return undefined;
  const filters = values.flatMap(({ name, text }) => {
    const kind = spec.nameFilters?.[name];
    // A filter read from a file matches unknown names.
    return kind === undefined
      ? []
      : [{ kind, pattern: splitNames(spec.pathValues).includes(name) ? "" : text }];
  });
  return {
    roots: roots.length === 0 ? ["."] : roots,
    followsLinks: has(spec.following),
    opensSpecial: true,
    skipsHidden: false,
    filters,
    // The manual of GNU grep: a file without a match is read unless the first filter includes.
    includesUnmatched: filters[0]?.kind !== "include",
  };
}
