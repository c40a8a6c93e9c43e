import { showWord } from "../show-word.ts";
import { type Operand, type ReadOptions, readOptions, splitNames } from "./program-options.ts";
import type { ProgramReading, ProgramSpec, ProgramUse, SearchScope } from "./program-spec.ts";

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
