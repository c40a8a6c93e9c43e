import { basename, dirname, join, relative, resolve } from "node:path";
import { isGitConfig } from "../infrastructure/places/git-config.ts";
import { isSecretFile } from "../infrastructure/places/secret-files.ts";
import { pathKind } from "../infrastructure/reading/path-kind.ts";
import { findRealPath, isInside, splitPath } from "../infrastructure/reading/real-path.ts";
import { readSmallText } from "../infrastructure/reading/small-text.ts";
import { type WalkStep, walkFiles } from "./guarded-walk.ts";
import type { Looks } from "./looks.ts";
import { foldPath, isOwnPlace } from "./path-dangers.ts";
import { type Judging, judgePath, judgeRealFile, type PathUse } from "./path-policy.ts";
import type { NameFilter, SearchScope } from "./programs/program-spec.ts";
import { showWord } from "./show-word.ts";
import { matchesText } from "./text-pattern.ts";
import type { ApprovalVerdict } from "./types.ts";
import { ask, deny } from "./verdicts.ts";

/** What is the same for every path that a command touches. */
export interface LookingJudge extends Judging {
  looks: Looks;
}

/** Decides about a program that reads everything below `place`; undefined where nothing stands against it. */
export function judgeSearch(
  place: string,
  scope: SearchScope,
  judging: LookingJudge,
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
    const verdict = judgeStep(step, search);
    if (verdict?.action === "deny") return verdict;
    worst ??= verdict;
    // What a rule denies comes before what a person may allow.
    if (worst && !search.isDenied) return worst;
  }
  return worst ?? judgeHidden(search);
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

function judgeStep(step: WalkStep, search: Search): ApprovalVerdict | undefined {
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
        `there is a name in ${showWord(dirname(step.path))} that is no valid Unicode`,
      );
    case "special":
      return (scope.opensSpecial && isTaken(step.path, scope)) || isIgnoreFile
        ? ask("unknown_target", `it may wait for ever for ${showWord(step.path)}, which is no file`)
        : undefined;
    case "link":
      return scope.followsLinks ? judgeLink(step.path, search) : undefined;
    case "file":
      return judgeFile(step.path, search);
  }
}

function judgeFile(path: string, search: Search): ApprovalVerdict | undefined {
  const { scope, judging, directory } = search;
  if (!isSuspect(path, search) || !isTaken(path, scope)) return undefined;
  const verdict = judgeRealFile(path, true, judging);
  if (verdict.action === "allow") return undefined;
  const found = { ...verdict, reason: `it would also read ${showWord(path)}: ${verdict.reason}` };
  if (!scope.skipsHidden || !isHidden(relative(directory, path))) return found;
  search.hidden ??= found;
  return undefined;
}

/** What a link leads to is read under its name, unless it leads back to what is gone through anyway. */
function judgeLink(path: string, { directory, scope, judging }: Search): ApprovalVerdict | undefined {
  const real = findRealPath(path, directory);
  const kind = real === undefined ? "unknown" : pathKind(real);
  const leadsBack = kind === "directory" && real !== undefined && isInside(real, directory);
  if (leadsBack || kind === "missing" || (kind !== "directory" && !isTaken(path, scope))) return undefined;
  const use: PathUse = { path, permission: "read", readsContent: true };
  const verdict = judgePath(use, judging.context, judging.surroundings);
  if (verdict.action !== "allow") {
    return { ...verdict, reason: `it would follow the link ${showWord(path)}: ${verdict.reason}` };
  }
  return kind === "file" ? undefined : ask("outside_project", `it would follow the link ${showWord(path)}`);
}

/** A quick look at a name, so that few need a closer one. */
function isSuspect(path: string, { isRuled, holdsOwn, judging }: Search): boolean {
  const { surroundings } = judging;
  if (isRuled || isGitConfig(path) || (holdsOwn && isOwnPlace(path, surroundings))) return true;
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

/** Hidden files are passed over unless a line such as `!.env` in the project, or above it, takes them in. */
function judgeHidden({ directory, hidden, ignoreFiles }: Search): ApprovalVerdict | undefined {
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
