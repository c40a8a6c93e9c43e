import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/fs/stat.ts";

/** A directory that may not be listed, or that may not be searched: new files in it stay unnoticed. */
export interface UnlistableDirectory {
  /** Absolute. */
  path: string;
  /** Which it is: device and inode. */
  identity: string;
}

/** A snapshot of the protected files. */
export interface ProtectedFileScan {
  /** By absolute path. */
  files: ReadonlyMap<string, ProtectedFile>;
  /** The git directories, each of which commands may write to but for its control files; parents before children. */
  gitDirectories: readonly string[];
  /** What makes those of these control files that are none by their own place. */
  gitMarks: ReadonlyMap<string, Mark>;
  /** What settings name, there or not. */
  named: ReadonlySet<string>;
  /** Directories that are a repository without a tree or could become one, by identity. */
  signs: ReadonlyMap<string, RepositorySigns>;
  /** What was looked through, by absolute path; empty where that is not known any more. */
  directories: ReadonlyMap<string, KnownDirectory>;
  /** What could not be looked into, by identity. */
  unlistable: ReadonlyMap<string, UnlistableDirectory>;
  /** Of the places where commands may write, those that hold too much to be looked through. */
  shallowRoots: readonly string[];
  /** False where there are more directories than can be looked at for every command. */
  isWalked: boolean;
  /** False where that is so, or git directories hold and name more than that. */
  isComplete: boolean;
}

/** Whether a path lies in one of these directories; for thousands of them. */
export function isBelowAny(path: string, directories: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    if (directories.has(path.slice(0, end))) return true;
  return false;
}

/** A look as if these had not been there. */
export function withoutFiles(look: ProtectedFileScan, paths: readonly string[]): ProtectedFileScan {
  if (paths.length === 0) return look;
  const gone = new Set(paths);
  const isLeft = (path: string) => !gone.has(path) && !isBelowAny(path, gone);
  // With what makes them control files, the others are none any more.
  const isMarkedBy = ({ reasons, repositories }: Mark, isThere: (path: string) => boolean) =>
    repositories !== undefined || reasons === undefined || reasons.some((reason) => reason.every(isThere));
  const marks = [...look.gitMarks].filter(([, mark]) => !isMarkedBy(mark, isLeft));
  const unmarked = new Set(marks.map(([path]) => path));
  const isOneStill = (file: ProtectedFile) => isMarkedBy(file, (path) => isLeft(path) && !unmarked.has(path));
  return {
    ...look,
    files: new Map([...look.files].filter(([path, file]) => isLeft(path) && isOneStill(file))),
    gitDirectories: look.gitDirectories.filter(isLeft),
  };
}

/** A look as if at these paths there were still what was there before, if anything was. */
export function asBefore(
  look: ProtectedFileScan,
  before: ProtectedFileScan,
  paths: readonly string[],
): ProtectedFileScan {
  const files = new Map(look.files);
  const there = new Set(paths);
  for (const [path, file] of before.files) {
    // With a link what it leads to is no control file for a while.
    const isBehind = !files.has(path) && file.reasons?.some((reason) => reason.some((one) => there.has(one)));
    if (there.has(path) || isBehind) files.set(path, file);
  }
  const gitDirectories = before.gitDirectories.filter((path) => paths.includes(path));
  return { ...look, files, gitDirectories: [...new Set([...look.gitDirectories, ...gitDirectories])] };
}

/**
 * A look in which some directories could not be looked into, but may be later: what was known is still to be expected
 * there, or wherever they have come to lie.
 * @param isHeld for the directories in which no command can have written; only these are taken for what was there.
 */
export function withExpected(
  look: ProtectedFileScan,
  before: ProtectedFileScan,
  isHeld: (directory: UnlistableDirectory) => boolean,
): ProtectedFileScan {
  const directories = [...look.unlistable.values()];
  if (directories.every(isHeld)) return look;
  const isExpected = (path: string) => before.files.has(path) && !look.files.has(path);
  const expected = before.gitDirectories.filter(isExpected);
  return {
    ...look,
    files: new Map([...before.files, ...look.files]),
    gitDirectories: [...new Set([...look.gitDirectories, ...expected])],
    signs: new Map([...before.signs, ...look.signs]),
    unlistable: new Map(directories.filter(isHeld).map((directory) => [directory.identity, directory])),
  };
}

/** Whether two looks found the same. */
export function isSameScan(look: ProtectedFileScan, other: ProtectedFileScan): boolean {
  if (look.files.size !== other.files.size || look.unlistable.size !== other.unlistable.size) return false;
  for (const [path, file] of look.files) {
    const { identity, parentIdentity, target } = other.files.get(path) ?? {};
    if (identity !== file.identity || parentIdentity !== file.parentIdentity || target !== file.target)
      return false;
  }
  if (look.signs.size !== other.signs.size || look.named.size !== other.named.size) return false;
  for (const path of look.named) if (!other.named.has(path)) return false;
  for (const [identity, { path, names }] of look.signs) {
    const signs = other.signs.get(identity);
    if (signs?.path !== path || signs.names.join("/") !== names.join("/")) return false;
  }
  for (const [identity, { path }] of look.unlistable)
    if (other.unlistable.get(identity)?.path !== path) return false;
  return look.gitDirectories.join("\0") === other.gitDirectories.join("\0");
}

/** What is at a path. */
export interface SeenFile {
  /** Absolute. */
  path: string;
  kind: "directory" | "file" | "link";
  /** Which it is, under whatever name: device and inode. */
  identity: string;
  /** That of the directory it lies in. */
  parentIdentity: string;
  /** Of a link: as it is written. */
  target?: string;
  /** A real directory that is this one, or where it leads as a link. */
  leadsTo?: string | undefined;
}

/** What makes something a protected file: any of these. If empty, its own name and location do. */
export interface Mark {
  /** Links, settings and git directories that have a mark themselves: those of any list, together. */
  reasons?: readonly Reason[];
  /** Repositories without a tree, each alone. */
  repositories?: readonly string[];
}

/** An existing protected file or directory. */
export interface ProtectedFile extends SeenFile, Mark {}

/** Undefined for what is not there. */
export function lookAt(path: string): SeenFile | undefined {
  try {
    const stats = lstatSync(toSystemPath(path), { bigint: true });
    const parentIdentity = identityOf(path.slice(0, path.lastIndexOf("/")) || "/");
    const seen = { path, identity: `${stats.dev}:${stats.ino}`, parentIdentity };
    if (stats.isSymbolicLink())
      return { ...seen, kind: "link", target: readTarget(path), leadsTo: findReal(path) };
    return stats.isDirectory() ? { ...seen, kind: "directory", leadsTo: path } : { ...seen, kind: "file" };
  } catch {
    return undefined; // Missing, or behind something that is none of this user's.
  }
}

function identityOf(directory: string): string {
  const { dev, ino } = lstatSync(toSystemPath(directory), { bigint: true });
  return `${dev}:${ino}`;
}

function readTarget(path: string): string {
  return fromNameBytes(readlinkSync(toSystemPath(path), { encoding: "buffer" }));
}

function findReal(path: string): string | undefined {
  try {
    return fromNameBytes(realpathSync(toSystemPath(path), { encoding: "buffer" }));
  } catch {
    return undefined; // It leads nowhere.
  }
}

/** A directory that was read, and what tells whether it has to be read again. */
export interface KnownDirectory {
  device: bigint;
  inode: bigint;
  changedNs: bigint;
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  directories: readonly string[];
  /** Directories that are not scanned. */
  unwatched: readonly string[];
  protectedFiles: readonly string[];
  /** Entries that go into making a repository without a tree. */
  signs: readonly string[];
  /** True for one, which git takes for a repository wherever it lies. */
  isRepository: boolean;
}

/** A directory with entries that go into making a repository without a tree; most such make none. */
export interface RepositorySigns {
  /** Absolute. */
  path: string;
  /** Device and inode. */
  identity: string;
  /** The names of these entries. */
  names: readonly string[];
  isRepository: boolean;
}

/** The reasons that make a path a protected file: files and links that do so only together; absolute. */
export type Reason = readonly string[];
