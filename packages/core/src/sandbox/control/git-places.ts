import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findRealPath } from "../../infrastructure/reading/real-path.ts";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";
import { findGitDirectories } from "./git-directories.ts";
import { findNamedPlaces, type Reason } from "./named-places.ts";
import { readSystemEntries } from "./system-entries.ts";

/** The control files in a git directory and its submodules, there or not, and the directories they lie in. */
export interface GitPlaces {
  controls: string[];
  /** The same, where something that may not be there later makes them such; see `ControlFile.reasons`. */
  named: Map<string, Reason[]>;
  /** Links on the way to these. */
  namedLinks: Map<string, Reason[]>;
  /** How many paths the settings name. */
  namedCount: number;
  /** The git directory and those; parents before children. */
  directories: string[];
  /** False where there are more than can be looked at for every command. */
  isComplete: boolean;
}

/**
 * What decides which programs git runs: settings, hooks, the files by which it is sent elsewhere for them, and those that
 * name where it pushes to or through which filter a file goes. From gitrepository-layout(5) and githooks(5).
 */
const CONTROL_NAMES: readonly string[] = [
  ...["config", "config.worktree", "hooks", "commondir", "gitdir", "remotes"],
];

const MAX_CONFIG_BYTES = 256 * 1024;

export interface GitSearch {
  /** Where commands may write, git directories elsewhere included: what the settings name elsewhere is safe from them. */
  roots: readonly string[];
  /** Called with each directory before it is looked into. */
  enter(directory: string): void;
}

export function findGitPlaces(gitDirectory: string, { roots, enter }: GitSearch): GitPlaces {
  const { directories, links, isComplete } = findGitDirectories(gitDirectory, enter);
  const controls = directories.flatMap(findControls);
  const branches = directories.flatMap((directory) => findBranches(`${directory}/branches`, enter));
  const all = [...controls, ...branches];
  const named = findNamedPlaces(directories, roots);
  return {
    controls: [...all, ...all.flatMap(findLinkedHooks), ...links],
    named: new Map([...named.places].flatMap(([path, reasons]) => withLinkedHooks(path, reasons))),
    namedLinks: named.links,
    namedCount: named.count,
    directories,
    isComplete: isComplete && named.isComplete,
  };
}

function findControls(directory: string): string[] {
  // Behind a link it may be anybody's.
  const attributes = kindOf(`${directory}/info`) === "directory" ? ["info/attributes"] : [];
  return [...CONTROL_NAMES, ...attributes].map((name) => `${directory}/${name}`);
}

/** Each names where to push to, as `remotes` do. The directory itself comes empty with every repository that git makes. */
function findBranches(directory: string, enter: (directory: string) => void): string[] {
  try {
    enter(directory);
    if (kindOf(directory) !== "directory") return [];
    return readSystemEntries(directory).map(({ name }) => `${directory}/${name}`);
  } catch {
    return []; // There is none.
  }
}

/** Hooks that are links: what is run lies elsewhere. */
function findLinkedHooks(directory: string): string[] {
  try {
    const entries = readSystemEntries(directory);
    return entries.filter(({ kind }) => kind === "link").map(({ name }) => `${directory}/${name}`);
  } catch {
    return []; // A file, or nothing.
  }
}

function withLinkedHooks(path: string, reasons: Reason[]): [path: string, reasons: Reason[]][] {
  return [path, ...findLinkedHooks(path)].map((file) => [file, reasons]);
}

/** The git directory of a worktree or submodule, and the one it shares objects, branches and settings with. */
export interface LinkedRepository {
  gitDirectory: string;
  commonDirectory: string;
}

/**
 * Where `.git` of a project is a file that names a git directory elsewhere: that one, if it names the project in turn. One
 * that does not may be anybody's.
 */
export function findLinkedRepository(root: string): LinkedRepository | undefined {
  const named = firstLine(`${root}/.git`, /^gitdir: (.+)$/m);
  if (named === undefined) return undefined;
  const gitDirectory = realPathOf(resolve(root, named));
  if (kindOf(gitDirectory) !== "directory") return undefined;
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

function kindOf(path: string): "directory" | "other" | undefined {
  try {
    return lstatSync(toSystemPath(path)).isDirectory() ? "directory" : "other";
  } catch {
    return undefined; // Not there.
  }
}
