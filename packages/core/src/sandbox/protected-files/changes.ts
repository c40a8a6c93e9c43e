import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { findPlantedRepositories, type PlantedRepository, readSystemEntries } from "./directory.ts";
import { isBelowAny, lookAt, type Mark, type ProtectedFile, type ProtectedFileScan } from "./types.ts";

/** The changes of protected files between two scans. */
export interface ProtectedFileChanges {
  /** Directories that have become repositories; what they hold is not among the others. */
  planted: readonly PlantedRepository[];
  /** Created, or replaced one that was moved with the directory it lay in. The outermost only. */
  appeared: readonly ProtectedFile[];
  /** Links that were removed or redirected. */
  lostLinks: readonly ProtectedFile[];
  /** In the place of one that no boxed command could have replaced: somebody outside has. */
  replaced: readonly ProtectedFile[];
}

/**
 * Compares two scans. @param heldGitDirectories the git directories that were held in place for every command in
 * between.
 */
export function findProtectedFileChanges(
  before: ProtectedFileScan,
  after: ProtectedFileScan,
  heldGitDirectories: readonly string[],
): ProtectedFileChanges {
  const known = new Map([...before.files.values()].map((file) => [file.identity, file]));
  const isOldFile = (path: string) => {
    const [earlier, now] = [before.files.get(path), after.files.get(path)];
    if (now === undefined) return false;
    return (earlier !== undefined && isSame(earlier, now)) || hasMovedAlong(now, known.get(now.identity));
  };
  const planted = findPlantedRepositories(before, after).filter((one) => !wasOutOfReach(one, before));
  const plantedPaths = new Set(planted.map(({ path }) => path));
  // A file that is protected only because of a new link, new settings or a new repository becomes ordinary again
  // once these are gone.
  const isOneBy = ({ reasons, repositories }: Mark, isOld: (path: string) => boolean): boolean =>
    (reasons === undefined && repositories === undefined) ||
    repositories?.some((repository) => !plantedPaths.has(repository)) === true ||
    reasons?.some((reason) => reason.every(isOld)) === true;
  const gitDirectories = new Map([...after.gitMarks].map(([path, mark]) => [path, isOneBy(mark, isOldFile)]));
  const isOneByOld = (file: ProtectedFile) =>
    isOneBy(file, (path) => gitDirectories.get(path) ?? isOldFile(path));
  const appeared: ProtectedFile[] = [];
  const replaced: ProtectedFile[] = [];
  for (const file of after.files.values()) {
    const earlier = before.files.get(file.path);
    if (earlier && isSame(earlier, file)) continue;
    // What was named before is, and was not there: whoever has replaced the settings since did not mean it.
    if (!isOneByOld(file) && !before.named.has(file.path)) continue;
    const isLoose = before.gitDirectories.includes(file.path) && !heldGitDirectories.includes(file.path);
    // It could not be moved or removed in the box, unless with the directory it lies in.
    const isHeld =
      earlier && earlier.kind !== "link" && !isLoose && earlier.parentIdentity === file.parentIdentity;
    if (isHeld) replaced.push(file);
    else if (!hasMovedAlong(file, known.get(file.identity)) && !wasOutOfReach(file, before))
      appeared.push(file);
  }
  const lostLinks = [...before.files.values()].filter(
    (file) => file.kind === "link" && after.files.get(file.path)?.target !== file.target,
  );
  const paths = new Set(appeared.map(({ path }) => path));
  return { planted, appeared: appeared.filter(({ path }) => !isBelowAny(path, paths)), lostLinks, replaced };
}

function isSame(before: ProtectedFile, after: ProtectedFile): boolean {
  // The number of what was removed may have been given to something else.
  if (before.kind !== after.kind) return false;
  return before.kind === "link" ? before.target === after.target : before.identity === after.identity;
}

/**
 * True for one that was there under another path, with the same directory around it, and came no nearer to the top, where
 * programs look first: somebody has renamed a directory.
 */
function hasMovedAlong(file: ProtectedFile, earlier: ProtectedFile | undefined): boolean {
  if (earlier === undefined || earlier.parentIdentity !== file.parentIdentity) return false;
  // A link can be removed, and its number be given to something else.
  if (earlier.kind !== file.kind || earlier.target !== file.target) return false;
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/"));
  return nameOf(earlier.path) === nameOf(file.path) && depthOf(file.path) >= depthOf(earlier.path);
}

/** True for one in a directory that could not be looked into: commands could not write in it either. */
function wasOutOfReach({ path }: Pick<ProtectedFile, "path">, { unlistable }: ProtectedFileScan): boolean {
  return [...unlistable.values()].some(
    (directory) => isInside(path, directory.path) && lookAt(directory.path)?.identity === directory.identity,
  );
}

function depthOf(path: string): number {
  return path.split("/").length;
}

// Of what is new; a repository that somebody has made since holds thousands of files.
const MAX_ENTRIES = 5_000;

/** Distinguishes files that existed at a moment from later ones, by the times that only the system sets. */
export class ChangedUntil {
  private entriesLeft = MAX_ENTRIES;
  /** What is changed now by this program itself. */
  private readonly kept = new Set<string>();

  /** @param lastMs the moment, in milliseconds since the epoch. */
  constructor(private readonly lastMs: number) {}

  /** To be called before something is moved out of a directory, which changes that. */
  keep(directory: string): void {
    if (this.isOld(directory)) this.kept.add(directory);
  }

  /** True for what was not changed since. */
  isOld(path: string): boolean {
    if (this.kept.has(path)) return true;
    try {
      return lstatSync(toSystemPath(path)).ctimeMs <= this.lastMs;
    } catch {
      return false; // Not there.
    }
  }

  /** The outermost paths of a file or directory that were created until then. */
  findOld(path: string): string[] {
    if (this.isOld(path)) return [path];
    this.entriesLeft -= 1;
    return this.entriesLeft < 0 ? [] : namesBelow(path).flatMap((name) => this.findOld(`${path}/${name}`));
  }
}

function namesBelow(path: string): string[] {
  try {
    if (!lstatSync(toSystemPath(path)).isDirectory()) return [];
    return readSystemEntries(path).map(({ name }) => name);
  } catch {
    return []; // Gone meanwhile.
  }
}

/**
 * The unapproved parts of a new protected file or directory: the outermost paths. @param written approved files
 * that are unchanged since they were written; absolute.
 */
export function findUnconsented(path: string, written: readonly string[]): string[] {
  if (!written.some((file) => isInside(file, path))) return [path];
  if (lookAt(path)?.kind !== "directory") return written.includes(path) ? [] : [path];
  const names = namesIn(path);
  return names ? names.flatMap((name) => findUnconsented(`${path}/${name}`, written)) : [path];
}

/** Undefined where that cannot be told: something else may lie beside what was written. */
function namesIn(directory: string): string[] | undefined {
  try {
    return readSystemEntries(directory).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/**
 * Of git directories, those that are mounted over themselves in every command, so that no command can exchange them: what
 * lies right in a root.
 */
export function findHeldGitDirectories(directories: Iterable<string>, roots: readonly string[]): string[] {
  return [...directories].filter((path) => !roots.includes(path) && roots.includes(dirname(path)));
}
