import { join, resolve } from "node:path";
import { z } from "zod";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../../infrastructure/fs/stat.ts";
import { type Grant, isGranted } from "../grants.ts";
import {
  type CwdCandidates,
  cwdsAfter,
  cwdsBefore,
  evaluatePath,
  findDestination,
  findSurroundings,
  type PathEvaluation,
  type PossibleCwd,
} from "../paths.ts";
import { isEverything } from "../policy.ts";
import { evaluateReads } from "../reads.ts";
import { findCommandRule, findPathRule, toRuleCommand } from "../rules.ts";
import {
  type ApprovalContext,
  type ApprovalVerdict,
  allow,
  ask,
  createEntryBudget,
  type EntryBudget,
  type PermissionRule,
  strictest,
  verdictOf,
  type WidenableGrant,
} from "../types.ts";
import { type FindScript, findCommandScopes, readFurtherWords } from "./command-scope.ts";
import { evaluateEdit, findEditConflict, type LineEdits, NO_EDITS } from "./edit-command-policy.ts";
import type { ReadGrammar } from "./grammar.ts";
import { type CommandReading, type Pipeline, readCommand, type SimpleCommand, showWord } from "./parse.ts";
import type { ProgramUse } from "./program-spec.ts";
import { isBuiltin, isProjectsProgram, READ_ONLY_PROGRAMS, readSimpleCommand } from "./programs.ts";
import { type CommandEvaluation, evaluateSearch, expandGlob } from "./search-policy.ts";

/**
 * Decides about a command line. Each part must be allowed by a rule, by an earlier answer or as a program that only
 * reads; one part that a rule denies denies the whole line. A line that contains more than plain words, or a part that
 * changes the meaning of later words, can only be allowed by an answer to exactly this line.
 */
export function evaluateCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  const reading = readCommand(line, readGrammar);
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  const grant: Grant = { kind: "command_line", directory, text: line };
  const start = { ...context, cwd: directory };
  const evaluated = evaluateParts(line, reading, {
    context: start,
    surroundings: findSurroundings(start),
    entryBudget: createEntryBudget(),
  });
  if (evaluated.verdict.action !== "ask") return evaluated.verdict;
  if (isGranted(grant, context.grants ?? [])) return GRANTED;
  return { ...evaluated.verdict, grants: evaluated.grants ?? [grant] };
}

const GRANTED = allow("grant", "you have always allowed exactly this");

/** The grants that would allow the line; undefined when only a grant for the whole line would. */
interface EvaluatedCommand {
  verdict: ApprovalVerdict;
  grants?: readonly Grant[] | undefined;
}

function evaluateParts(
  line: string,
  reading: CommandReading,
  evaluation: CommandEvaluation,
): EvaluatedCommand {
  if (reading.kind === "opaque") {
    const verdict = ask("command_syntax", reading.unsupported);
    return { verdict: findDenial(line, reading.commands, evaluation) ?? verdict };
  }
  const commands = reading.pipelines.flatMap((pipeline) => pipeline.commands);
  const steering =
    commands.length > 1 ? commands.find((command) => isSteering(command, evaluation)) : undefined;
  if (steering) {
    const words = commands.map((command) => command.map(({ text }) => text));
    const verdict = ask(
      "shell_command",
      `${showWord(steering[0]?.text ?? "")} may change what the rest of the line means`,
    );
    return { verdict: findDenial(line, words, evaluation) ?? verdict };
  }
  const verdicts = evaluatePipelines(reading.pipelines, evaluation);
  const verdict = strictest(verdicts) ?? ask("shell_command", "it contains no command");
  const asking = verdicts.filter(({ action }) => action === "ask");
  const commandsThatAsk = commands.filter((_, index) => verdicts[index]?.action === "ask");
  const isComplete = asking.every(({ grants }) => grants !== undefined);
  return {
    verdict: {
      ...verdict,
      commands: commandsThatAsk,
      widenable: asking.flatMap(({ widenable = [] }) => widenable),
    },
    grants: isComplete ? distinct(asking.flatMap(({ grants = [] }) => grants)) : undefined,
  };
}

function distinct(grants: readonly Grant[]): Grant[] {
  return grants.filter((grant, index) => !isGranted(grant, grants.slice(0, index)));
}

/** Finds a denial in a line that could not be parsed, or not part by part. */
function findDenial(
  line: string,
  commands: readonly string[][],
  evaluation: CommandEvaluation,
): ApprovalVerdict | undefined {
  const { context } = evaluation;
  for (const words of commands) {
    const command = toRuleCommand(words.map((text) => ({ text, isGlob: false })));
    const rule = findCommandRule(command, context.rules ?? []);
    if (rule?.action === "deny") return verdictOf(rule);
  }
  return findReadDenial([line.replaceAll("\\\n", ""), ...commands.flat()], [context.cwd], evaluation);
}

function evaluatePipelines(pipelines: readonly Pipeline[], evaluation: CommandEvaluation): ApprovalVerdict[] {
  const { cwd } = evaluation.context;
  const verdicts: ApprovalVerdict[] = [];
  let after: PossibleCwd = { success: [cwd], failure: [] };
  let isUndisturbed = true;
  let before = NO_EDITS;
  for (const pipeline of pipelines) {
    const cwds = cwdsBefore(pipeline.runs, after);
    // A command that only runs after a failure of an existing program is evaluated as if the directory had not
    // changed.
    const startCwds = cwds?.length === 0 ? [cwd] : cwds;
    for (const [index, command] of pipeline.commands.entries()) {
      const isAlone = pipeline.commands.length === 1;
      const part = { command, cwds: startCwds, isPiped: index > 0, isAlone, before };
      const { verdict, edits } = evaluatePart(part, evaluation);
      verdicts.push(verdict);
      before = edits;
      isUndisturbed &&= verdict.gate === "read_only_command" || command[0]?.text === "cd";
    }
    after = cwdsAfter(pipeline, cwds, { after, isUndisturbed });
  }
  return verdicts;
}

interface Part {
  command: SimpleCommand;
  cwds: CwdCandidates;
  /** True if its input comes from another command. */
  isPiped: boolean;
  /** False in a pipe. */
  isAlone: boolean;
  /** What the line has edited before it. */
  before: LineEdits;
}

interface EvaluatedPart {
  verdict: ApprovalVerdict;
  /** The line's edits so far, including this command's. */
  edits: LineEdits;
}

function evaluatePart(part: Part, evaluation: CommandEvaluation): EvaluatedPart {
  const { command, cwds, isPiped, before } = part;
  const { context, surroundings } = evaluation;
  const rule = findCommandRule(toRuleCommand(command), context.rules ?? []);
  // After a command that a rule or an answer allowed, it is unknown where paths lead.
  const unknown = (verdict: ApprovalVerdict): EvaluatedPart => ({
    verdict,
    edits: { ...before, isEvaluated: false },
  });
  if (rule?.action === "deny") return unknown(verdictOf(rule));
  const denial = findPartDenial(part, evaluation);
  if (denial) return unknown(denial);
  // A command was allowed for this project, wherever a `cd` on the line leads.
  if (rule?.action === "allow" && isInProject(cwds, surroundings.root)) return unknown(verdictOf(rule));
  const unruled = evaluateUnruled(part, evaluation);
  const verdict = rule?.action === "ask" ? verdictOf(rule) : unruled.verdict;
  const { edits } = unruled;
  const [only, ...others] = cwds ?? [];
  // A pattern may match other files later, and a shell that reads from a pipe runs other input: such a part is only
  // granted with its whole line.
  const isFixed =
    only !== undefined && others.length === 0 && !isPiped && !command.some((word) => word.isGlob);
  if (verdict.action !== "ask" || !isFixed) return { verdict, edits };
  const grant: CommandGrant = { kind: "command", directory: only, words: command.map(({ text }) => text) };
  if (isGranted(grant, context.grants ?? [])) return unknown(GRANTED);
  // A rule that asks wants each command to be shown. A path may lead elsewhere after the line has moved something.
  const isShown = rule !== undefined || before.reach === "names" || !isInside(only, surroundings.root);
  const widenable = isShown
    ? undefined
    : findWidening(grant, { ...evaluation, context: { ...context, cwd: only } });
  return widenable && isGrantedByPrefix(widenable, context.grants ?? [])
    ? unknown(GRANTED_WIDER)
    : { verdict: { ...verdict, grants: [grant], widenable: widenable && [widenable] }, edits };
}

type CommandGrant = Extract<Grant, { kind: "command" }>;

const GRANTED_WIDER = allow("grant", "you have always allowed commands that begin like this");

/** True when a grant for the first words of a command covers it. */
function isGrantedByPrefix({ grant, prefix, program }: Widening, grants: readonly Grant[]): boolean {
  const { directory } = grant;
  return [prefix, program].some(
    (words) => words !== undefined && isGranted({ kind: "command_prefix", directory, words }, grants),
  );
}

type Widening = WidenableGrant & { grant: CommandGrant };

/**
 * The first words of a command that a wider grant can fix; undefined if the files that it names, a script of the project
 * included, could not be read and written without a question.
 */
function findWidening(grant: CommandGrant, { context, surroundings }: PathEvaluation): Widening | undefined {
  const { words } = grant;
  const findScript: FindScript = (name) => readPackageScript(context.cwd, name);
  const scopes = findCommandScopes(words, findScript);
  const [program = ""] = words;
  const named = [scopes.prefix, scopes.program].flatMap(
    (scope) => (scope && readFurtherWords(scope, words, findScript)) ?? [],
  );
  const paths = program.includes("/") ? [program, ...named] : named;
  const isOrdinary = paths.every((path) =>
    (["read", "write"] as const).every(
      (permission) =>
        evaluatePath({ path, permission, readsContent: true }, context, surroundings).action === "allow",
    ),
  );
  return isOrdinary ? { grant, ...scopes } : undefined;
}

const MAX_PACKAGE_BYTES = 256 * 1024;
const PackageSchema = z.looseObject({ scripts: z.record(z.string(), z.unknown()) });

/** The text of a script in the `package.json` of a directory; undefined without a file that can be read. */
function readPackageScript(directory: string, name: string): string | undefined {
  const text = readSmallText(join(directory, "package.json"), MAX_PACKAGE_BYTES);
  const { data } = PackageSchema.safeParse(text === undefined ? undefined : parseJson(text));
  const script = data && Object.hasOwn(data.scripts, name) ? data.scripts[name] : undefined;
  return typeof script === "string" ? script : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The words of its scripts are then not known.
    return undefined;
  }
}

function isInProject(cwds: CwdCandidates, root: string): boolean {
  return cwds?.every((cwd) => isInside(cwd, root)) === true;
}

/**
 * Finds a rule that denies reading one of the words: by the real path, or, for an unknown command, by the word itself.
 */
function findPartDenial(part: Part, evaluation: CommandEvaluation): ApprovalVerdict | undefined {
  const { context } = evaluation;
  if (!hasReadDenial(context)) return undefined;
  const { command, cwds = [context.cwd], isPiped } = part;
  const isKnown = cwds.every((cwd) => {
    const reading = readSimpleCommand({ command, isPiped }, { ...evaluation, context: { ...context, cwd } });
    return reading !== undefined && "use" in reading;
  });
  const words = command.slice(1).map(({ text }) => text);
  if (!isKnown) return findReadDenial(words, cwds, evaluation);
  const { verdict } = evaluateUnruled({ ...part, cwds }, evaluation);
  return verdict.action === "deny" ? verdict : undefined;
}

function evaluateUnruled(part: Part, evaluation: CommandEvaluation): EvaluatedPart {
  const { command, cwds, before } = part;
  const { context } = evaluation;
  const name = command[0]?.text ?? "";
  const byDirectory = cwds?.map((cwd) =>
    evaluateInDirectory(part, {
      startsIn: context.cwd,
      evaluation: { ...evaluation, context: { ...context, cwd } },
    }),
  );
  const verdict = strictest(byDirectory?.map((evaluated) => evaluated.verdict) ?? []);
  if (byDirectory && verdict) return { verdict, edits: byDirectory.at(-1)?.edits ?? before };
  const where = cwds === undefined ? `it is unknown where ${showWord(name)} would run` : undefined;
  return {
    verdict: ask("shell_command", where ?? `${showWord(name)} has no directory to run in`),
    edits: before,
  };
}

function evaluateInDirectory(
  { command, isPiped, isAlone, before }: Part,
  { startsIn, evaluation }: { startsIn: string; evaluation: CommandEvaluation },
): EvaluatedPart {
  if (command[0]?.text === "cd")
    return { verdict: evaluateDirectoryChange(command, evaluation), edits: before };
  const edit = evaluateEdit({ command, isPiped: !isAlone, startsIn, before }, evaluation);
  if (edit) return edit;
  const verdict = evaluateReading({ command, isPiped, startsIn }, evaluation);
  const unsupported =
    verdict.action === "allow" ? findEditConflict({ command, before }, evaluation) : undefined;
  if (unsupported === undefined) return { verdict, edits: before };
  const name = showWord(command[0]?.text ?? "");
  return {
    verdict: ask("shell_command", `${name} may do more than read, because of ${unsupported}`),
    edits: before,
  };
}

/** Decides about a `cd`. It is allowed to a plain directory inside the project; the next commands then start there. */
function evaluateDirectoryChange(
  command: SimpleCommand,
  { context, surroundings }: PathEvaluation,
): ApprovalVerdict {
  const destination = findDestination(command, context.cwd);
  if (destination === undefined) return ask("shell_command", "it is unknown where this cd leads");
  const verdict = evaluatePath(
    { path: destination, permission: "read", readsContent: false },
    context,
    surroundings,
  );
  return verdict.action === "allow" ? READS_ONLY : verdict;
}

/** The verdict on a command that is known to only read, and only files that need no approval. */
const READS_ONLY = allow("read_only_command", "it only reads, inside the project");

/** One command of a plain line, and how it is run. */
interface ReadingCommand {
  command: SimpleCommand;
  /** True when the command reads another command's output. */
  isPiped: boolean;
  /** Where the shell was started. */
  startsIn: string;
}

/** Decides whether a command, run in `context.cwd`, is known to only read, and only files that need no approval. */
function evaluateReading(
  { command, isPiped, startsIn }: ReadingCommand,
  evaluation: CommandEvaluation,
): ApprovalVerdict {
  const { context, surroundings } = evaluation;
  const name = command[0]?.text ?? "";
  const reading = readSimpleCommand({ command, isPiped }, evaluation);
  if (reading === undefined) return ask("shell_command", `${showWord(name)} may do more than read`);
  if ("unsupported" in reading) {
    return ask("shell_command", `${showWord(name)} may do more than read, because of ${reading.unsupported}`);
  }
  const verdict = evaluateUse(reading.use, evaluation);
  // A deny rule takes precedence over anything the user may allow.
  if (verdict.action === "deny") return verdict;
  if (!isInside(context.cwd, surroundings.root)) {
    return ask(
      "outside_project",
      `${showWord(name)} would run in ${showWord(context.cwd)}, outside the project`,
    );
  }
  return programsBehind(name).some((program) => isProjectsProgram(program, startsIn, evaluation))
    ? ask("shell_command", `${showWord(name)} is the project's own program of that name`)
    : verdict;
}

function programsBehind(name: string): string[] {
  const runs = Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name]?.runs : undefined;
  return isBuiltin(name) ? [] : [name, ...(runs === undefined ? [] : [runs])];
}

/** Operands that are not files to protect: standard input and files that are always empty. */
const HARMLESS: ReadonlySet<string> = new Set(["-", "/dev/null", ""]);

function evaluateUse(
  { paths, readsContent, search }: ProgramUse,
  evaluation: CommandEvaluation,
): ApprovalVerdict {
  const isFile = (path: string) => !HARMLESS.has(path);
  const verdict = evaluateReads(paths.filter(isFile), readsContent, evaluation);
  const isRefused = verdict && verdict.action !== "allow";
  if (isRefused && (verdict.action === "deny" || !hasReadDenial(evaluation.context))) return verdict;
  const findings: ApprovalVerdict[] = isRefused ? [verdict] : [];
  if (!search || !readsContent) return strictest(findings) ?? READS_ONLY;
  for (const root of new Set(search.roots.filter(isFile))) {
    const finding = evaluateSearch(root, search, evaluation);
    if (finding) findings.push(finding);
    if (evaluation.entryBudget.left < 0) break;
  }
  return strictest(findings) ?? READS_ONLY;
}

/** True when a rule may deny reading: only then are the words of a command examined. */
function hasReadDenial({ rules = [] }: ApprovalContext): boolean {
  return rules.some(({ permission, action }) => permission === "read" && action === "deny");
}

/**
 * Finds the denial that would apply if a piece of a text were a path that is read. Used for commands whose operands are
 * not understood. A rule that denies everything only matches a piece that names something.
 */
function findReadDenial(
  texts: readonly string[],
  cwds: readonly string[],
  { context, entryBudget }: Pick<CommandEvaluation, "context" | "entryBudget">,
): ApprovalVerdict | undefined {
  if (!hasReadDenial(context)) return undefined;
  const pieces = new Set(texts.flatMap(toPieces));
  for (const cwd of cwds) {
    const root = findRealPath(context.root, cwd) ?? context.root;
    for (const piece of pieces) {
      const rule = findReadDenialIn(piece, { cwd, root, context, entryBudget });
      if (rule) return verdictOf(rule);
    }
  }
  return undefined;
}

/**
 * The text as a whole, and split at everything that may surround a path: quotes, `=`, `:`, `@`, brackets, operators.
 */
function toPieces(text: string): string[] {
  const bare = text.replace(/["'\\]/g, "");
  return [
    text,
    bare,
    ...text.split(/[\s"'\\`=:@,;&|<>(){}$]+/),
    ...bare.split(/[\s`=:@,;&|<>(){}$]+/),
  ].filter((piece) => piece !== "");
}

function findReadDenialIn(
  piece: string,
  {
    cwd,
    root,
    context,
    entryBudget,
  }: { cwd: string; root: string; context: ApprovalContext; entryBudget: EntryBudget },
): PermissionRule | undefined {
  const { rules = [], home } = context;
  const isHome = home !== undefined && (piece === "~" || piece.startsWith("~/"));
  const path = isHome ? home + piece.slice(1) : piece;
  // Regular expressions contain brackets too: a bracket stands for one character here.
  const pattern = path.replace(/\[[^\]/]+\]/g, "?").replaceAll("[", "?");
  const expansion = /[*?]/.test(pattern) ? expandGlob(pattern, cwd, entryBudget) : { names: [] };
  // Too many patterns to check them all suggest an attempt to hide something.
  if ("unsupported" in expansion && expansion.isTooLarge) {
    return rules.findLast(({ permission, action }) => permission === "read" && action === "deny");
  }
  const names = "names" in expansion ? [path, ...expansion.names] : [path];
  const paths = names.flatMap((name) => {
    const named = resolve(cwd, name);
    return [...new Set([named, findRealPath(name, cwd) ?? named])];
  });
  for (const candidate of paths) {
    const rule = findPathRule({ path: candidate, root, home }, "read", rules);
    if (rule?.action === "deny" && (!isEverything(rule.pattern) || isExistingPath(candidate))) return rule;
  }
  return undefined;
}

/**
 * Shell builtins, from the manuals of bash, dash, ksh and zsh, except those that only end a line. Most of them can
 * change the meaning of later words through variables such as PATH, aliases, functions, options or program lookup.
 */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    ". : [ alias autoload bg bind bindkey builtin caller cd chdir command compctl compgen complete compopt coproc declare " +
    "dirs disable disown echo echotc echoti emulate enable eval exec export false fc fg float function functions getln " +
    "getopts hash help hist history inlib integer jobs let local logout mapfile nameref noglob popd print printf " +
    "private pushd pushln pwd read readarray readonly rehash sched select set setopt shift shopt source suspend test " +
    "times trap true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait " +
    "whence where which zcompile zle zmodload zparseopts zstyle"
  ).split(" "),
);

/**
 * True when a command may change the meaning of later words on the same line: any shell builtin except those known to
 * only read. A plain `cd` is followed instead.
 */
function isSteering(command: SimpleCommand, evaluation: CommandEvaluation): boolean {
  const name = command[0]?.text ?? "";
  if (name === "cd" || !BUILTINS.has(name)) return false;
  const reading = readSimpleCommand({ command, isPiped: false }, evaluation);
  return reading === undefined || "unsupported" in reading;
}
