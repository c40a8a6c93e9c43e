import type { ControlFile, Mark } from "./control-file.ts";
import type { KnownDirectory } from "./known-directory.ts";
import type { RepositorySigns } from "./repository-signs.ts";

/** A directory that may not be listed, or in which nothing may be looked at: what comes about in it goes unseen. */
export interface UnlistableDirectory {
  /** Absolute. */
  path: string;
  /** Which it is: device and inode. */
  identity: string;
}

/** What there is of control files at one moment. */
export interface ControlLook {
  /** By absolute path. */
  files: ReadonlyMap<string, ControlFile>;
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
export function withoutFiles(look: ControlLook, paths: readonly string[]): ControlLook {
  if (paths.length === 0) return look;
  const gone = new Set(paths);
  const isLeft = (path: string) => !gone.has(path) && !isBelowAny(path, gone);
  // With what makes them control files, the others are none any more.
  const isMarkedBy = ({ reasons, repositories }: Mark, isThere: (path: string) => boolean) =>
    repositories !== undefined || reasons === undefined || reasons.some((reason) => reason.every(isThere));
  const marks = [...look.gitMarks].filter(([, mark]) => !isMarkedBy(mark, isLeft));
  const unmarked = new Set(marks.map(([path]) => path));
  const isOneStill = (file: ControlFile) => isMarkedBy(file, (path) => isLeft(path) && !unmarked.has(path));
  return {
    ...look,
    files: new Map([...look.files].filter(([path, file]) => isLeft(path) && isOneStill(file))),
    gitDirectories: look.gitDirectories.filter(isLeft),
  };
}

/** A look as if at these paths there were still what was there before, if anything was. */
export function asBefore(look: ControlLook, before: ControlLook, paths: readonly string[]): ControlLook {
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
  look: ControlLook,
  before: ControlLook,
  isHeld: (directory: UnlistableDirectory) => boolean,
): ControlLook {
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
export function isSameLook(look: ControlLook, other: ControlLook): boolean {
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
