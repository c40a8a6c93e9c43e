import { dirname, join, resolve } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats, pathKind, toSystemPath } from "../../infrastructure/fs/stat.ts";
import {
  findLinkedRepository,
  isRepositoryBySigns,
  isRepositorySign,
} from "../../infrastructure/paths/git.ts";
import { type IndexNames, listIndexNames } from "../../infrastructure/paths/git-index.ts";
import { readGitPathSettings } from "../../infrastructure/paths/git-settings.ts";
import { isSecretFile } from "../../infrastructure/paths/secret-files.ts";
import { processEnvironment } from "../../infrastructure/runtime.ts";
import { createWithholding } from "../reads.ts";
import type { ApprovalContext } from "../types.ts";
import { showWord } from "./parse.ts";

/**
 * The reason why git might run a program, reach another machine or show a secret in the repository of `context.cwd`, as
 * a phrase to follow "because of"; undefined if it does not. Everything that is not known to be harmless counts.
 */
export function findGitDanger(context: ApprovalContext, showsContent: boolean): string | undefined {
  const variable = findVariable(context.environment ?? processEnvironment());
  if (variable !== undefined) return `the variable ${variable}`;
  const root = findRealPath(context.root, context.cwd) ?? context.root;
  const top = findTop(findRealPath(context.cwd, context.cwd) ?? context.cwd, root);
  if ("danger" in top) return top.danger;
  const danger = findRepositoryDanger(top.directory, 0) ?? findUserSetting(context, root);
  return danger ?? (showsContent ? findShownSecret(top.directory, context) : undefined);
}

/** Variables that change who signs, but not what runs or what is read. */
const HARMLESS_VARIABLES =
  /^GIT_(?:AUTHOR|COMMITTER)_|^GIT_(?:EDITOR|SEQUENCE_EDITOR|TERMINAL_PROMPT|OPTIONAL_LOCKS|PAGER|MERGE_AUTOEDIT|SSH|SSH_COMMAND|ASKPASS)$/;

function findVariable(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return Object.keys(environment).find((name) => name.startsWith("GIT_") && !HARMLESS_VARIABLES.test(name));
}

/** The working tree that git finds from a directory: the nearest one upwards, which has to be in the project. */
function findTop(cwd: string, root: string): { directory: string } | { danger: string } {
  if (pathKind(cwd) !== "directory") return { danger: "the directory it would run in" };
  for (let directory = cwd; isInside(directory, root); directory = dirname(directory)) {
    if (pathKind(`${directory}/.git`) !== "missing") return { directory };
    if (looksBare(directory)) return { danger: `${showWord(directory)}, which looks like a repository` };
    if (directory === root) break;
  }
  return { danger: "a repository that is not in the project" };
}

/** True for a directory that git takes for a repository without a working tree, whose settings would apply. */
function looksBare(directory: string): boolean {
  const signs = readDirectory(directory).filter(({ name, kind }) =>
    isRepositorySign(name, kind === "directory"),
  );
  return isRepositoryBySigns(signs.map(({ name }) => name));
}

// Submodules of submodules; git follows them all.
const MAX_DEPTH = 3;
const MAX_SUBMODULES = 50;

/** @param top the directory that holds `.git`. */
function findRepositoryDanger(top: string, depth: number): string | undefined {
  const directories = findDirectories(top);
  if (directories === undefined) return `${showWord(`${top}/.git`)}, which leads to an unknown place`;
  const { gitDirectory, commonDirectory } = directories;
  const danger =
    findSettingDanger(`${commonDirectory}/config`, { top, gitDirectory }) ??
    findSettingDanger(`${gitDirectory}/config.worktree`, { top, gitDirectory }) ??
    findHook(commonDirectory);
  if (danger !== undefined) return danger;
  const index = readIndexNames(top);
  if (index === undefined) return "an index that cannot be checked";
  const submodules = index.submodules
    .map((path) => join(top, path))
    .filter((path) => pathKind(`${path}/.git`) !== "missing");
  if (submodules.length > MAX_SUBMODULES || (submodules.length > 0 && depth === MAX_DEPTH))
    return "more submodules than can be checked";
  for (const submodule of submodules) {
    const found = findRepositoryDanger(submodule, depth + 1);
    if (found !== undefined) return `${found} (in the submodule ${showWord(submodule)})`;
  }
  return undefined;
}

function findDirectories(top: string): { gitDirectory: string; commonDirectory: string } | undefined {
  const path = `${top}/.git`;
  const kind = pathKind(path);
  if (kind === "file") return findLinkedRepository(top);
  if (kind !== "directory" || pathKind(`${path}/commondir`) !== "missing") return undefined;
  return { gitDirectory: path, commonDirectory: path };
}

/** The hook that git runs when it has refreshed the index, as even `git status` does. */
function findHook(commonDirectory: string): string | undefined {
  return pathKind(`${commonDirectory}/hooks/post-index-change`) === "missing"
    ? undefined
    : "the repository's hook post-index-change";
}

/** Settings that start no program and name no further settings; see git-config(1). In lower case. */
const HARMLESS_SETTINGS: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|sparsecheckout(?:cone)?|untrackedcache|commitgraph|multipackindex|quotepath|longpaths|abbrev|compression|trustctime|checkstat|preloadindex|protecthfs|protectntfs)$/,
  user: /^(?:name|email|signingkey|useconfigonly)$/,
  extensions: /^(?:worktreeconfig|noop|preciousobjects|relativeworktrees)$/,
  status: /^(?:showuntrackedfiles|short|branch|relativepaths|renames|renamelimit|aheadbehind|showstash)$/,
  diff: /^(?:algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context|indentheuristic|ignoresubmodules)$/,
  log: /^(?:date|decorate|abbrevcommit|follow|showroot)$/,
  merge: /^(?:conflictstyle|ff|renames|stat)$/,
  rebase: /^(?:autosquash|autostash|updaterefs|stat)$/,
  feature: /^manyfiles$/,
  commit: /^(?:gpgsign|verbose|cleanup|status)$/,
  tag: /^(?:gpgsign|sort|forcesignannotated)$/,
  i18n: /./,
  advice: /./,
  alias: /./,
  branch: /./,
  color: /^(?!pager$)/,
  fetch: /./,
  gc: /./,
  index: /./,
  init: /^defaultbranch$/,
  lfs: /^(?:repositoryformatversion|access)$/,
  maintenance: /./,
  pack: /./,
  pull: /./,
  push: /./,
  remote: /^(?:url|pushurl|fetch|push|tagopt|prune|mirror|gh-resolved|skipfetchall)$/,
  rerere: /./,
  submodule: /^(?:url|active|branch|ignore|update)$/,
};

/** Sections whose names have a second part. */
const DIVIDED: ReadonlySet<string> = new Set(["remote", "branch", "submodule", "lfs"]);

const MAX_BYTES = 256 * 1024;
const SECTION = /^\[([\w-]+)(\s+"(?:[^"\\]|\\.)*")?\]$/;
const SETTING = /^([a-z][\w-]*)\s*(?:=\s*(.*))?$/i;
// A password in the address of a remote.
const SIGNED_ADDRESS = /\b(?!ssh:)[\w+.-]+:\/\/[^/\s]*@/i;

/** Reads a file of settings strictly: a line that is not understood is a danger. */
function findSettingDanger(file: string, place: { top: string; gitDirectory: string }): string | undefined {
  if (pathKind(file) === "missing") return undefined;
  const text = readSmallText(file, MAX_BYTES);
  if (text === undefined) return `${showWord(file)}, which cannot be read`;
  let section = "";
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const [, name, part] = SECTION.exec(line) ?? [];
    if (name !== undefined) {
      section = name.toLowerCase();
      if (part !== undefined && !DIVIDED.has(section)) section = `${section}${part}`;
      continue;
    }
    const [, key = "", value = ""] = SETTING.exec(line) ?? [];
    if (!isHarmless(section, { key: key.toLowerCase(), value }, place))
      return `the setting ${showWord(`${section}.${key}`)} of the repository`;
  }
  return undefined;
}

function isHarmless(
  section: string,
  { key, value }: { key: string; value: string },
  { top, gitDirectory }: { top: string; gitDirectory: string },
): boolean {
  // The next line would belong to it.
  if (key === "" || value.endsWith("\\")) return false;
  if (section === "core" && key === "worktree")
    return findRealPath(resolve(gitDirectory, value), "/") === top;
  if (section === "core" && key === "fsmonitor") return /^(?:false|no|off|0)$/i.test(value);
  if (section === "remote" && /url$/.test(key) && SIGNED_ADDRESS.test(value)) return false;
  return Object.hasOwn(HARMLESS_SETTINGS, section) && HARMLESS_SETTINGS[section]?.test(key) === true;
}

const MAX_PATH_SETTINGS = 50;
const MONITOR = /^\s*fsmonitor\s*=\s*(?!\s|(?:true|false|yes|no|on|off|1|0)\s*$)/im;

/**
 * Programs in the user's own settings are the user's, unless their path leads into the project: a relative one depends on
 * where git runs.
 */
function findUserSetting(
  { home, environment = processEnvironment() }: ApprovalContext,
  root: string,
): string | undefined {
  const configured = environment.XDG_CONFIG_HOME || (home && join(home, ".config"));
  const files = [
    home && join(home, ".gitconfig"),
    configured && join(configured, "git", "config"),
    "/etc/gitconfig",
  ];
  for (const file of files) {
    if (!file || pathKind(file) === "missing") continue;
    const settings = readGitPathSettings(file, MAX_PATH_SETTINGS);
    const found = settings.find(({ key, value, file: at }) => {
      if (key === "hookspath") return !value.startsWith("/") || isInside(resolve(value), root);
      return key === "path" && isInside(resolve(dirname(at), value), root);
    });
    if (found || settings.length >= MAX_PATH_SETTINGS || MONITOR.test(readSmallText(file, MAX_BYTES) ?? ""))
      return `your setting ${showWord(found?.key ?? "fsmonitor")} in ${showWord(file)}`;
  }
  return undefined;
}

/** A tracked file whose content must not be shown; which of them git shows depends on its history. */
function findShownSecret(top: string, context: ApprovalContext): string | undefined {
  const names = readIndexNames(top)?.names ?? [];
  const isWithheld = createWithholding(top, context);
  const found = names.find((name) => isSecretFile(name) || isWithheld?.(join(top, name)) === true);
  return found === undefined ? undefined : `the tracked file ${showWord(found)}, which it may show`;
}

/** The names of the index that was read last: one line often asks for the same one several times. */
let lastIndex: { key: string; names: IndexNames | undefined } | undefined;

/** Undefined for an index that cannot be read. */
function readIndexNames(top: string): IndexNames | undefined {
  const { gitDirectory = "" } = findDirectories(top) ?? {};
  const stats = findStats(toSystemPath(`${gitDirectory}/index`));
  const key = `${gitDirectory} ${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs}`;
  if (lastIndex?.key !== key) lastIndex = { key, names: listIndexNames(top) };
  return lastIndex.names;
}
