import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/fs/directory.ts";
import { findRealPath, followPath, isInside, isReadable, splitPath } from "../infrastructure/fs/real-path.ts";
import { isEnterableDirectory, pathKind } from "../infrastructure/fs/stat.ts";
import { commandTemporaryPath } from "../infrastructure/fs/state-files.ts";
import { isGitConfig, mayHoldCredentials } from "../infrastructure/paths/git.ts";
import {
  findProtectedKind,
  isBeyondRules,
  type ProtectedFileView,
  type ProtectedKind,
} from "../infrastructure/paths/protected-files.ts";
import { isSecretFile } from "../infrastructure/paths/secret-files.ts";
import { userConfigDirectory, userStateDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/runtime.ts";
import { foldName } from "../infrastructure/text/unicode.ts";
import { type Pipeline, type SimpleCommand, showWord } from "./bash/parse.ts";
import { type Grant, isGranted } from "./grants.ts";
import { findPathRule } from "./rules.ts";
import {
  type ApprovalContext,
  type ApprovalVerdict,
  allow,
  ask,
  type EntryBudget,
  strictest,
  verdictOf,
} from "./types.ts";

/** The access of a call or command to one path. */
export interface PathUse {
  /** The path as given; relative to `context.cwd`. */
  path: string;
  /**
   * The absolute real path that the caller resolved and will open. Links may be redirected between two resolutions,
   * so it is evaluated in addition to the one found here.
   */
  leadsTo?: string | undefined;
  permission: "read" | "write";
  /** False when only names, sizes and similar metadata are read: a secret file then needs no approval. */
  readsContent: boolean;
}

/** The absolute names of a path: `real` are the resolved paths, `named` is the path as written. */
interface PathNames {
  real: string[];
  named: string;
  /** See `followPath`. */
  isPerProcess: boolean;
}

/**
 * Decides about access to one path, by its real path and by the name it is reached under: the stricter verdict
 * applies. Links are resolved now; the caller has to check again when it acts on the verdict.
 */
export function evaluatePath(
  use: PathUse,
  context: ApprovalContext,
  surroundings = findSurroundings(context),
): ApprovalVerdict {
  const names = resolveNames(use, context);
  if (!names) return ask("unknown_target", `${showWord(use.path)} cannot be resolved`);
  const { root } = surroundings;
  const refineOne = (path: string, verdict: ApprovalVerdict) => {
    const view = isInside(path, root) ? surroundings : { ...surroundings, root: resolve(context.root) };
    return refine(path, verdict, { use, surroundings: view, context });
  };
  const verdicts = [
    ...names.real.map((real) => refineOne(real, evaluateRealPath(real, use, { surroundings, context }))),
    refineOne(names.named, evaluateGivenName(names.named, use, { surroundings, context })),
  ];
  // Rules do not apply to a path that is different for every process.
  if (names.isPerProcess)
    verdicts.push(ask("unknown_target", `${showWord(use.path)} is a different file for every process`));
  return strictest(verdicts) ?? ask("unknown_target", showWord(use.path));
}

/** Decides about reading a path that is known to be real and inside the project. */
export function evaluateRealFile(
  path: string,
  readsContent: boolean,
  { surroundings, context }: PathEvaluation,
): ApprovalVerdict {
  const use: PathUse = { path, permission: "read", readsContent };
  const verdict = evaluateDanger(path, use, surroundings) ?? INSIDE;
  return refine(path, verdict, { use, surroundings, context });
}

/** `evaluatePath` for a tool's request, including the user's grants. */
export function decidePath(use: PathUse, tool: string, context: ApprovalContext): ApprovalVerdict {
  const surroundings = findSurroundings(context);
  const verdict = evaluatePath(use, context, surroundings);
  if (verdict.action !== "ask") return verdict;
  const { permission } = use;
  const real = resolveNames(use, context)?.real ?? [];
  // Write access there would allow granting everything to itself.
  if (real.length === 0 || real.some((path) => isOwnLocation(path, surroundings))) return verdict;
  const wanted = real.map((path): Grant => {
    const grant = { kind: "path", permission, tool, path } as const;
    return pathKind(path) === "directory" ? { ...grant, reach: "below" } : grant;
  });
  return wanted.every((grant) => isGranted(grant, context.grants ?? []))
    ? allow("grant", "you have always allowed exactly this")
    : { ...verdict, grants: wanted };
}

/** Undefined when the path cannot be resolved. */
function resolveNames({ path, leadsTo }: PathUse, { cwd }: ApprovalContext): PathNames | undefined {
  const named = resolve(cwd, path);
  // After a link, `..` leads to one directory for the kernel and to another once a program has normalized the path:
  // both count.
  const normalized = followPath(named, cwd);
  const raw = followPath(path, cwd);
  if (normalized === undefined || raw === undefined || path.includes("\0")) return undefined;
  return {
    real: [...new Set([normalized.path, raw.path, leadsTo ?? normalized.path])],
    named,
    isPerProcess: normalized.isPerProcess || raw.isPerProcess,
  };
}

/** The part of an evaluation that is the same for every path of one decision. */
export interface PathEvaluation {
  surroundings: Surroundings;
  context: ApprovalContext;
}

const INSIDE = allow("project", "it stays inside the project");

function evaluateRealPath(
  real: string,
  use: PathUse,
  { surroundings, context }: PathEvaluation,
): ApprovalVerdict {
  if (isInside(real, surroundings.root)) return evaluateDanger(real, use, surroundings) ?? INSIDE;
  const isReading = use.permission === "read";
  if (isInTemporaryDirectory(real, isReading ? "any" : "command", context)) {
    return allow("session_files", `it ${isReading ? "reads" : "writes"} the session's temporary files`);
  }
  const target =
    real === use.path ? showWord(use.path) : `${showWord(use.path)} leads to ${showWord(real)}, which`;
  return ask("outside_project", `${target} is outside the project ${surroundings.root}`);
}

/** A link with the name of a protected file or secret is treated as one, wherever it leads. */
function evaluateGivenName(
  named: string,
  use: PathUse,
  { surroundings, context }: PathEvaluation,
): ApprovalVerdict {
  const given = resolve(context.root);
  const view = [surroundings, { ...surroundings, root: given }].find(({ root }) => isInside(named, root));
  return view === undefined
    ? allow("project", "its target decides")
    : (evaluateDanger(named, use, view) ?? INSIDE);
}

/**
 * Applies a rule to a verdict. A rule that allows everything in a directory means its sources: it allows writing
 * protected files and reading secrets only if it names them, as `.github/workflows/**` and `.env.local` do.
 */
function refine(
  path: string,
  verdict: ApprovalVerdict,
  { use, surroundings, context }: PathEvaluation & { use: PathUse },
): ApprovalVerdict {
  const { rules = [], home } = context;
  if (rules.length === 0) return verdict;
  const rule = findPathRule({ path, root: surroundings.root, home }, use.permission, rules);
  if (!rule) return verdict;
  const danger = rule.action === "allow" ? evaluateDanger(path, use, surroundings) : undefined;
  return danger && !namesDanger(rule.pattern, { ...use, path }, surroundings) ? danger : verdictOf(rule);
}

/** @param whose `command`: only what commands write to as their temporary directory. */
function isInTemporaryDirectory(real: string, whose: "any" | "command", context: ApprovalContext): boolean {
  const { temporaryDirectory, cwd } = context;
  if (temporaryDirectory === undefined) return false;
  const directory = findRealPath(
    whose === "any" ? temporaryDirectory : commandTemporaryPath(temporaryDirectory),
    cwd,
  );
  return directory !== undefined && isInside(real, directory);
}

/** The directories that the paths of one decision are compared with; absolute and real. */
export interface Surroundings {
  root: string;
  home: string | undefined;
  /** The directories that hold diligent's configuration, trust and grants, including linked ones; see `foldPath`. */
  ownDirectories: readonly string[];
}

/** The properties of an access that determine its danger. */
interface DangerousUse {
  permission: "read" | "write";
  /** False when only names, sizes and similar metadata are read. */
  readsContent: boolean;
}

/** Finds the directories once per decision; those that few paths need are found on first use. */
export function findSurroundings(context: ApprovalContext): Surroundings {
  const { cwd, environment = processEnvironment() } = context;
  const toReal = (path: string) => findRealPath(path, cwd) ?? path;
  const givenHome = context.home ?? homeDirectory(environment);
  let own: string[] | undefined;
  let home: string | undefined;
  return {
    root: toReal(context.root),
    get home() {
      home ??= givenHome && toReal(givenHome);
      return home;
    },
    get ownDirectories() {
      own ??= [...findOwnDirectories(environment, givenHome)].map((path) => foldPath(toReal(path)));
      return own;
    },
  };
}

function findOwnDirectories(environment: Environment, home: string | undefined): Set<string> {
  const named = [userConfigDirectory(environment), userStateDirectory(environment)];
  // The directories of a session with another environment.
  const usual = home === undefined ? [] : [".config/diligent", ".local/state/diligent"];
  return new Set([
    ...named.filter((path) => path !== undefined),
    ...usual.map((path) => join(home ?? "", path)),
  ]);
}

/** An absolute path, folded as the most permissive file system compares it, with a trailing slash. */
export function foldPath(path: string): string {
  return `/${splitPath(foldName(path)).join("/")}/`;
}

/** True for the directories in which diligent keeps trust and grants: only a single approval allows access to them. */
export function isOwnLocation(path: string, { ownDirectories }: Surroundings): boolean {
  const folded = foldPath(path);
  return ownDirectories.some((directory) => folded.startsWith(directory));
}

/**
 * Decides about files that need approval wherever they are: protected files that are written, secrets that are read.
 * `path` is absolute.
 */
function evaluateDanger(
  path: string,
  { permission, readsContent }: DangerousUse,
  surroundings: Surroundings,
): ApprovalVerdict | undefined {
  if (permission === "read" && !readsContent) return undefined;
  const gate = permission === "write" ? "control_file" : "secret";
  const { root } = surroundings;
  const say = (what: string) =>
    ask(gate, `${showWord(isInside(path, root) ? relative(root, path) : path)} ${what}`);
  if (isOwnLocation(path, surroundings)) return say("is where diligent keeps its own files");
  if (permission === "write") {
    const kind = findProtectedKind(path, viewOf(path, surroundings));
    if (kind !== undefined) return say("controls what other programs do");
    return isRepositoryHead(path)
      ? say("can make its directory a repository, whose settings git obeys")
      : undefined;
  }
  const isSecret = isSecretPath(path, surroundings) || (isGitConfig(path) && mayHoldCredentials(path));
  return isSecret ? say("may hold keys or passwords") : undefined;
}

/**
 * Git recognizes a directory as a repository only if it contains one of these; then other names take effect as well.
 */
function isRepositoryHead(path: string): boolean {
  return ["head", "commondir"].includes(foldName(basename(path)));
}

/**
 * True when a rule's pattern names such a file: `.github/workflows/**` and `.env.local` do, `**` does not. No rule names
 * git's hooks and settings or diligent's directory. Called for a path that is dangerous.
 */
export function namesDanger(
  pattern: string,
  { path, permission }: { path: string; permission: "read" | "write" },
  surroundings: Surroundings,
): boolean {
  if (isOwnLocation(path, surroundings)) return false;
  const named = toAbsolutePattern(pattern, surroundings);
  if (permission === "read") return isSecretPath(named, surroundings) || isGitConfig(named);
  const view = viewOf(path, surroundings);
  if (isBeyondRules(path, view.root)) return false;
  const wanted = findProtectedKind(path, view);
  if (wanted === undefined && isRepositoryHead(path)) return isRepositoryHead(named);
  const meant = findProtectedKind(named, viewOf(named, surroundings));
  return meant !== undefined && STRENGTH[meant] >= STRENGTH[wanted ?? "listed"];
}

// A rule for a directory in the home directory covers its contents, but not files that run in every session.
const STRENGTH: Readonly<Record<ProtectedKind, number>> = { home: 0, listed: 1 };

function viewOf(path: string, { root, home }: Surroundings): ProtectedFileView {
  return { root: isInside(path, root) ? root : undefined, home };
}

/** Decides by the name alone. Directories above the project count if they belong to the user. */
function isSecretPath(path: string, { root, home }: Surroundings): boolean {
  if (!isInside(path, root)) return isSecretFile(path);
  if (isSecretFile(relative(root, path))) return true;
  return home !== undefined && isInside(root, home) && isSecretFile(relative(home, path));
}

/** A pattern as an absolute path, whose names say which files it means. */
export function toAbsolutePattern(pattern: string, { root, home }: Surroundings): string {
  if (home !== undefined && (pattern === "~" || pattern.startsWith("~/")))
    return join(home, pattern.slice(1));
  return isAbsolute(pattern) ? resolve(pattern) : join(root, pattern);
}

/** The directories in which a shell may be, absolute and real; undefined when they are unknown. */
export type CwdCandidates = readonly string[] | undefined;

/** The directories in which the shell may be after the commands so far, by their outcome. */
export interface PossibleCwd {
  success: CwdCandidates;
  failure: CwdCandidates;
}

/** The directories in which the next pipeline may start. */
export function cwdsBefore(runs: Pipeline["runs"], { success, failure }: PossibleCwd): CwdCandidates {
  if (runs === "after_success") return success;
  return runs === "after_failure" ? failure : unite(success, failure);
}

/**
 * The directories in which the shell may be after a pipeline that started in `before`. `isUndisturbed`: nothing on the
 * line so far can have changed a directory, so that directories that exist now still exist then.
 */
export function cwdsAfter(
  { runs, commands }: Pipeline,
  before: CwdCandidates,
  { after, isUndisturbed }: { after: PossibleCwd; isUndisturbed: boolean },
): PossibleCwd {
  const [only, ...others] = commands;
  // Piped commands run in shells of their own, whose directory changes are lost.
  const moves = only?.[0]?.text === "cd" && others.length === 0;
  const moved = moves ? before?.map((cwd) => findDestination(only, cwd)) : before;
  const success = moved?.every((cwd) => cwd !== undefined) ? moved : undefined;
  const isSure = moves && isUndisturbed && success?.every(isEnterableDirectory) === true;
  const failure = isSure ? [] : before;
  if (runs === "after_success") return { success, failure: unite(after.failure, failure) };
  if (runs === "after_failure") return { success: unite(after.success, success), failure };
  return { success, failure };
}

/**
 * The destination of a `cd` from `cwd`; undefined unless it is one plain word without a link on the path. A shell
 * remembers the names of links but programs resolve them, so `..` would be ambiguous afterwards.
 */
export function findDestination([, target, ...others]: SimpleCommand, cwd: string): string | undefined {
  const isPlain = target && others.length === 0 && !target.isGlob && /^[^-]/.test(target.text);
  if (!isPlain) return undefined;
  const destination = resolve(cwd, target.text);
  return findRealPath(destination, cwd) === destination ? destination : undefined;
}

// Each `cd` that may fail doubles the number.
const MAX_CWDS = 16;

function unite(left: CwdCandidates, right: CwdCandidates): CwdCandidates {
  const all = left && right && [...new Set([...left, ...right])];
  return all && all.length > MAX_CWDS ? undefined : all;
}

/** A step of a directory walk; `path` begins with that directory. */
export type WalkStep =
  | { kind: "file" | "link" | "special"; path: string }
  /** A name that is not valid Unicode: neither it nor anything below it can be evaluated. */
  | { kind: "unreadable"; path: string }
  /** The walk exceeded its limit. */
  | { kind: "too_large" };

// About ten milliseconds; larger searches need approval, or use the grep tool.
const MAX_ENTRIES = 10_000;

// Published packages are public, and many contain a test key.
const PACKAGES = "node_modules";

// The directories of git that contain many files and no settings.
const GIT_DIRECTORIES: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** `entryBudget` is reduced by the number of entries that are listed. */
interface WalkOptions {
  /** False skips files that are public or created by Git. */
  isThorough: boolean;
  entryBudget: EntryBudget;
}

/** Walks everything below a directory. Links are returned, not followed. */
export function* walkFiles(
  directory: string,
  { isThorough, entryBudget }: WalkOptions,
): Generator<WalkStep, void> {
  const waiting = [directory];
  let left = MAX_ENTRIES;
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = listEntries(current);
    left -= entries.length;
    entryBudget.left -= entries.length + 1;
    if (Math.min(left, entryBudget.left) < 0) {
      yield { kind: "too_large" };
      return;
    }
    for (const { name, kind } of entries) {
      const path = join(current, name);
      const known = kind === "other" ? kindOfOther(path) : kind;
      if (!isReadable(name)) yield { kind: "unreadable", path };
      else if (known !== "directory") yield { kind: known, path };
      else if (isThorough || !isPassedOver(name, current)) waiting.push(path);
    }
  }
}

function isPassedOver(name: string, parent: string): boolean {
  return name === PACKAGES || (GIT_DIRECTORIES.has(name) && /\/\.git(?:\/|$)/.test(parent));
}

/** Some file systems do not report the kind of an entry until it is examined. */
function kindOfOther(path: string): "directory" | "file" | "link" | "special" {
  const kind = pathKind(path);
  return kind === "missing" || kind === "unknown" ? "special" : kind;
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // The path is a file, missing, or a directory that the user may not list.
    return [];
  }
}
