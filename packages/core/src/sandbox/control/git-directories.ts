import { lstatSync, statSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import type { DirectoryEntry } from "../../infrastructure/reading/directory-entries.ts";
import { readSystemEntries } from "./system-entries.ts";

/** A git directory with those of its submodules and worktrees, and of theirs. */
export interface GitDirectories {
  /** Real as far as the first one is, which comes first; parents before children. */
  directories: string[];
  /** Links in the place of such a directory, or of one that holds some. They are not followed. */
  links: string[];
  /** False where there are more than can be looked at for every command. */
  isComplete: boolean;
}

// What there is of one costs a look 0.2 ms, and the box two mounts at least, of which it can have 200.
const MAX_GIT_DIRECTORIES = 100;

// A submodule takes about five; a search through as many takes some 50 ms.
const MAX_DIRECTORIES = 2_000;

/** Of a git directory, what holds no git directories, by the thousand. A submodule may be called like one. */
const CONTENTS: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** Any of these makes a directory one, or may be on the way to it. */
const SIGNS: ReadonlySet<string> = new Set(["head", "config", "commondir", "gitdir"]);

/**
 * `repository`: a git directory. `worktrees`: holds git directories. `modules`: may be one and hold some, however deep: a
 * submodule's name may hold slashes, and what looks like a repository may have been made to.
 */
type Role = "repository" | "worktrees" | "modules";

interface Place {
  path: string;
  role: Role;
}

/** @param enter called with each directory before it is looked into. */
export function findGitDirectories(gitDirectory: string, enter: (directory: string) => void): GitDirectories {
  const directories: string[] = [];
  const links: string[] = [];
  const places: Place[] = [{ path: gitDirectory, role: "repository" }];
  let seen = 0;
  for (const { path, role } of places) {
    seen += 1;
    if (seen > MAX_DIRECTORIES || directories.length >= MAX_GIT_DIRECTORIES)
      return { directories, links, isComplete: false };
    enter(path);
    const entries = role === "repository" ? findHolders(path) : entriesIn(path);
    const isRepository = role === "repository" || (role === "modules" && isGitDirectory(entries));
    if (isRepository) directories.push(path);
    for (const { name, kind } of entries) {
      const inner = `${path}/${name}`;
      if (kind === "link" && mayLeadToDirectory(inner)) links.push(inner);
      if (kind !== "directory" || (isRepository && isContent(inner, name))) continue;
      places.push({ path: inner, role: roleOf(name, { role, isRepository }) });
    }
  }
  return { directories, links, isComplete: true };
}

function roleOf(name: string, around: { role: Role; isRepository: boolean }): Role {
  if (around.role === "worktrees") return "repository";
  return around.isRepository && name === "worktrees" ? "worktrees" : "modules";
}

/** Of what is in a git directory, what holds others. */
function findHolders(gitDirectory: string): DirectoryEntry[] {
  return ["worktrees", "modules"].flatMap((name) => {
    const kind = kindOf(`${gitDirectory}/${name}`);
    return kind === undefined ? [] : [{ name, kind }];
  });
}

function isGitDirectory(entries: readonly DirectoryEntry[]): boolean {
  return entries.some(({ name }) => SIGNS.has(name.toLowerCase()));
}

function isContent(path: string, name: string): boolean {
  return CONTENTS.has(name) && kindOf(`${path}/config`) === undefined;
}

/** False for a link to a file, which some versions of git make of `HEAD` and `packed-refs`. */
function mayLeadToDirectory(link: string): boolean {
  try {
    return !statSync(toSystemPath(link)).isFile();
  } catch {
    return !link.endsWith("/HEAD"); // It leads nowhere yet, as that does before the first commit.
  }
}

/** Nothing for a link: what it leads to is not looked into. */
function entriesIn(directory: string): DirectoryEntry[] {
  try {
    return kindOf(directory) === "directory" ? readSystemEntries(directory) : [];
  } catch {
    return []; // Gone meanwhile, or not for this user.
  }
}

function kindOf(path: string): DirectoryEntry["kind"] | undefined {
  try {
    const stats = lstatSync(toSystemPath(path));
    if (stats.isDirectory()) return "directory";
    return stats.isSymbolicLink() ? "link" : "file";
  } catch {
    return undefined; // Not there.
  }
}
