import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readSmallText } from "../fs/read.ts";
import { findRealPath, splitPath } from "../fs/real-path.ts";
import { pathKind } from "../fs/stat.ts";
import { foldName } from "../text/unicode.ts";

const MAX_BYTES = 256 * 1024;

/** True for the path of a repository's settings: `.git/config` and those of worktrees and submodules. */
export function isGitConfig(path: string): boolean {
  if (!/config(?:\.worktree)?$/i.test(path) && isAscii(path)) return false;
  const parts = splitPath(path).map(foldName);
  const name = parts.pop();
  return (name === "config" || name === "config.worktree") && parts.includes(".git");
}

/**
 * True unless a repository's settings (absolute, real path) contain only what Git writes itself. Users store passwords
 * in them: in the address of a remote, in a header, in a helper.
 */
export function mayHoldCredentials(path: string): boolean {
  if (pathKind(path) === "missing") return false;
  const text = readSmallText(path, MAX_BYTES);
  return text === undefined || !isPlainConfig(text);
}

/** The allowed keys by section; `true` allows all. From git-config(1) and widely used tools. */
const PLAIN_SETTINGS: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|worktree|autocrlf|eol|safecrlf|sparsecheckout(?:cone)?|hookspath|untrackedcache|fsmonitor|commitgraph|multipackindex|quotepath|longpaths|abbrev|compression)$/,
  remote:
    /^(?:url|pushurl|fetch|push|tagopt|prune|mirror|promisor|partialclonefilter|gh-resolved|skipfetchall)$/,
  branch: /^(?:remote|merge|rebase|pushremote|vscode-merge-base|github-pr-owner-number|gh-merge-base)$/,
  submodule: /^(?:url|active|update|branch|ignore)$/,
  user: /^(?:name|email|signingkey|useconfigonly)$/,
  extensions: /./,
  index: /./,
  gc: /./,
  pull: /./,
  push: /./,
  init: /./,
  pack: /./,
  fetch: /./,
  commit: /./,
  tag: /./,
  color: /./,
  advice: /./,
  maintenance: /./,
  rerere: /./,
  lfs: /^repositoryformatversion$/,
};

const SECTION = /^\[([\w-]+)(?:\s+"(?:[^"\\]|\\.)*")?\]$/;
const SETTING = /^([\w-]+)\s*(?:=.*)?$/;
// An address with a user or token before the host.
const SIGNED_ADDRESS = /\b(?!ssh:)[\w+.-]+:\/\/[^/\s]*@/i;

function isPlainConfig(text: string): boolean {
  if (SIGNED_ADDRESS.test(text)) return false;
  let plain: RegExp | undefined;
  for (const line of text.split(/\r?\n/).map((line) => line.trim())) {
    const section = SECTION.exec(line)?.[1];
    if (section !== undefined) plain = settingsOf(section.toLowerCase());
    else if (line !== "" && !plain?.test(SETTING.exec(line)?.[1]?.toLowerCase() ?? "")) return false;
  }
  return true;
}

function settingsOf(section: string): RegExp | undefined {
  return Object.hasOwn(PLAIN_SETTINGS, section) ? PLAIN_SETTINGS[section] : undefined;
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

// Real files have less than a hundred bytes; the limit prevents reading a huge planted file.
const MAX_HEAD_BYTES = 4_096;
const BRANCH = /^ref: refs\/heads\/([^\s~^:?*[\\\p{Cc}\p{Cf}]{1,200})$/u;

/**
 * The current branch of `projectRoot`, or undefined. Read from the files: git would run programs that the repository
 * configures.
 */
export function readGitBranch(projectRoot: string): string | undefined {
  try {
    const gitDirectory = findGitDirectory(join(projectRoot, ".git"), projectRoot);
    const head = gitDirectory && readSmallFile(join(gitDirectory, "HEAD"));
    return head === undefined ? undefined : BRANCH.exec(head.trimEnd())?.[1];
  } catch {
    // The repository's files are not readable: the branch is only a hint for the model.
    return undefined;
  }
}

/** True when `.git` is a file that names the repository, as in a worktree of `git worktree add`. */
export function isGitWorktree(projectRoot: string): boolean {
  try {
    const text = readSmallFile(join(projectRoot, ".git"));
    return text !== undefined && /^gitdir: .*\/worktrees\/[^/\n]+\/?$/m.test(text);
  } catch {
    // An unreadable file is reported by the code that needs it.
    return false;
  }
}

/** The repository's directory; in a worktree or submodule, `.git` is a file that names it. */
export function findGitDirectory(path: string, projectRoot: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return path;
  const target = stats?.isFile() ? /^gitdir: (.+)$/m.exec(readSmallFile(path) ?? "")?.[1] : undefined;
  return target && resolve(projectRoot, target);
}

function readSmallFile(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= MAX_HEAD_BYTES ? readFileSync(path, "utf8") : undefined;
}

/**
 * Larger packs of the project's repository are not copied before a command: the sandbox mounts them so that commands
 * can neither change nor remove them. `git gc` leaves one pack for most of the history, so there are few of them.
 */
export const MAX_COPIED_OBJECT_BYTES = 16 * 1024 * 1024;

const MAX_CONFIG_BYTES = 256 * 1024;

/** The git directory of a worktree or submodule, and the directory whose objects, branches and settings it shares. */
interface LinkedRepository {
  gitDirectory: string;
  commonDirectory: string;
}

/**
 * The git directory that a project's `.git` file names, if that directory names the project in turn; any other could
 * belong to someone else.
 */
export function findLinkedRepository(root: string): LinkedRepository | undefined {
  const named = firstLine(`${root}/.git`, /^gitdir: (.+)$/m);
  if (named === undefined) return undefined;
  const gitDirectory = realPathOf(resolve(root, named));
  if (!isDirectory(gitDirectory)) return undefined;
  const common = firstLine(`${gitDirectory}/commondir`, /^(.+)$/m);
  if (common !== undefined) {
    const commonDirectory = realPathOf(resolve(gitDirectory, common));
    const back = firstLine(`${gitDirectory}/gitdir`, /^(.+)$/m);
    const isOurs = back !== undefined && realPathOf(resolve(gitDirectory, back)) === `${root}/.git`;
    return isOurs && dirname(gitDirectory) === `${commonDirectory}/worktrees`
      ? { gitDirectory, commonDirectory }
      : undefined;
  }
  const worktree = firstLine(`${gitDirectory}/config`, /^[ \t]*worktree[ \t]*=[ \t]*(.+)$/m);
  const isOurs = worktree !== undefined && realPathOf(resolve(gitDirectory, worktree)) === root;
  return isOurs ? { gitDirectory, commonDirectory: gitDirectory } : undefined;
}

function firstLine(path: string, pattern: RegExp): string | undefined {
  return pattern.exec(readSmallText(path, MAX_CONFIG_BYTES) ?? "")?.[1]?.trimEnd();
}

function realPathOf(path: string): string {
  return findRealPath(path, "/") ?? path;
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** What git asks of a directory to take it for a repository: two names that it reads, and two that may be "executed". */
const READ_SIGNS: ReadonlySet<string> = new Set(["head", "commondir"]);
const PASSED_SIGNS: ReadonlySet<string> = new Set(["objects", "refs"]);
const SIGN_LENGTHS: ReadonlySet<number> = new Set(
  [...READ_SIGNS, ...PASSED_SIGNS].map((name) => name.length),
);

/** True for an entry that goes into making a repository of a directory. */
export function isRepositorySign(name: string, isDirectory: boolean): boolean {
  if (!SIGN_LENGTHS.has(name.length)) return false;
  const folded = foldName(name);
  return PASSED_SIGNS.has(folded) || (!isDirectory && READ_SIGNS.has(folded));
}

/** Whether such entries make one; see `is_git_directory` in the source of git. */
export function isRepositoryBySigns(names: readonly string[]): boolean {
  if (names.length < 2) return false;
  const folded = new Set(names.map(foldName));
  return folded.has("head") && (folded.has("commondir") || (folded.has("objects") && folded.has("refs")));
}
