import type { ProgramReading, ProgramSpec, ProgramUse } from "./program-spec.ts";

/** An operand of a command; a pattern with the names it stands for. */
export interface Operand {
  text: string;
  /** The names of files the shell puts here; undefined for a word that stays as it is. */
  names: readonly string[] | undefined;
}

interface Options {
  flags: ReadonlySet<string>;
  values: ReadonlySet<string>;
  pathValues: ReadonlySet<string>;
  patternValues: ReadonlySet<string>;
}

const split = (list = ""): ReadonlySet<string> => new Set(list.split(" ").filter((name) => name !== ""));
const known = new WeakMap<ProgramSpec, Options>();

function optionsOf(spec: ProgramSpec): Options {
  const options = known.get(spec) ?? {
    flags: split(spec.flags),
    values: split(spec.values),
    pathValues: split(spec.pathValues),
    patternValues: split(spec.patternValues),
  };
  known.set(spec, options);
  return options;
}

/** What was found while the words were gone through. */
interface Found {
  operands: Operand[];
  paths: string[];
  given: Set<string>;
  hasPattern: boolean;
  includes: string[];
}

/** What a call touches, or why it is not certain that it only reads. Options count wherever they stand, as with GNU. */
export function readOptions(words: readonly Operand[], spec: ProgramSpec): ProgramReading {
  const found: Found = { operands: [], paths: [], given: new Set(), hasPattern: false, includes: [] };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.text === "--") {
      found.operands.push(...rest.splice(0));
    } else if (word.names !== undefined || !/^-./.test(word.text)) {
      found.operands.push(word);
    } else {
      const obstacle = word.text.startsWith("--")
        ? takeLong(word.text, rest, { spec, found })
        : takeShort(word.text, rest, { spec, found });
      if (obstacle !== undefined) return { obstacle };
    }
  }
  return toReading(found, spec);
}

interface Target {
  spec: ProgramSpec;
  found: Found;
}

function takeLong(text: string, rest: Operand[], { spec, found }: Target): string | undefined {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? undefined : text.slice(at + 1);
  if (optionsOf(spec).flags.has(name)) {
    found.given.add(name);
    return undefined;
  }
  return takeValue(name, value, { spec, found, rest });
}

function takeShort(text: string, rest: Operand[], { spec, found }: Target): string | undefined {
  if (spec.numbers && /^-\d+$/.test(text)) return undefined;
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at);
    if (optionsOf(spec).flags.has(letter)) {
      found.given.add(letter);
      continue;
    }
    return takeValue(letter, text.slice(at + 1) || undefined, { spec, found, rest });
  }
  return undefined;
}

function takeValue(
  name: string,
  given: string | undefined,
  { spec, found, rest }: Target & { rest: Operand[] },
): string | undefined {
  const { values, pathValues, patternValues } = optionsOf(spec);
  const shown = name.length === 1 ? `-${name}` : name;
  if (!values.has(name) && !pathValues.has(name) && !patternValues.has(name)) return `the option ${shown}`;
  const next = given === undefined ? rest.shift() : { text: given, names: undefined };
  if (next === undefined || next.names !== undefined) return `what follows the option ${shown}`;
  found.given.add(name);
  if (pathValues.has(name)) found.paths.push(next.text);
  if (patternValues.has(name)) found.hasPattern = true;
  if (name === "--include") found.includes.push(next.text);
  return undefined;
}

function toReading(found: Found, spec: ProgramSpec): ProgramReading {
  const { operands, given } = found;
  if (spec.operands === "none" && operands.length > 0) return { obstacle: "an operand" };
  if (spec.operands === "pattern_and_paths" && !found.hasPattern && operands.shift()?.names !== undefined) {
    return { obstacle: "file names in the place of a pattern" };
  }
  const names = operands.flatMap((operand) => operand.names ?? [operand.text]);
  if (names.length > (spec.maxOperands ?? Number.POSITIVE_INFINITY)) return { obstacle: "a further operand" };
  const strange = names.find((name) => spec.operandPattern?.test(name) === false);
  if (strange !== undefined) return { obstacle: `the operand ${strange}` };
  // Of words that are no files, those the shell makes of a pattern still tell what is there.
  const areFiles = spec.operands === "paths" || spec.operands === "pattern_and_paths";
  const touched = areFiles ? names : operands.flatMap((operand) => operand.names ?? []);
  const has = (list: string | undefined) =>
    list === "always" || [...split(list)].some((name) => given.has(name));
  const use: ProgramUse = {
    paths: [...found.paths, ...touched],
    readsContent: (spec.reads ?? "content") === "content",
    isRecursive: has(spec.recursive),
    followsLinks: has(spec.following),
    skipsHidden: false,
    includes: found.includes,
  };
  return { use };
}
