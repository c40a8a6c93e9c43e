import { basename, dirname, isAbsolute, relative } from "node:path";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { pathKind } from "../../infrastructure/fs/stat.ts";
import { findLocationsBehind } from "../../infrastructure/paths/protected-files.ts";
import { platformName } from "../../infrastructure/runtime.ts";
import { evaluatePath, walkFiles } from "../paths.ts";
import { evaluateReads } from "../reads.ts";
import { type ApprovalVerdict, allow, ask, strictest } from "../types.ts";
import { type SimpleCommand, showWord } from "./parse.ts";
import { type Operand, type ProgramSpec, type ReadOptions, readOptions } from "./program-spec.ts";
import { expandWords, isBuiltin, isProjectsProgram, readSimpleCommand } from "./programs.ts";
import type { CommandEvaluation } from "./search-policy.ts";
import { isPlainScript } from "./text-programs.ts";

/** The edits of earlier commands on the line; each command is evaluated against the state before all of them. */
export interface LineEdits {
  /** `names`: a path may lead elsewhere now. */
  reach: "none" | "files" | "names";
  /** False after a command that was allowed without evaluation: it may have made any path lead elsewhere. */
  isEvaluated: boolean;
  /** Base names of the paths that were written. */
  names: readonly string[];
}

/** The edits before the first command of a line. */
export const NO_EDITS: LineEdits = { reach: "none", isEvaluated: true, names: [] };

/** One command of a line, and how it is run. */
interface EditingCommand {
  command: SimpleCommand;
  /** True when it is part of a pipe. */
  isPiped: boolean;
  /** Where the shell was started. */
  startsIn: string;
  before: LineEdits;
}

/** The verdict on a command that only edits files inside the project. */
const EDITS_ONLY = allow("accept_edits", "it only edits files inside the project");

/**
 * Decides about a command that edits files as the edit tools do, in `accept-edits`; undefined for any other command.
 * All its paths must be inside the project and must not need approval for writing or reading. Otherwise it needs
 * approval.
 */
export function evaluateEdit(
  { command, isPiped, startsIn, before }: EditingCommand,
  evaluation: CommandEvaluation,
): { verdict: ApprovalVerdict; edits: LineEdits } | undefined {
  const [program, ...words] = command;
  const name = program?.text ?? "";
  if (evaluation.context.mode !== "accept-edits" || !isEditCall(name, words)) return undefined;
  const stop = (verdict: ApprovalVerdict) => ({ verdict, edits: { ...before, reach: "names" } as const });
  const because = (unsupported: string) =>
    stop(ask("shell_command", `${showWord(name)} may do more than edit files, because of ${unsupported}`));
  const { context, surroundings, entryBudget } = evaluation;
  if (isPiped) return because("the pipe");
  if (!before.isEvaluated) return because("an earlier command of the line");
  const unsupported = findEditConflict({ command, before }, evaluation);
  if (unsupported !== undefined) return because(unsupported);
  const operands = expandWords(words, { cwd: context.cwd, entryBudget });
  if ("unsupported" in operands) return because(operands.unsupported);
  const reading = EDIT_PROGRAMS[name]?.(operands.names);
  if (reading === undefined || "unsupported" in reading) return because(reading?.unsupported ?? "its name");
  const found =
    reading.use.kind === "make"
      ? evaluateMake(reading.use, evaluation)
      : evaluateTransfer(reading.use, before, evaluation);
  if (found.verdict.action !== "allow") return stop(found.verdict);
  if (!isInside(context.cwd, surroundings.root)) {
    return stop(ask("outside_project", `${showWord(name)} would run outside the project`));
  }
  if (isProjectsProgram(name, startsIn, evaluation)) {
    return stop(ask("shell_command", `${showWord(name)} is the project's own program of that name`));
  }
  const isMoved = found.rearranges || before.reach === "names";
  const names = [...before.names, ...found.written.map((path) => basename(path))];
  return { verdict: EDITS_ONLY, edits: { ...before, reach: isMoved ? "names" : "files", names } };
}

/**
 * The reason why a command cannot be evaluated against the state before the edits of its line; undefined if it can.
 * Commands that a rule or an earlier answer allows need no such check.
 */
export function findEditConflict(
  { command, before }: Pick<EditingCommand, "command" | "before">,
  evaluation: CommandEvaluation,
): string | undefined {
  if (before.reach === "none") return undefined;
  const name = command[0]?.text ?? "";
  if (before.names.includes(name)) return "a file of that name, which an earlier command writes";
  // Its repository was checked as it is before the line.
  if (name === "git") return "the files that earlier commands edit";
  if (command.some((word) => word.isGlob)) return "a pattern, after edits by the same line";
  const reading = readSimpleCommand({ command, isPiped: false }, evaluation);
  const use = reading && "use" in reading ? reading.use : undefined;
  if (use?.search) return "the files that earlier commands edit";
  const touchesNothing = use !== undefined && use.paths.length === 0 && isBuiltin(name);
  return before.reach === "files" || touchesNothing ? undefined : "the paths that earlier commands move";
}

interface Found {
  verdict: ApprovalVerdict;
  /** Paths as they are written. */
  written: readonly string[];
  /** True when a path may lead elsewhere afterwards. */
  rearranges: boolean;
}

function evaluateMake(
  { targets, readsContent, statPaths }: Extract<EditUse, { kind: "make" }>,
  evaluation: CommandEvaluation,
): Found {
  const verdicts = [
    ...targets.map((path) => evaluateWrite(path, evaluation)),
    evaluateReads(statPaths, false, evaluation),
    readsContent ? evaluateReads(targets, true, evaluation) : undefined,
  ];
  return { verdict: strictestOf(verdicts), written: targets, rearranges: false };
}

function evaluateTransfer(
  use: Exclude<EditUse, { kind: "make" }>,
  before: LineEdits,
  evaluation: CommandEvaluation,
): Found {
  const verdicts: (ApprovalVerdict | undefined)[] = [];
  const written: string[] = [use.destination];
  let rearranges = use.kind === "link";
  for (const source of use.sources) {
    const name = basename(source);
    if (name === "" || name === "." || name === "..") {
      verdicts.push(ask("unknown_target", `it is unknown what name ${showWord(source)} would have there`));
      continue;
    }
    const targets = [use.destination, `${use.destination}/${name}`];
    written.push(...targets);
    verdicts.push(...targets.map((path) => evaluateWrite(path, evaluation)));
    const taken = evaluateSource(source, { use, targets, before }, evaluation);
    verdicts.push(taken.verdict);
    rearranges ||= taken.isDirectory;
  }
  return { verdict: strictestOf(verdicts), written, rearranges };
}

interface Transfer {
  use: Exclude<EditUse, { kind: "make" }>;
  /** The possible names of the source afterwards: the destination is a directory, becomes one, or is not one. */
  targets: readonly string[];
  before: LineEdits;
}

function evaluateSource(
  source: string,
  { use, targets, before }: Transfer,
  evaluation: CommandEvaluation,
): { verdict: ApprovalVerdict; isDirectory: boolean } {
  const { cwd } = evaluation.context;
  const kind = pathKind(absolute(source.replace(/(?!^)\/+$/, ""), cwd));
  const isLinked = use.kind === "link";
  if (isLinked && use.startsFrom === "link") {
    return { verdict: evaluateLinkText(source, use.destination, evaluation), isDirectory: false };
  }
  const changes = use.kind === "copy" ? undefined : evaluateWrite(source, evaluation);
  const here = strictestOf([changes, evaluateReads([source], true, evaluation)]);
  const refuse = (what: string) => ask("unknown_target", `${showWord(source)} ${what}`);
  if (here.action !== "allow") return { verdict: here, isDirectory: false };
  // A link at another location leads elsewhere; only its target for a plain copy is known.
  if (kind === "link" && (use.kind !== "copy" || use.isDeep)) {
    return {
      verdict: refuse("is a link, which may lead elsewhere from its new location"),
      isDirectory: false,
    };
  }
  if (kind === "missing" && before.reach !== "none" && use.kind !== "copy") {
    return { verdict: refuse("does not exist yet"), isDirectory: false };
  }
  if (kind === "special" || kind === "unknown") {
    return { verdict: refuse("is not a regular file"), isDirectory: false };
  }
  const isTaken = use.isDeep && (kind === "directory" || kind === "missing") && !isLinked;
  if (!isTaken) return { verdict: here, isDirectory: false };
  if (kind === "missing") {
    const verdict = before.reach === "none" ? here : refuse("does not exist yet");
    return { verdict, isDirectory: false };
  }
  if (before.reach !== "none") {
    return {
      verdict: refuse("may have been changed by an earlier command of the line"),
      isDirectory: true,
    };
  }
  return { verdict: evaluateTree(source, { use, targets }, evaluation), isDirectory: true };
}

/** Evaluates the target of a symbolic link from each directory in which the link may be created. */
function evaluateLinkText(
  source: string,
  destination: string,
  evaluation: CommandEvaluation,
): ApprovalVerdict {
  const { cwd } = evaluation.context;
  const linkPath = absolute(destination, cwd);
  const real = findRealPath(linkPath, cwd);
  const kind = real === undefined ? "unknown" : pathKind(real);
  const directories = [
    ...(kind === "directory" ? [] : [dirname(linkPath)]),
    ...(kind === "file" ? [] : [linkPath]),
    // With an option, a link to a directory is replaced by the new one.
    ...(pathKind(linkPath) === "link" ? [dirname(linkPath)] : []),
  ];
  const names = [linkPath, `${linkPath}/${basename(source)}`];
  const steering = names.find((name) => findLocationsBehind(name, evaluation.surroundings.root).length > 0);
  if (steering !== undefined) {
    return ask("control_file", `${showWord(steering)} is a place where other programs read their settings`);
  }
  return strictestOf(
    directories.flatMap((directory) => {
      const path = isAbsolute(source) ? source : `${directory}/${source}`;
      return [evaluateWrite(path, evaluation), evaluateReads([path], true, evaluation)];
    }),
  );
}

// Each file is evaluated under its names; a larger tree needs approval.
const MAX_TREE_FILES = 1_000;

/** Decides about a directory that is copied or moved: each file in it is evaluated under its old and its new names. */
function evaluateTree(
  source: string,
  { use, targets }: Pick<Transfer, "use" | "targets">,
  evaluation: CommandEvaluation,
): ApprovalVerdict {
  const { cwd } = evaluation.context;
  const say = (path: string, what: string) => ask("unknown_target", `${showWord(path)} ${what}`);
  // BSD copies the contents of a directory that is written with a trailing slash, not the directory.
  if (source.endsWith("/") && platformName() !== "linux") return say(source, "ends in a slash");
  // An existing directory would be merged with the source, and an existing link written through.
  const [first = "", below = ""] = targets;
  const isNew = pathKind(absolute(below, cwd)) === "missing";
  const isPlain = ["missing", "directory"].includes(pathKind(absolute(first.replace(/(?!^)\/+$/, ""), cwd)));
  if (!isNew || !isPlain) return say(below, "already exists");
  const directory = absolute(source, cwd);
  let files = 0;
  for (const step of walkFiles(directory, { isThorough: true, entryBudget: evaluation.entryBudget })) {
    if (step.kind === "too_large") return say(source, "is too large to check");
    if (step.kind !== "file") return say(step.path, "is not a regular file");
    files += 1;
    if (files > MAX_TREE_FILES) return say(source, "is too large to check");
    const name = relative(directory, step.path);
    const verdict = strictestOf([
      ...targets.map((target) => evaluateWrite(`${target}/${name}`, evaluation)),
      use.kind === "move" ? evaluateWrite(step.path, evaluation) : undefined,
      evaluateReads([step.path], true, evaluation),
    ]);
    if (verdict.action !== "allow") return verdict;
  }
  return EDITS_ONLY;
}

function evaluateWrite(path: string, { context, surroundings }: CommandEvaluation): ApprovalVerdict {
  return evaluatePath({ path, permission: "write", readsContent: true }, context, surroundings);
}

/** The strictest of the verdicts; allowed inside the project if there are none. */
function strictestOf(verdicts: readonly (ApprovalVerdict | undefined)[]): ApprovalVerdict {
  return strictest([EDITS_ONLY, ...verdicts.filter((verdict) => verdict !== undefined)]) ?? EDITS_ONLY;
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : `${cwd}/${path}`;
}

/**
 * The effect of a program that edits files; paths as they are written. `make` creates or changes its targets; the
 * others transfer their sources to the destination, under that name, or below it if it is a directory.
 */
type EditUse =
  | {
      kind: "make";
      targets: readonly string[];
      /** True when the contents of the targets are read, too. */
      readsContent: boolean;
      /** Files whose names or times are read. */
      statPaths: readonly string[];
    }
  | {
      kind: "copy" | "move" | "link";
      sources: readonly string[];
      destination: string;
      /** True when whole directories are transferred. */
      isDeep: boolean;
      /** For symbolic links: the directory that the link's text is relative to. Undefined for a hard link. */
      startsFrom?: "link" | "working_directory" | undefined;
    };

/** The effect of a call, or `unsupported`: a phrase to follow "because of". */
type EditReading = { use: EditUse } | { unsupported: string };

const DIRECTORY_OPTION = "t --target-directory";
const ORDER = "f n v --force --no-clobber --verbose --no-target-directory T";

const COPY: ProgramSpec = {
  flags: `a d p P r R u --archive --no-dereference --recursive ${ORDER}`,
  values: DIRECTORY_OPTION,
  operands: "paths",
};

const MOVE: ProgramSpec = { flags: `u ${ORDER}`, values: DIRECTORY_OPTION, operands: "paths" };
const LINK: ProgramSpec = {
  flags: `s r --symbolic --relative --no-dereference ${ORDER}`,
  values: DIRECTORY_OPTION,
  operands: "paths",
};

const MAKE_DIRECTORY: ProgramSpec = {
  flags: "p v --parents --verbose",
  values: "m --mode",
  valuePattern: /^(?:[0-7]{3,4}|[ugoa]*[-+=][rwxX]*)$/,
  operands: "paths",
};

const TOUCH: ProgramSpec = {
  flags: "a c h m --no-create --no-dereference",
  values: "d t --date",
  pathValues: "r --reference",
  operands: "paths",
};

const SED_IN_PLACE: ProgramSpec = {
  flags: "n E r s u z --quiet --silent --regexp-extended --separate --unbuffered --null-data",
  patternValues: "e --expression",
  operands: "pattern_and_paths",
};

/**
 * Programs that edit files as the tools `edit` and `write` do, each with the options for which the written files are
 * known; from the manuals of GNU coreutils and sed and their BSD counterparts.
 */
const EDIT_PROGRAMS: Readonly<Record<string, (words: readonly Operand[]) => EditReading>> = {
  mkdir: (words) => readMake(words, MAKE_DIRECTORY),
  touch: (words) => readMake(words, TOUCH),
  cp: (words) => readTransfer(words, COPY, "copy"),
  mv: (words) => readTransfer(words, MOVE, "move"),
  ln: (words) => readTransfer(words, LINK, "link"),
  sed: readSedInPlace,
};

/** True for a call that edits files; only sed has calls that do not. */
function isEditCall(name: string, words: readonly { text: string }[]): boolean {
  if (!Object.hasOwn(EDIT_PROGRAMS, name)) return false;
  return name !== "sed" || words.some(({ text }) => IN_PLACE_OPTION.test(text));
}

function readMake(words: readonly Operand[], spec: ProgramSpec): EditReading {
  const read = readOptions(words, spec);
  if ("unsupported" in read) return read;
  const targets = read.operands.flatMap(namesOf);
  return { use: { kind: "make", targets, readsContent: false, statPaths: read.paths } };
}

function readTransfer(
  words: readonly Operand[],
  spec: ProgramSpec,
  kind: "copy" | "move" | "link",
): EditReading {
  const read = readOptions(words, spec);
  if ("unsupported" in read) return read;
  const operands = findDestination(read, kind);
  if (operands === undefined) return { unsupported: "its destination" };
  const { given } = read;
  const isDeep = ["a", "r", "R", "--archive", "--recursive"].some((option) => given.has(option));
  const isSymbolic = given.has("s") || given.has("--symbolic");
  const isRelative = given.has("r") || given.has("--relative");
  const startsFrom = isRelative ? "working_directory" : "link";
  return {
    use: {
      kind,
      sources: operands.sources.flatMap(namesOf),
      destination: operands.destination,
      isDeep: kind === "copy" ? isDeep : true,
      startsFrom: kind === "link" && isSymbolic ? startsFrom : undefined,
    },
  };
}

/**
 * The last operand, unless an option names a directory; a link to a single target is created in the working directory.
 */
function findDestination(
  { operands, values }: ReadOptions,
  kind: EditUse["kind"],
): { sources: Operand[]; destination: string } | undefined {
  const named = values.filter(({ name }) => name === "t" || name === "--target-directory");
  if (named.length > 1) return undefined;
  const [directory] = named;
  if (directory) return { sources: operands, destination: directory.text };
  if (kind === "link" && operands.length === 1) return { sources: operands, destination: "." };
  const last = operands.at(-1);
  // The last match of a pattern is the destination: with more than one match it is not predictable.
  return last && last.names === undefined
    ? { sources: operands.slice(0, -1), destination: last.text }
    : undefined;
}

// Letters without a value may precede the `i`; the text after it is the suffix of the backup.
const IN_PLACE_OPTION = /^(?:-([nErsuz]*)i(.*)|--in-place(?:=(.*))?)$/s;

/**
 * Reads a call of sed that replaces in files. When the words mean something else to BSD sed, the suffix of the backup
 * has to be given. An empty word after `-i` is no suffix for GNU sed but the script, and the script that follows it the
 * name of a file: such a call has to be harmless in both readings.
 */
function readSedInPlace(words: readonly Operand[]): EditReading {
  let suffix: string | undefined;
  let hasEmptySuffix = false;
  const others: Operand[] = [];
  for (const [index, word] of words.entries()) {
    const [isInPlace, flags = "", short, long] = IN_PLACE_OPTION.exec(word.text) ?? [];
    if (isInPlace === undefined || word.names !== undefined) {
      const isSuffix = word.text === "" && words[index - 1]?.text === "-i";
      if (isSuffix) hasEmptySuffix = true;
      else others.push(word);
      continue;
    }
    if (suffix !== undefined) return { unsupported: "a repeated option" };
    suffix = short ?? long ?? "";
    if (flags !== "") others.push({ text: `-${flags}`, names: undefined });
  }
  const isAmbiguous = suffix === "" && !hasEmptySuffix && platformName() !== "linux";
  if (suffix === undefined || !/^[\w.~-]*$/.test(suffix) || isAmbiguous) {
    return { unsupported: "what follows the option -i" };
  }
  const read = readOptions(others, SED_IN_PLACE);
  if ("unsupported" in read) return read;
  const { patterns, operands, given } = read;
  if (patterns.length === 0 || !patterns.every((script) => isPlainScript(script, { mayInsert: true }))) {
    return { unsupported: "its script" };
  }
  const isOperand = !given.has("e") && !given.has("--expression");
  const files = [...(hasEmptySuffix && isOperand ? patterns : []), ...operands.flatMap(namesOf)];
  const backups = suffix === "" ? [] : files.map((file) => file + suffix);
  return { use: { kind: "make", targets: [...files, ...backups], readsContent: true, statPaths: [] } };
}

function namesOf({ text, names }: Operand): readonly string[] {
  return names ?? [text];
}
