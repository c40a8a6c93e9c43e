import { showWord } from "../show-word.ts";
import type { ProgramSpec } from "./program-spec.ts";

/** An operand of a command; a pattern with the names it stands for. */
export interface Operand {
  text: string;
  /** The names of files the shell puts here; undefined for a word that stays as it is. */
  names: readonly string[] | undefined;
}

/** The words of a call, told apart. */
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
export const splitNames = (list = ""): string[] => list.split(" ").filter((name) => name !== "");

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

/** Tells options, values and operands apart. Options count wherever they stand, as with GNU. */
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
  if (first?.names !== undefined) return { obstacle: "file names in the place of a pattern" };
  if (first) found.patterns.push(first.text);
  return undefined;
}

function bringsPattern(given: ReadonlySet<string>, spec: ProgramSpec): boolean {
  return splitNames(spec.patternValues).some((name) => given.has(name));
}
