import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type DirectoryEntry, readDirectory } from "../../infrastructure/fs/directory.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside, isReadable, splitPath } from "../../infrastructure/fs/real-path.ts";
import { isExistingPath, pathKind } from "../../infrastructure/fs/stat.ts";
import { isGitConfig } from "../../infrastructure/paths/git.ts";
import { isSecretFile } from "../../infrastructure/paths/secret-files.ts";
import {
  evaluatePath,
  evaluateRealFile,
  foldPath,
  isOwnLocation,
  type Judging,
  type PathUse,
  type WalkStep,
  walkFiles,
} from "../paths.ts";
import { matchesText } from "../rules.ts";
import { type ApprovalVerdict, ask, deny, type EntryBudget } from "../types.ts";
import { showWord } from "./parse.ts";
import type { NameFilter, SearchScope } from "./program-spec.ts";

/** What is the same for every path that a command touches. */
export interface SearchEvaluator extends Judging {
  looks: EntryBudget;
}

/** Decides about a program that reads everything below `place`; undefined if nothing speaks against it. */
export function evaluateSearch(
  place: string,
  scope: SearchScope,
  judging: SearchEvaluator,
): ApprovalVerdict | undefined {
  const { context, surroundings, looks } = judging;
  const directory = findRealPath(place, context.cwd) ?? resolve(context.cwd, place);
  const { rules = [] } = context;
  const ruled = rules.filter(({ permission, action }) => permission === "read" && action !== "allow");
  const search: Search = {
    directory,
    scope,
    judging,
    isRuled: ruled.length > 0,
    isDenied: ruled.some(({ action }) => action === "deny"),
    holdsOwn: surroundings.ownDirectories.some((own) => own.startsWith(foldPath(directory))),
    ignoreFiles: [],
  };
  let worst: ApprovalVerdict | undefined;
  for (const step of walkFiles(directory, { isThorough: scope.followsLinks, looks })) {
    const verdict = evaluateStep(step, search);
    if (verdict?.action === "deny") return verdict;
    worst ??= verdict;
    // A denying rule takes precedence over what a person may allow.
    if (worst && !search.isDenied) return worst;
  }
  return worst ?? evaluateHidden(search);
}

interface Search {
  directory: string;
  scope: SearchScope;
  judging: Judging;
  /** True where a rule may speak of any file. */
  isRuled: boolean;
  /** True where one of them may deny it. */
  isDenied: boolean;
  /** True where this program's own directories lie below. */
  holdsOwn: boolean;
  /** What decides which hidden files are read after all. */
  ignoreFiles: string[];
  /** The first file that would ask if hidden files were read. */
  hidden?: ApprovalVerdict;
}

function evaluateStep(step: WalkStep, search: Search): ApprovalVerdict | undefined {
  const { directory, scope } = search;
  const isIgnoreFile = step.kind !== "too_large" && IGNORE_FILE.test(step.path);
  if (isIgnoreFile) search.ignoreFiles.push(step.path);
  switch (step.kind) {
    case "too_large":
      // What a rule denies is not read because it was hard to find.
      return search.isDenied
        ? deny("rule", `${showWord(directory)} is too large to look for what a rule forbids to be read`)
        : ask("secret", `${showWord(directory)} is too large to look for files with keys in it`);
    case "unreadable":
      return ask(
        "unknown_target",
        `there is a name in ${showWord(dirname(step.path))} that is not valid Unicode`,
      );
    case "special":
      return (scope.opensSpecial && isTaken(step.path, scope)) || isIgnoreFile
        ? ask("unknown_target", `it may block forever on ${showWord(step.path)}, which is not a regular file`)
        : undefined;
    case "link":
      return scope.followsLinks ? evaluateLink(step.path, search) : undefined;
    case "file":
      return evaluateFile(step.path, search);
  }
}

function evaluateFile(path: string, search: Search): ApprovalVerdict | undefined {
  const { scope, judging, directory } = search;
  if (!isSuspect(path, search) || !isTaken(path, scope)) return undefined;
  const verdict = evaluateRealFile(path, true, judging);
  if (verdict.action === "allow") return undefined;
  const found = { ...verdict, reason: `it would also read ${showWord(path)}: ${verdict.reason}` };
  if (!scope.skipsHidden || !isHidden(relative(directory, path))) return found;
  search.hidden ??= found;
  return undefined;
}

/** What a link leads to is read under its name, unless it leads back to what is gone through anyway. */
function evaluateLink(path: string, { directory, scope, judging }: Search): ApprovalVerdict | undefined {
  const real = findRealPath(path, directory);
  const kind = real === undefined ? "unknown" : pathKind(real);
  const leadsBack = kind === "directory" && real !== undefined && isInside(real, directory);
  if (leadsBack || kind === "missing" || (kind !== "directory" && !isTaken(path, scope))) return undefined;
  const use: PathUse = { path, permission: "read", readsContent: true };
  const verdict = evaluatePath(use, judging.context, judging.surroundings);
  if (verdict.action !== "allow") {
    return { ...verdict, reason: `it would follow the link ${showWord(path)}: ${verdict.reason}` };
  }
  return kind === "file" ? undefined : ask("outside_project", `it would follow the link ${showWord(path)}`);
}

/** A quick look at a name, so that few need a closer one. */
function isSuspect(path: string, { isRuled, holdsOwn, judging }: Search): boolean {
  const { surroundings } = judging;
  if (isRuled || isGitConfig(path) || (holdsOwn && isOwnLocation(path, surroundings))) return true;
  const { root, home } = surroundings;
  return isSecretFile(relative(home !== undefined && isInside(root, home) ? home : root, path));
}

/** False only for a file that is certainly left out. The last filter that matches its name counts. */
function isTaken(path: string, { filters, takesUnmatched }: SearchScope): boolean {
  const name = basename(path);
  const last = filters.findLast((filter) => countsFor(name, filter));
  return last === undefined ? takesUnmatched : last.kind === "include";
}

/** In doubt, one that takes files in matches and one that leaves them out does not. */
function countsFor(name: string, { kind, pattern }: NameFilter): boolean {
  const isPlain = !/[?[\]\\/{}()]/.test(pattern);
  if (kind === "exclude") return isPlain && matchesText(pattern, name);
  return !isPlain || matchesText(pattern, name) || matchesText(pattern.toLowerCase(), name.toLowerCase());
}

function isHidden(path: string): boolean {
  return splitPath(path).some((part) => part.startsWith("."));
}

const IGNORE_NAMES: readonly string[] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];
const IGNORE_FILE = /\/(?:\.gitignore|\.ignore|\.rgignore|\.git\/info\/exclude)$/i;
const MAX_IGNORE_BYTES = 256 * 1024;

/** Hidden files are skipped unless a line such as `!.env` in the project, or above it, takes them in. */
function evaluateHidden({ directory, hidden, ignoreFiles }: Search): ApprovalVerdict | undefined {
  if (hidden === undefined) return undefined;
  const files = [...ignoreFiles, ...ignoreFilesAbove(directory)];
  return files.some(takesIn) ? hidden : undefined;
}

function ignoreFilesAbove(directory: string): string[] {
  const parts = splitPath(directory);
  const directories = ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)];
  return directories.flatMap((above) => IGNORE_NAMES.map((name) => join(above, name)));
}

function takesIn(file: string): boolean {
  if (pathKind(file) === "missing") return false;
  const text = readSmallText(file, MAX_IGNORE_BYTES);
  return text === undefined || /^\ufeff?!/m.test(text);
}

const MAX_ENTRIES = 5_000;

/** `names` are relative as the pattern is; none where it stays as it is written. */
type GlobExpansion = { names: string[] } | { obstacle: string; isTooLarge: boolean };

/**
 * The names a shell may put in the place of a pattern. A `[` counts as anything, so there may be more than the shell
 * finds, never less. Quotes are gone from `pattern`: what was quoted in it counts as a pattern too.
 */
export function expandGlob(pattern: string, cwd: string, looks: EntryBudget): GlobExpansion {
  const search: GlobSearch = { cwd, left: MAX_ENTRIES, looks };
  let found = [isAbsolute(pattern) ? "/" : ""];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    const next: string[] = [];
    for (const directory of found) {
      const names = /[*?[]/.test(part) ? findNames(part, directory || ".", search) : [part];
      if (names === undefined) {
        const obstacle = `${showWord(pattern)} may stand for a file whose name is not valid Unicode`;
        return { obstacle, isTooLarge: false };
      }
      next.push(...names.map((name) => joinName(directory, name)));
      if (Math.min(search.left, looks.left) < 0 || next.length > MAX_ENTRIES) {
        return { obstacle: `${showWord(pattern)} stands for too many files to look at`, isTooLarge: true };
      }
    }
    found = next;
  }
  return { names: found.filter((path) => isExistingPath(isAbsolute(path) ? path : `${cwd}/${path}`)) };
}

function joinName(directory: string, name: string): string {
  return directory === "" || directory === "/" ? directory + name : `${directory}/${name}`;
}

interface GlobSearch {
  cwd: string;
  /** How many entries may still be looked at for this pattern. */
  left: number;
  looks: EntryBudget;
}

/** Undefined where a name cannot be told: what it was is lost, and with it what the shell puts there. */
function findNames(part: string, directory: string, search: GlobSearch): string[] | undefined {
  const entries = listEntries(isAbsolute(directory) ? directory : `${search.cwd}/${directory}`);
  // A directory costs something when it is empty, too.
  search.left -= entries.length;
  search.looks.left -= entries.length + 1;
  const names = entries.map(({ name }) => name);
  if (!names.every(isReadable)) return undefined;
  // Older shells find these two as well.
  return [".", "..", ...names].filter(toMatcher(part));
}

/** Names that begin with a dot are found by patterns that do, or by a `[`. */
function toMatcher(part: string): (name: string) => boolean {
  const at = part.indexOf("[");
  const pattern = at < 0 ? part : `${part.slice(0, at)}*`;
  // A `?` is one character, one byte or what else the language of the shell takes for one: beyond ASCII these differ.
  const anyLength = pattern.replaceAll("?", "*");
  const findsHidden = part.startsWith(".") || at === 0;
  return (name) =>
    (findsHidden || !name.startsWith(".")) && matchesText(isAscii(name) ? pattern : anyLength, name);
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // Not a directory or not ours to read: nothing in it can be meant.
    return [];
  }
}
