import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/fs/directory.ts";
import { findRealPath, followPath, isInside, isReadable, splitPath } from "../infrastructure/fs/real-path.ts";
import { isEnterableDirectory, pathKind } from "../infrastructure/fs/stat.ts";
import { isGitConfig, mayHoldCredentials } from "../infrastructure/paths/git.ts";
import {
  findProtectedKind,
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

/** What a call or command does to one path. */
export interface PathUse {
  /** As it was given; relative to `context.cwd`. */
  path: string;
  /**
   * The absolute real path that the caller resolved and will open. Links may be redirected between two resolutions,
   * so it is evaluated in addition to the one found here.
   */
  leadsTo?: string | undefined;
  permission: "read" | "write";
  /** False when only names, sizes and the like are looked at: a secret file then need not ask. */
  readsContent: boolean;
}

/** Absolute names that a path goes by: `real` are where it leads, `named` is what it says. */
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
  const names = nameThe(use, context);
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
  // No rule speaks of what the path would be elsewhere.
  if (names.isPerProcess)
    verdicts.push(ask("unknown_target", `${showWord(use.path)} is another file for every process`));
  return strictest(verdicts) ?? ask("unknown_target", showWord(use.path));
}

/** Decides about reading a path that is known to be real and inside the project. */
export function evaluateRealFile(
  path: string,
  readsContent: boolean,
  { surroundings, context }: Judging,
): ApprovalVerdict {
  const use: PathUse = { path, permission: "read", readsContent };
  const verdict = evaluateDanger(path, use, surroundings) ?? INSIDE;
  return refine(path, verdict, { use, surroundings, context });
}

/** `evaluatePath` for a tool's request, with what a person has allowed for good. */
export function decidePath(use: PathUse, tool: string, context: ApprovalContext): ApprovalVerdict {
  const surroundings = findSurroundings(context);
  const verdict = evaluatePath(use, context, surroundings);
  if (verdict.action !== "ask") return verdict;
  const { permission } = use;
  const real = nameThe(use, context)?.real ?? [];
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

/** Undefined when it cannot be told where the path leads. */
function nameThe({ path, leadsTo }: PathUse, { cwd }: ApprovalContext): PathNames | undefined {
  const named = resolve(cwd, path);
  // Behind a link, `..` means one place to the kernel and another once a program has tidied the path up: both count.
  const tidied = followPath(named, cwd);
  const raw = followPath(path, cwd);
  if (tidied === undefined || raw === undefined || path.includes("\0")) return undefined;
  return {
    real: [...new Set([tidied.path, raw.path, leadsTo ?? tidied.path])],
    named,
    isPerProcess: tidied.isPerProcess || raw.isPerProcess,
  };
}

/** What is the same for every path of one decision. */
export interface Judging {
  surroundings: Surroundings;
  context: ApprovalContext;
}

const INSIDE = allow("project", "it stays inside the project");

function evaluateRealPath(real: string, use: PathUse, { surroundings, context }: Judging): ApprovalVerdict {
  if (isInside(real, surroundings.root)) return evaluateDanger(real, use, surroundings) ?? INSIDE;
  if (use.permission === "read" && isInTemporaryDirectory(real, context)) {
    return allow("session_files", "it reads the session's temporary files");
  }
  const target =
    real === use.path ? showWord(use.path) : `${showWord(use.path)} leads to ${showWord(real)}, which`;
  return ask("outside_project", `${target} is outside the project ${surroundings.root}`);
}

/** A link with the name of a protected file or secret counts as one, wherever it leads. */
function evaluateGivenName(named: string, use: PathUse, { surroundings, context }: Judging): ApprovalVerdict {
  const given = resolve(context.root);
  const view = [surroundings, { ...surroundings, root: given }].find(({ root }) => isInside(named, root));
  return view === undefined
    ? allow("project", "its target decides")
    : (evaluateDanger(named, use, view) ?? INSIDE);
}

/**
 * What a rule makes of a verdict. One that allows everything in a directory means the sources in it: it lets control
 * files be written and secrets be read only if it names them, as `.github/workflows/**` and `.env.example` do.
 */
function refine(
  path: string,
  verdict: ApprovalVerdict,
  { use, surroundings, context }: Judging & { use: PathUse },
): ApprovalVerdict {
  const { rules = [], home } = context;
  if (rules.length === 0) return verdict;
  const rule = findPathRule({ path, root: surroundings.root, home }, use.permission, rules);
  if (!rule) return verdict;
  const danger = rule.action === "allow" ? evaluateDanger(path, use, surroundings) : undefined;
  return danger && !namesDanger(rule.pattern, { ...use, path }, surroundings) ? danger : verdictOf(rule);
}

function isInTemporaryDirectory(real: string, context: ApprovalContext): boolean {
  if (context.temporaryDirectory === undefined) return false;
  const directory = findRealPath(context.temporaryDirectory, context.cwd);
  return directory !== undefined && isInside(real, directory);
}

/** What the paths of one decision are compared with; absolute and real. */
export interface Surroundings {
  root: string;
  home: string | undefined;
  /** Where this program keeps its configuration, trust and grants, whatever names these directories; see `foldPath`. */
  ownDirectories: readonly string[];
}

/** What is done to a path, as far as danger depends on it. */
interface DangerousUse {
  permission: "read" | "write";
  /** False when only names, sizes and the like are looked at. */
  readsContent: boolean;
}

/** Follows links once for a decision; what few paths need is only looked for when one does. */
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
  // Where they would be for a session with another environment.
  const usual = home === undefined ? [] : [".config/diligent", ".local/state/diligent"];
  return new Set([
    ...named.filter((path) => path !== undefined),
    ...usual.map((path) => join(home ?? "", path)),
  ]);
}

/** An absolute path in the form in which the most forgiving file system compares it, with a slash at its end. */
export function foldPath(path: string): string {
  return `/${splitPath(foldName(path)).join("/")}/`;
}

/** True where this program keeps what it trusts: nothing but an answer for this once lets it be touched. */
export function isOwnLocation(path: string, { ownDirectories }: Surroundings): boolean {
  const folded = foldPath(path);
  return ownDirectories.some((directory) => folded.startsWith(directory));
}

/** For what asks wherever it lies: control files that are written, secrets that are read. `path` is absolute. */
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

/** Without one of these git takes no directory for a repository; with it, other names that mean nothing make it one. */
function isRepositoryHead(path: string): boolean {
  return ["head", "commondir"].includes(foldName(basename(path)));
}

/**
 * True when a rule's pattern means such a path: `.github/workflows/**` and `.env.example` do, `**` does not. Asked for
 * a path that is a danger.
 */
function namesDanger(
  pattern: string,
  { path, permission }: { path: string; permission: "read" | "write" },
  surroundings: Surroundings,
): boolean {
  if (isOwnLocation(path, surroundings)) return false;
  const named = toAbsolutePattern(pattern, surroundings);
  if (permission === "read") return isSecretPath(named, surroundings) || isGitConfig(named);
  const wanted = findProtectedKind(path, viewOf(path, surroundings));
  if (wanted === undefined && isRepositoryHead(path)) return isRepositoryHead(named);
  const meant = findProtectedKind(named, viewOf(named, surroundings));
  return meant !== undefined && STRENGTH[meant] >= STRENGTH[wanted ?? "listed"];
}

// A rule for a directory of the home means its contents, but not files that run with every session.
const STRENGTH: Readonly<Record<ProtectedKind, number>> = { home: 0, listed: 1 };

function viewOf(path: string, { root, home }: Surroundings): ProtectedFileView {
  return { root: isInside(path, root) ? root : undefined, home };
}

/** By its name alone. Directories around the project count where they are the user's own. */
function isSecretPath(path: string, { root, home }: Surroundings): boolean {
  if (!isInside(path, root)) return isSecretFile(path);
  if (isSecretFile(relative(root, path))) return true;
  return home !== undefined && isInside(root, home) && isSecretFile(relative(home, path));
}

function toAbsolutePattern(pattern: string, { root, home }: Surroundings): string {
  if (home !== undefined && (pattern === "~" || pattern.startsWith("~/")))
    return join(home, pattern.slice(1));
  return isAbsolute(pattern) ? resolve(pattern) : join(root, pattern);
}

/** Where a shell may be, absolute and real; undefined where that cannot be told. */
export type Places = readonly string[] | undefined;

/** Where it may be after what it has run so far, by how that ended. */
export interface PossibleCwd {
  success: Places;
  failure: Places;
}

/** Where the next pipeline starts. */
export function placesBefore(runs: Pipeline["runs"], { success, failure }: PossibleCwd): Places {
  if (runs === "after_success") return success;
  return runs === "after_failure" ? failure : unite(success, failure);
}

/**
 * Where the shell may be after a pipeline that started in `before`. `isUndisturbed`: nothing on the line so far can have
 * changed a directory, so that what is there now is still there.
 */
export function placesAfter(
  { runs, commands }: Pipeline,
  before: Places,
  { after, isUndisturbed }: { after: PossibleCwd; isUndisturbed: boolean },
): PossibleCwd {
  const [only, ...others] = commands;
  // What is piped runs in shells of its own, which take their directory with them.
  const moves = only?.[0]?.text === "cd" && others.length === 0;
  const moved = moves ? before?.map((place) => findDestination(only, place)) : before;
  const success = moved?.every((place) => place !== undefined) ? moved : undefined;
  const isSure = moves && isUndisturbed && success?.every(isEnterableDirectory) === true;
  const failure = isSure ? [] : before;
  if (runs === "after_success") return { success, failure: unite(after.failure, failure) };
  if (runs === "after_failure") return { success: unite(after.success, success), failure };
  return { success, failure };
}

/**
 * Where a `cd` from `place` leads: undefined unless it is one plain word and no link is on the way. A shell remembers
 * the names of links and programs see where they lead, so that `..` would mean two places afterwards.
 */
export function findDestination([, target, ...others]: SimpleCommand, place: string): string | undefined {
  const isPlain = target && others.length === 0 && !target.isGlob && /^[^-]/.test(target.text);
  if (!isPlain) return undefined;
  const destination = resolve(place, target.text);
  return findRealPath(destination, place) === destination ? destination : undefined;
}

// Each cd that may fail doubles them.
const MAX_PLACES = 16;

function unite(left: Places, right: Places): Places {
  const all = left && right && [...new Set([...left, ...right])];
  return all && all.length > MAX_PLACES ? undefined : all;
}

/** What a search through a directory comes by; `path` begins with that directory. */
export type WalkStep =
  | { kind: "file" | "link" | "special"; path: string }
  /** A name that is no valid Unicode: nothing can be said about it, or what lies below it. */
  | { kind: "unreadable"; path: string }
  /** There is more than can be looked at. */
  | { kind: "too_large" };

// Some ten milliseconds; larger searches need approval, or use the grep tool.
const MAX_ENTRIES = 10_000;

// What packages bring is public, and there is a test key in many of them.
const PACKAGES = "node_modules";

// Of what Git keeps, that which has no settings in it, and many files.
const GIT_DIRECTORIES: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** How far a walk goes; `looks` is counted down by what it lists. */
interface WalkOptions {
  /** False skips files that are public or created by Git. */
  isThorough: boolean;
  looks: EntryBudget;
}

/** Goes through everything below a directory. Links are named, not followed. */
export function* walkFiles(directory: string, { isThorough, looks }: WalkOptions): Generator<WalkStep, void> {
  const waiting = [directory];
  let left = MAX_ENTRIES;
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = listEntries(current);
    left -= entries.length;
    looks.left -= entries.length + 1;
    if (Math.min(left, looks.left) < 0) {
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

/** Some file systems do not say what an entry is until it is looked at. */
function kindOfOther(path: string): "directory" | "file" | "link" | "special" {
  const kind = pathKind(path);
  return kind === "missing" || kind === "unknown" ? "special" : kind;
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // A file, nothing, or a directory that nobody of this user may list: there is nothing to find below it.
    return [];
  }
}
