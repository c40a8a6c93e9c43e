import { basename, relative, resolve } from "node:path";
import { processEnvironment } from "../infrastructure/environment.ts";
import { isSecretFile } from "../infrastructure/places/secret-files.ts";
import { findProgramPlace } from "../infrastructure/processes/program-place.ts";
import { findRealPath } from "../infrastructure/reading/real-path.ts";
import type { SimpleCommand } from "./command-syntax.ts";
import type { Word } from "./command-tokens.ts";
import { expandGlob } from "./expand-glob.ts";
import { findGuarded } from "./guarded-walk.ts";
import { judgePath, judgeReads, judgeRealFile } from "./path-policy.ts";
import { type Operand, readOptions } from "./program-options.ts";
import type { ProgramReading, ProgramUse } from "./program-spec.ts";
import { READ_ONLY_PROGRAMS } from "./read-only-programs.ts";
import { SPECIAL_PROGRAMS } from "./special-programs.ts";
import { matchesText } from "./text-pattern.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest } from "./verdicts.ts";

const READS_ONLY = allow("read_only_command", "it only reads, inside the project");

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
  context: ApprovalContext,
): ApprovalVerdict {
  const [program, ...words] = command;
  const name = program?.text ?? "";
  const operands = expandWords(words, context.cwd);
  if (typeof operands === "string") return ask("shell_command", `${name}: ${operands}`);
  const reading = readProgram(name, operands, isPiped);
  if (reading === undefined) return ask("shell_command", `${name} may do more than read`);
  if ("obstacle" in reading) {
    return ask("shell_command", `${name} may do more than read, because of ${reading.obstacle}`);
  }
  if (!isBuiltin(name) && placeOf(name, startsIn, context) === "project") {
    return ask("shell_command", `${name} is the project's own program of that name`);
  }
  return judgeUse(reading.use, context);
}

function readProgram(
  name: string,
  operands: readonly Operand[],
  isPiped: boolean,
): ProgramReading | undefined {
  const special = Object.hasOwn(SPECIAL_PROGRAMS, name) ? SPECIAL_PROGRAMS[name] : undefined;
  if (special) return special.read(operands, isPiped);
  const spec = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name] : undefined;
  return spec && readOptions(operands, spec);
}

function isBuiltin(name: string): boolean {
  return Boolean(SPECIAL_PROGRAMS[name]?.isBuiltin ?? READ_ONLY_PROGRAMS[name]?.isBuiltin);
}

function placeOf(name: string, startsIn: string, context: ApprovalContext) {
  const { environment = processEnvironment() } = context;
  const root = findRealPath(context.root, startsIn) ?? context.root;
  return findProgramPlace(name, { environment, root, cwd: startsIn });
}

/** The operands with the names that patterns stand for, or why that cannot be told. */
function expandWords(words: readonly Word[], cwd: string): Operand[] | string {
  const operands: Operand[] = [];
  for (const { text, isGlob } of words) {
    const found = isGlob ? expandGlob(text, cwd) : [];
    if (found === undefined) return "a pattern stands for too many files to look at";
    // A file may be called `-o`, and is then taken for an option.
    const option = found.find((name) => name.startsWith("-"));
    if (option !== undefined) return `${text} stands for ${option}, which looks like an option`;
    // More may have been found than the shell finds, and then the word stays as it is.
    operands.push({ text, names: found.length === 0 ? undefined : [...found, text] });
  }
  return operands;
}

/** Not files: standard input, and what is always empty. */
const HARMLESS: ReadonlySet<string> = new Set(["-", "/dev/null", ""]);

function judgeUse(use: ProgramUse, context: ApprovalContext): ApprovalVerdict {
  const paths = use.paths.filter((path) => !HARMLESS.has(path));
  const { readsContent } = use;
  const verdict = judgeReads(paths, readsContent, context);
  if (verdict && verdict.action !== "allow") return verdict;
  if (!use.isRecursive || !readsContent) return READS_ONLY;
  const places = use.paths.length === 0 ? ["."] : paths;
  return strictest([READS_ONLY, ...places.map((place) => judgeSearch(place, use, context))]) ?? READS_ONLY;
}

function judgeSearch(place: string, use: ProgramUse, context: ApprovalContext): ApprovalVerdict {
  const directory = findRealPath(place, context.cwd) ?? resolve(context.cwd, place);
  const { followsLinks, skipsHidden } = use;
  const root = findRealPath(context.root, context.cwd) ?? context.root;
  const judge = (path: string) => judgeRealFile(path, { root, readsContent: true, context });
  const search = (isGuarded: (path: string) => boolean) =>
    findGuarded(directory, { followsLinks, skipsHidden, isGuarded });
  const suspects = createSuspicion(directory, { use, root, context });
  // What a rule denies comes before what a person may allow.
  const finding =
    (hasRule("deny", context)
      ? search((path) => suspects(path) && judge(path).action === "deny")
      : undefined) ?? search((path) => suspects(path) && judge(path).action !== "allow");
  switch (finding?.kind) {
    case undefined:
      return READS_ONLY;
    case "guarded":
      return {
        ...judge(finding.path),
        reason: `it would also read ${finding.path}: ${judge(finding.path).reason}`,
      };
    case "link":
      return ask("outside_project", `it would follow the link ${finding.path}`);
    case "too_large":
      return ask("secret", `${directory} is too large to look for files with keys in it`);
  }
}

/** A quick look at a name, so that few need a closer one. */
function createSuspicion(
  directory: string,
  { use: { includes }, root, context }: { use: ProgramUse; root: string; context: ApprovalContext },
): (path: string) => boolean {
  const isRuled = hasRule("deny", context) || hasRule("ask", context);
  const isRead = (path: string) =>
    includes.length === 0 ||
    includes.some((pattern) => /[[\\]/.test(pattern) || matchesText(pattern, basename(path)));
  const parents = relative(root, directory);
  return (path) => (isRuled || isSecretFile(`${parents}/${path.slice(directory.length)}`)) && isRead(path);
}

function hasRule(action: "deny" | "ask", { rules = [] }: ApprovalContext): boolean {
  return rules.some((rule) => rule.permission === "read" && rule.action === action);
}

/** Decides about a `cd`: to a plain place inside the project, which is then where the next commands start. */
export function judgeDirectoryChange(
  [, target, ...others]: SimpleCommand,
  context: ApprovalContext,
): ApprovalVerdict {
  if (!target || others.length > 0 || target.isGlob || target.text.startsWith("-") || target.text === "") {
    return ask("shell_command", "where this cd leads cannot be told");
  }
  const place = resolve(context.cwd, target.text);
  // A shell remembers the names of links, programs see where they lead: `..` would mean two places afterwards.
  if (findRealPath(place, context.cwd) !== place)
    return ask("shell_command", `${place} is reached by a link`);
  const verdict = judgePath({ path: place, permission: "read", readsContent: false }, context);
  return verdict.action === "allow" ? READS_ONLY : verdict;
}
