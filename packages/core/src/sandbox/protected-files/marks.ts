import type { DirectoryEntry } from "../../infrastructure/fs/directory.ts";
import { type CachedPlace, DirectoryCache } from "../../infrastructure/fs/directory-cache.ts";
import { readLinkTarget } from "../../infrastructure/fs/stat.ts";
import { isRepositoryBySigns, isRepositorySign } from "../../infrastructure/paths/git.ts";
import { findLocationsBehind, isProtectedEntry } from "../../infrastructure/paths/protected-files.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";

/**
 * What a directory is: part of a working tree (`tree`), a git directory (`git`), or one in a git directory. `written`:
 * git opens files in it to write them. `modules`: holds git directories of submodules at any depth.
 */
type Role = "tree" | "git" | "hooks" | "info" | "branches" | "written" | "objects" | "worktrees" | "modules";

export interface MarkedPlace extends CachedPlace<Role> {
  /** Of the directories where commands may write, the one it lies in. */
  root: string;
}

/** `itself`: of a link not what it leads to. `target`: that as well. Undefined: nothing is protected. */
type Mark = "itself" | "target" | undefined;

/** Which entries of a directory are protected, and what the directories in it are; undefined: not scanned. */
interface RoleMarks {
  findMark(entry: DirectoryEntry, place: MarkedPlace): Mark;
  findRole(name: string): Role | undefined;
}

/** What decides which programs git runs or where it looks for that, from gitrepository-layout(5) and githooks(5). */
const GIT_NAMES = new Set(["config", "config.worktree", "hooks", "commondir", "gitdir", "remotes"]);

/** Where it keeps further git directories. */
const HOLDERS = new Set(["worktrees", "modules"]);

/** These, and what git writes to by opening it, and so through a link. */
const GIT_DIRECTORIES: Readonly<Record<string, Role>> = {
  ...{ info: "info", branches: "branches", objects: "objects", worktrees: "worktrees", modules: "modules" },
  ...{ logs: "written", refs: "written", "rebase-merge": "written", "rebase-apply": "written" },
  ...{ sequencer: "written", "rr-cache": "written" },
};

/** Packages bring protected files by the hundred, for themselves; nobody opens these directories to work in them. */
const SKIPPED = "node_modules";

const MARKS: Readonly<Record<Role, RoleMarks>> = {
  tree: {
    findMark: ({ name, kind }, { path, root }) => {
      const isBeginning = kind === "link" && findLocationsBehind(`${path}/${name}`, root).length > 0;
      return isBeginning || isProtectedEntry(path, name, root) ? "target" : undefined;
    },
    findRole: (name) => (foldName(name) === SKIPPED ? undefined : "tree"),
  },
  git: {
    findMark: (entry, place) => {
      const isHolder = entry.kind === "link" && HOLDERS.has(entry.name);
      return isHolder || GIT_NAMES.has(entry.name) ? "target" : markWrittenLink(entry, place);
    },
    findRole: (name) => (Object.hasOwn(GIT_DIRECTORIES, name) ? GIT_DIRECTORIES[name] : undefined),
  },
  // What is run lies elsewhere.
  hooks: { findMark: markLink, findRole: () => undefined },
  info: {
    // It names filters, which are programs.
    findMark: (entry, place) => (entry.name === "attributes" ? "target" : markWrittenLink(entry, place)),
    findRole: () => "written",
  },
  // Each names a push target. Git makes the directory itself, empty.
  branches: { findMark: () => "target", findRole: () => undefined },
  written: { findMark: markWrittenLink, findRole: () => "written" },
  // Objects come by the thousand and get new names: git does not write through a link to one.
  objects: {
    findMark: markWrittenLink,
    findRole: (name) => (name === "info" || name === "pack" ? "written" : undefined),
  },
  worktrees: { findMark: markLink, findRole: () => "git" },
  modules: { findMark: markLink, findRole: () => "modules" },
};

function markLink({ kind }: DirectoryEntry): Mark {
  return kind === "link" ? "target" : undefined;
}

/** Not for an editor's lock beside a file, nor for a `HEAD` that names a branch as a link. */
function markWrittenLink({ name, kind }: DirectoryEntry, { path }: MarkedPlace): Mark {
  if (kind !== "link" || name.startsWith(".#")) return undefined;
  try {
    const target = name === "HEAD" ? readLinkTarget(`${path}/HEAD`) : "";
    return target.startsWith("refs/") && !target.split("/").includes("..") ? undefined : "itself";
  } catch {
    return "itself"; // Gone by now.
  }
}

/** Of a git directory, what holds no others, by the thousand; a submodule may have such a name. */
export const GIT_CONTENTS: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** Any of these makes a directory among submodules a git directory, or may be on the way to one. */
const MODULE_SIGNS: ReadonlySet<string> = new Set(["head", "config", "commondir", "gitdir"]);

/** What counts in a directory. */
export interface DirectoryMarks {
  marks: (readonly [name: string, mark: Mark])[];
  inner: (readonly [name: string, role: Role])[];
  /** Directories that are not scanned. */
  skipped: string[];
  /** Entries that make a repository without a working tree. */
  signs: string[];
  isRepository: boolean;
}

/** Directories and what counts in them. */
export class MarkedDirectories extends DirectoryCache<MarkedPlace, DirectoryMarks> {
  constructor() {
    super({ summarize, mayCount });
  }
}

/** Of the files that come and go while programs are built, none does. */
function mayCount(name: string, place: MarkedPlace): boolean {
  if (place.role !== "tree") return true;
  return isRepositorySign(name, false) || MARKS.tree.findMark({ name, kind: "link" }, place) !== undefined;
}

function summarize(place: MarkedPlace, entries: readonly DirectoryEntry[]): DirectoryMarks {
  const { findMark, findRole } = MARKS[place.role];
  const isModules = place.role === "modules";
  const found: DirectoryMarks = { marks: [], inner: [], skipped: [], signs: [], isRepository: false };
  for (const entry of entries) {
    const { name, kind } = entry;
    if (isModules ? MODULE_SIGNS.has(name.toLowerCase()) : isRepositorySign(name, kind === "directory"))
      found.signs.push(name);
    const mark = findMark(entry, place);
    if (mark !== undefined) found.marks.push([name, mark]);
    if (kind !== "directory" || (place.role === "tree" && mark !== undefined)) continue;
    const role = findRole(name);
    if (role === undefined) found.skipped.push(name);
    else found.inner.push([name, role]);
  }
  found.isRepository = isModules ? found.signs.length > 0 : isRepositoryBySigns(found.signs);
  return found;
}
