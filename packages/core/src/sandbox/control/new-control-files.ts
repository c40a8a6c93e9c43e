import { isInside } from "../../infrastructure/reading/real-path.ts";
import { type ControlFile, lookAt, type Mark } from "./control-file.ts";
import { type ControlLook, isBelowAny } from "./control-look.ts";
import { findPlantedRepositories, type PlantedRepository } from "./repository-signs.ts";

/** What happened to control files between two looks. */
export interface ControlChanges {
  /** Directories that have become repositories; what they hold is not among the others. */
  planted: readonly PlantedRepository[];
  /** Came about, or took the place of one that was moved with the directory it lay in. The outermost only. */
  appeared: readonly ControlFile[];
  /** Links that are gone or lead elsewhere. */
  lostLinks: readonly ControlFile[];
  /** In the place of one that no boxed command could have replaced: somebody outside has. */
  replaced: readonly ControlFile[];
}

/**
 * Compares what there was with what there is.
 * @param heldGitDirectories those that were held in their places for every command meanwhile.
 */
export function findControlChanges(
  before: ControlLook,
  after: ControlLook,
  heldGitDirectories: readonly string[],
): ControlChanges {
  const known = new Map([...before.files.values()].map((file) => [file.identity, file]));
  const isOldFile = (path: string) => {
    const [earlier, now] = [before.files.get(path), after.files.get(path)];
    if (now === undefined) return false;
    return (earlier !== undefined && isSame(earlier, now)) || hasMovedAlong(now, known.get(now.identity));
  };
  const planted = findPlantedRepositories(before, after).filter((one) => !wasOutOfReach(one, before));
  const plantedPaths = new Set(planted.map(({ path }) => path));
  // What only a new link, new settings or a new repository make one goes on to be what it was, once these are gone.
  const isOneBy = ({ reasons, repositories }: Mark, isOld: (path: string) => boolean): boolean =>
    (reasons === undefined && repositories === undefined) ||
    repositories?.some((repository) => !plantedPaths.has(repository)) === true ||
    reasons?.some((reason) => reason.every(isOld)) === true;
  const gitDirectories = new Map([...after.gitMarks].map(([path, mark]) => [path, isOneBy(mark, isOldFile)]));
  const isOneByOld = (file: ControlFile) =>
    isOneBy(file, (path) => gitDirectories.get(path) ?? isOldFile(path));
  const appeared: ControlFile[] = [];
  const replaced: ControlFile[] = [];
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

function isSame(before: ControlFile, after: ControlFile): boolean {
  // The number of what was removed may have been given to something else.
  if (before.kind !== after.kind) return false;
  return before.kind === "link" ? before.target === after.target : before.identity === after.identity;
}

/**
 * True for one that was there under another path, with the same directory around it, and came no nearer to the top, where
 * programs look first: somebody has renamed a directory.
 */
function hasMovedAlong(file: ControlFile, earlier: ControlFile | undefined): boolean {
  if (earlier === undefined || earlier.parentIdentity !== file.parentIdentity) return false;
  // A link can be removed, and its number be given to something else.
  if (earlier.kind !== file.kind || earlier.target !== file.target) return false;
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/"));
  return nameOf(earlier.path) === nameOf(file.path) && depthOf(file.path) >= depthOf(earlier.path);
}

/** True for one in a directory that could not be looked into: commands could not write in it either. */
function wasOutOfReach({ path }: Pick<ControlFile, "path">, { unlistable }: ControlLook): boolean {
  return [...unlistable.values()].some(
    (directory) => isInside(path, directory.path) && lookAt(directory.path)?.identity === directory.identity,
  );
}

function depthOf(path: string): number {
  return path.split("/").length;
}
