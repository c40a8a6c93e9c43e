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
  type PathEvaluation,
  type PathUse,
  type WalkStep,
  walkFiles,
} from "../paths.ts";
import { matchesText } from "../rules.ts";
import { type ApprovalVerdict, ask, deny, type EntryBudget } from "../types.ts";
import { showWord } from "./parse.ts";
import type { NameFilter, SearchScope } from "./program-spec.ts";

/** The part of an evaluation that is the same for every path of a command. */
export interface CommandEvaluation extends PathEvaluation {
  entryBudget: EntryBudget;
}

/** Decides about a program that reads everything below `root`; undefined when nothing needs approval. */
export function evaluateSearch(
  root: string,
  scope: SearchScope,
  evaluation: CommandEvaluation,
): ApprovalVerdict | undefined {
  const { context, surroundings, entryBudget } = evaluation;
  const directory = findRealPath(root, context.cwd) ?? resolve(context.cwd, root);
  const { rules = [] } = context;
  const ruled = rules.filter(({ permission, action }) => permission === "read" && action !== "allow");
  const search: Search = {
    directory,
    scope,
    evaluation,
    isRuled: ruled.length > 0,
    isDenied: ruled.some(({ action }) => action === "deny"),
    holdsOwn: surroundings.ownDirectories.some((own) => own.startsWith(foldPath(directory))),
    ignoreFiles: [],
  };
  let worst: ApprovalVerdict | undefined;
  for (const step of walkFiles(directory, { isThorough: scope.followsLinks, entryBudget })) {
    const verdict = evaluateStep(step, search);
    if (verdict?.action === "deny") return verdict;
    worst ??= verdict;
    // A deny rule takes precedence over anything the user may allow.
    if (worst && !search.isDenied) return worst;
  }
  return worst ?? evaluateHidden(search);
}

interface Search {
  directory: string;
  scope: SearchScope;
  evaluation: PathEvaluation;
  /** True when a rule may apply to any file. */
  isRuled: boolean;
  /** True when one of those rules denies. */
  isDenied: boolean;
  /** True when diligent's own directories are below the directory. */
  holdsOwn: boolean;
  /** The files that may include hidden files in the search. */
  ignoreFiles: string[];
  /** The first verdict that would require approval if hidden files were read. */
  hidden?: ApprovalVerdict;
}

function evaluateStep(step: WalkStep, search: Search): ApprovalVerdict | undefined {
  const { directory, scope } = search;
  const isIgnoreFile = step.kind !== "too_large" && IGNORE_FILE.test(step.path);
  if (isIgnoreFile) search.ignoreFiles.push(step.path);
  switch (step.kind) {
    case "too_large":
      // A denied file must not be read only because it could not be found in time.
      return search.isDenied
        ? deny("rule", `${showWord(directory)} is too large to check for files that a rule forbids reading`)
        : ask("secret", `${showWord(directory)} is too large to check for files with keys in it`);
    case "unreadable":
      return ask(
        "unknown_target",
        `there is a name in ${showWord(dirname(step.path))} that is not valid Unicode`,
      );
    case "special":
      return (scope.opensSpecial && isIncluded(step.path, scope)) || isIgnoreFile
        ? ask("unknown_target", `it may block forever on ${showWord(step.path)}, which is not a regular file`)
        : undefined;
    case "link":
      return scope.followsLinks ? evaluateLink(step.path, search) : undefined;
    case "file":
      return evaluateFile(step.path, search);
  }
}

function evaluateFile(path: string, search: Search): ApprovalVerdict | undefined {
  const { scope, evaluation, directory } = search;
  if (!isSuspect(path, search) || !isIncluded(path, scope)) return undefined;
  const verdict = evaluateRealFile(path, true, evaluation);
  if (verdict.action === "allow") return undefined;
  const found = { ...verdict, reason: `it would also read ${showWord(path)}: ${verdict.reason}` };
  if (!scope.skipsHidden || !isHidden(relative(directory, path))) return found;
  search.hidden ??= found;
  return undefined;
}

/** The target of a link is read under the link's name, unless the search reads it anyway. */
function evaluateLink(path: string, { directory, scope, evaluation }: Search): ApprovalVerdict | undefined {
  const real = findRealPath(path, directory);
  const kind = real === undefined ? "unknown" : pathKind(real);
  const leadsIntoSearch = kind === "directory" && real !== undefined && isInside(real, directory);
  if (leadsIntoSearch || kind === "missing" || (kind !== "directory" && !isIncluded(path, scope)))
    return undefined;
  const use: PathUse = { path, permission: "read", readsContent: true };
  const verdict = evaluatePath(use, evaluation.context, evaluation.surroundings);
  if (verdict.action !== "allow") {
    return { ...verdict, reason: `it would follow the link ${showWord(path)}: ${verdict.reason}` };
  }
  return kind === "file" ? undefined : ask("outside_project", `it would follow the link ${showWord(path)}`);
}

/** A cheap check of a name that spares most files the full one. */
function isSuspect(path: string, { isRuled, holdsOwn, evaluation }: Search): boolean {
  const { surroundings } = evaluation;
  if (isRuled || isGitConfig(path) || (holdsOwn && isOwnLocation(path, surroundings))) return true;
  const { root, home } = surroundings;
  return isSecretFile(relative(home !== undefined && isInside(root, home) ? home : root, path));
}

/** False only for a file that is certainly excluded. The last filter that matches its name applies. */
function isIncluded(path: string, { filters, includesUnmatched }: SearchScope): boolean {
  const name = basename(path);
  const last = filters.findLast((filter) => countsFor(name, filter));
  return last === undefined ? includesUnmatched : last.kind === "include";
}

/** In doubt, an including filter matches and an excluding one does not. */
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

/** Hidden files are skipped unless a line such as `!.env` in the project, or above it, includes them. */
function evaluateHidden({ directory, hidden, ignoreFiles }: Search): ApprovalVerdict | undefined {
  if (hidden === undefined) return undefined;
  const files = [...ignoreFiles, ...ignoreFilesAbove(directory)];
  return files.some(includesHiddenFiles) ? hidden : undefined;
}

function ignoreFilesAbove(directory: string): string[] {
  const parts = splitPath(directory);
  const directories = ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)];
  return directories.flatMap((above) => IGNORE_NAMES.map((name) => join(above, name)));
}

function includesHiddenFiles(file: string): boolean {
  if (pathKind(file) === "missing") return false;
  const text = readSmallText(file, MAX_IGNORE_BYTES);
  return text === undefined || /^\ufeff?!/m.test(text);
}

const MAX_ENTRIES = 5_000;

/** `names` are relative if the pattern is; empty when the shell leaves the pattern unchanged. */
type GlobExpansion = { names: string[] } | { unsupported: string; isTooLarge: boolean };

/**
 * The names that a shell may substitute for a pattern. A `[` matches any text, so there may be more names than the
 * shell finds, never fewer. Quotes have been removed from `pattern`, so quoted characters count as a pattern too.
 */
export function expandGlob(pattern: string, cwd: string, entryBudget: EntryBudget): GlobExpansion {
  const search: GlobSearch = { cwd, left: MAX_ENTRIES, entryBudget };
  let found = [isAbsolute(pattern) ? "/" : ""];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    const next: string[] = [];
    for (const directory of found) {
      const names = /[*?[]/.test(part) ? findNames(part, directory || ".", search) : [part];
      if (names === undefined) {
        const unsupported = `${showWord(pattern)} may match a file whose name is not valid Unicode`;
        return { unsupported, isTooLarge: false };
      }
      next.push(...names.map((name) => joinName(directory, name)));
      if (Math.min(search.left, entryBudget.left) < 0 || next.length > MAX_ENTRIES) {
        return { unsupported: `${showWord(pattern)} matches too many files to check`, isTooLarge: true };
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
  /** How many entries may still be read for this pattern. */
  left: number;
  entryBudget: EntryBudget;
}

/** Undefined when a name is not valid Unicode, because the shell substitutes bytes that are unknown here. */
function findNames(part: string, directory: string, search: GlobSearch): string[] | undefined {
  const entries = listEntries(isAbsolute(directory) ? directory : `${search.cwd}/${directory}`);
  // Reading an empty directory takes time too.
  search.left -= entries.length;
  search.entryBudget.left -= entries.length + 1;
  const names = entries.map(({ name }) => name);
  if (!names.every(isReadable)) return undefined;
  // Older shells match these two as well.
  return [".", "..", ...names].filter(toMatcher(part));
}

/** Names that begin with a dot are matched by patterns that begin with a dot or a `[`. */
function toMatcher(part: string): (name: string) => boolean {
  const at = part.indexOf("[");
  const pattern = at < 0 ? part : `${part.slice(0, at)}*`;
  // A `?` matches one character or one byte, depending on the locale.
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
    // The path is not a directory, or the user may not read it: the pattern matches nothing in it.
    return [];
  }
}
