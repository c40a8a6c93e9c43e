import { findProgramLocation } from "../../infrastructure/process/environment.ts";
import { processEnvironment } from "../../infrastructure/runtime.ts";
import type { EntryBudget } from "../types.ts";
import { type SimpleCommand, showWord, type Word } from "./parse.ts";
import { namesOnly, type Operand, type ProgramReading, readProgramUse } from "./program-spec.ts";
import { isRuntime, isVersionQuery, READ_ONLY_PROGRAMS, SPECIAL_PROGRAMS } from "./programs.ts";
import { type CommandEvaluation, expandGlob } from "./search-policy.ts";

/**
 * Reads one command: the files it would read, the reason why it may do more than read, or undefined for an unknown
 * program.
 */
export function readSimpleCommand(
  { command, isPiped }: { command: SimpleCommand; isPiped: boolean },
  { context, entryBudget }: Pick<CommandEvaluation, "context" | "entryBudget">,
): ProgramReading | undefined {
  const [program, ...words] = command;
  const name = program?.text ?? "";
  const spec = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name] : undefined;
  const special = Object.hasOwn(SPECIAL_PROGRAMS, name) ? SPECIAL_PROGRAMS[name] : undefined;
  const operands = expandWords(words, { cwd: context.cwd, entryBudget });
  if (!spec && !special) {
    const isQuery = "names" in operands && isVersionQuery(operands.names) && isRuntime(name, context);
    return isQuery ? namesOnly([]) : undefined;
  }
  if ("unsupported" in operands) return operands;
  if (isVersionQuery(operands.names) && !isBuiltin(name)) return namesOnly([]);
  if (special) return special.read(operands.names, isPiped);
  return spec && readProgramUse(operands.names, spec);
}

/** True for shell builtins among the programs that only read. */
export function isBuiltin(name: string): boolean {
  return Boolean(SPECIAL_PROGRAMS[name]?.isBuiltin ?? READ_ONLY_PROGRAMS[name]?.isBuiltin);
}

/**
 * True when a shell started in `startsIn` finds a program of that name in the project; such a program may do anything.
 */
export function isProjectsProgram(
  name: string,
  startsIn: string,
  { context, surroundings }: Pick<CommandEvaluation, "context" | "surroundings">,
): boolean {
  const { environment = processEnvironment() } = context;
  return findProgramLocation(name, { environment, root: surroundings.root, cwd: startsIn }) === "project";
}

/** The operands with the names that their patterns match, or the reason why these are unknown. */
export function expandWords(
  words: readonly Word[],
  { cwd, entryBudget }: { cwd: string; entryBudget: EntryBudget },
): { names: Operand[] } | { unsupported: string } {
  const names: Operand[] = [];
  for (const { text, isGlob } of words) {
    const found = isGlob ? expandGlob(text, cwd, entryBudget) : { names: [] };
    if ("unsupported" in found) return found;
    // A file may have the name `-o`, which the program reads as an option.
    const option = found.names.find((name) => name.startsWith("-"));
    if (option !== undefined)
      return { unsupported: `${showWord(option)}, a match of ${showWord(text)} that looks like an option` };
    // The pattern may match more names here than in the shell, which would then leave the word unchanged.
    names.push({ text, names: found.names.length === 0 ? undefined : [...found.names, text] });
  }
  return { names };
}
