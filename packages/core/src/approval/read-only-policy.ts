import { processEnvironment } from "../infrastructure/environment.ts";
import { findProgramPlace } from "../infrastructure/processes/program-place.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import type { SimpleCommand } from "./command-syntax.ts";
import type { Word } from "./command-tokens.ts";
import { expandGlob } from "./expand-glob.ts";
import { judgeReads } from "./judge-reads.ts";
import type { Looks } from "./looks.ts";
import type { Surroundings } from "./path-dangers.ts";
import type { Operand } from "./programs/program-options.ts";
import { namesOnly, type ProgramReading, type ProgramUse } from "./programs/program-spec.ts";
import { readProgramUse } from "./programs/program-use.ts";
import { READ_ONLY_PROGRAMS } from "./programs/read-only-programs.ts";
import { SPECIAL_PROGRAMS } from "./programs/special-programs.ts";
import { isRuntime, isVersionQuery } from "./programs/version-query.ts";
import { hasReadDenial } from "./read-denial.ts";
import { judgeSearch, type LookingJudge } from "./search-policy.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest } from "./verdicts.ts";

/** The verdict on every command that is known to only read, and to read nothing that needs consent. */
export const READS_ONLY = allow("read_only_command", "it only reads, inside the project");

/** One command of a plain line, and how it is run. */
export interface ReadingCommand {
  command: SimpleCommand;
  /** True when another command's output comes in. */
  isPiped: boolean;
  /** Where the shell was started. */
  startsIn: string;
}

/** Decides whether a command, run in `context.cwd`, is known to only read, and only what needs no consent. */
export function judgeReading(
  { command, isPiped, startsIn }: ReadingCommand,
  judging: LookingJudge,
): ApprovalVerdict {
  const { context, surroundings } = judging;
  const name = command[0]?.text ?? "";
  const reading = readSimpleCommand({ command, isPiped }, judging);
  if (reading === undefined) return ask("shell_command", `${showWord(name)} may do more than read`);
  if ("obstacle" in reading) {
    return ask("shell_command", `${showWord(name)} may do more than read, because of ${reading.obstacle}`);
  }
  const verdict = judgeUse(reading.use, judging);
  // What a rule denies comes before what a person may allow.
  if (verdict.action === "deny") return verdict;
  if (!isInside(context.cwd, surroundings.root)) {
    return ask(
      "outside_project",
      `${showWord(name)} would run in ${showWord(context.cwd)}, outside the project`,
    );
  }
  const isProjects = (program: string) => placeOf(program, { startsIn, context, surroundings }) === "project";
  return programsBehind(name).some(isProjects)
    ? ask("shell_command", `${showWord(name)} is the project's own program of that name`)
    : verdict;
}

/** What a command would touch, why it may do more than read, or undefined for a program of which nothing is known. */
export function readSimpleCommand(
  { command, isPiped }: Pick<ReadingCommand, "command" | "isPiped">,
  { context, looks }: Pick<LookingJudge, "context" | "looks">,
): ProgramReading | undefined {
  const [program, ...words] = command;
  const name = program?.text ?? "";
  const spec = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name] : undefined;
  const special = Object.hasOwn(SPECIAL_PROGRAMS, name) ? SPECIAL_PROGRAMS[name] : undefined;
  const operands = expandWords(words, { cwd: context.cwd, looks });
  if (!spec && !special) {
    const isQuery = "names" in operands && isVersionQuery(operands.names) && isRuntime(name, context);
    return isQuery ? namesOnly([]) : undefined;
  }
  if ("obstacle" in operands) return operands;
  if (isVersionQuery(operands.names) && !isBuiltin(name)) return namesOnly([]);
  if (special) return special.read(operands.names, isPiped);
  return spec && readProgramUse(operands.names, spec);
}

function programsBehind(name: string): string[] {
  const runs = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name]?.runs : undefined;
  return isBuiltin(name) ? [] : [name, ...(runs === undefined ? [] : [runs])];
}

function isBuiltin(name: string): boolean {
  return Boolean(SPECIAL_PROGRAMS[name]?.isBuiltin ?? READ_ONLY_PROGRAMS[name]?.isBuiltin);
}

function placeOf(
  name: string,
  {
    startsIn,
    context,
    surroundings,
  }: { startsIn: string; context: ApprovalContext; surroundings: Surroundings },
) {
  const { environment = processEnvironment() } = context;
  return findProgramPlace(name, { environment, root: surroundings.root, cwd: startsIn });
}

/** The operands with the names that patterns stand for, or why that cannot be told. */
function expandWords(
  words: readonly Word[],
  { cwd, looks }: { cwd: string; looks: Looks },
): { names: Operand[] } | { obstacle: string } {
  const names: Operand[] = [];
  for (const { text, isGlob } of words) {
    const found = isGlob ? expandGlob(text, cwd, looks) : { names: [] };
    if ("obstacle" in found) return found;
    // A file may be called `-o`, and is then taken for an option.
    const option = found.names.find((name) => name.startsWith("-"));
    if (option !== undefined)
      return { obstacle: `${showWord(option)}, which ${showWord(text)} stands for: it looks like an option` };
    // More may have been found than the shell finds, and then the word stays as it is.
    names.push({ text, names: found.names.length === 0 ? undefined : [...found.names, text] });
  }
  return { names };
}

/** Not files: standard input, and what is always empty. */
const HARMLESS: ReadonlySet<string> = new Set(["-", "/dev/null", ""]);

function judgeUse({ paths, readsContent, search }: ProgramUse, judging: LookingJudge): ApprovalVerdict {
  const isFile = (path: string) => !HARMLESS.has(path);
  const verdict = judgeReads(paths.filter(isFile), readsContent, judging);
  const isRefused = verdict && verdict.action !== "allow";
  if (isRefused && (verdict.action === "deny" || !hasReadDenial(judging.context))) return verdict;
  const findings: ApprovalVerdict[] = isRefused ? [verdict] : [];
  if (!search || !readsContent) return strictest(findings) ?? READS_ONLY;
  for (const place of new Set(search.places.filter(isFile))) {
    const finding = judgeSearch(place, search, judging);
    if (finding) findings.push(finding);
    if (judging.looks.left < 0) break;
  }
  return strictest(findings) ?? READS_ONLY;
}
