import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { findRealPath, isInside } from "../../infrastructure/reading/real-path.ts";
import type { ControlLook } from "../control/control-look.ts";
import { findHomeView, type HomeView } from "./home-view.ts";
import { assertReal, findFixed, type OwnMountsInput } from "./own-mounts.ts";
import type { PrivateTemporary } from "./private-temporary.ts";

/** What a boxed command may do where; all paths are absolute and real, parents before what lies in them. */
export interface BoxPlaces {
  /** May be written to. */
  writable: readonly string[];
  /** May be written to as well, and are to stay where they are; see `findFixed`. */
  fixed: readonly string[];
  /** Below the writable ones: may be read and run, not changed, moved or removed. */
  protected: readonly string[];
  /** Home directories that show less than what they hold; what is hidden right in them is not below. */
  homes: readonly HomeView[];
  /** Directories that are empty for a command, and files that are. */
  hiddenDirectories: readonly string[];
  hiddenFiles: readonly string[];
  /** Where temporary files go; undefined where none can be kept beyond a command. */
  temporary?: PrivateTemporary | undefined;
}

export interface PlacesInput
  extends Pick<OwnMountsInput, "roots" | "linkedGitDirectories" | "settledGitDirectories"> {
  look: ControlLook;
  /** What is to be hidden, links and missing ones included. */
  secrets: readonly string[];
  /** Home directories to be made anew, links and missing ones included; none where that is not possible. */
  homes: readonly string[];
  /** The system's temporary directories. */
  sharedTemporary: readonly string[];
  temporary: PrivateTemporary | undefined;
}

// Each costs the box some time, more with each that there is: about 40 ms together.
export const MAX_MOUNTS = 200;

// What lies in a home directory that is made anew is a mount each: 15 ms, and more with more of the project's.
const MAX_SHOWN = 100;
const MAX_MOUNTS_WITH_HOMES = 150;

// Hidden files and directories: with all of them hidden, a box takes some 30 ms more.
const MAX_HIDDEN = 300;

/**
 * Which places are what.
 * @throws Error where there are more than can be kept apart, and where one that may be written to is not what it was.
 */
export function planPlaces(input: PlacesInput): BoxPlaces {
  const { roots, look, temporary } = input;
  if (!look.isComplete) throw new Error("the project has too many directories to look after");
  const fixed = findFixed({ ...input, gitDirectories: look.gitDirectories });
  assertReal([...roots, ...fixed, ...(temporary ? [temporary.files] : [])]);
  if (temporary) assertApart(temporary.directory, roots);
  // A link cannot be held, and is put back. What it leads to is among the files.
  const held = [...look.files.values()].filter(({ kind }) => kind !== "link").map(({ path }) => path);
  // Nobody could see what comes about in them: nothing may.
  const unlistable = [...look.unlistable.values()].map(({ path }) => path);
  const places = [...held.filter((path) => !look.gitDirectories.includes(path)), ...unlistable];
  const count = fixed.length + places.length;
  if (count > MAX_MOUNTS)
    throw new Error(`the project has ${count} places to protect; ${MAX_MOUNTS} are possible`);
  const real = input.secrets.map((path) => findRealPath(path, "/") ?? path);
  const homes = findHomes(input, { real, maxShown: Math.min(MAX_SHOWN, MAX_MOUNTS_WITH_HOMES - count) });
  const all = findHidden(input, real);
  // What lies right in a home directory that is made anew is left out of it.
  const isMount = (path: string) => !homes.some(({ directory }) => dirname(path) === directory);
  const hidden = { directories: all.directories.filter(isMount), files: all.files.filter(isMount) };
  const hiddenCount = hidden.directories.length + hidden.files.length;
  if (hiddenCount > MAX_HIDDEN)
    throw new Error(`${hiddenCount} places are to be hidden; ${MAX_HIDDEN} are possible`);
  return {
    writable: byDepth(roots),
    fixed: byDepth(fixed),
    protected: byDepth(places),
    homes,
    hiddenDirectories: byDepth(hidden.directories),
    hiddenFiles: byDepth(hidden.files),
    temporary,
  };
}

/** Who can write around the session's own directory can put another one in its place. */
function assertApart(directory: string, roots: readonly string[]): void {
  const root = roots.find((path) => isInside(directory, path) || isInside(path, directory));
  if (root !== undefined)
    throw new Error(`${root}, which commands may write to, and the session's ${directory} lie in each other`);
}

/** @param real where the secrets really are; where a link stands for one, it is left out as well. */
function findHomes(
  { homes, secrets, roots, sharedTemporary }: PlacesInput,
  { real, maxShown }: { real: readonly string[]; maxShown: number },
) {
  const directories = new Map([...new Set([...homes, ...secrets.map(dirname)])].map(toRealEntry));
  const named = secrets.map((path) => `${directories.get(dirname(path))}/${basename(path)}`);
  const hidden = new Set([...named, ...real]);
  const isFree = (home: string) =>
    !roots.some((root) => isInside(home, root)) &&
    !sharedTemporary.some((directory) => isInside(home, directory));
  // One that lies in another is made anew above it, or it would show all that it holds.
  return byDepth(homes.flatMap((home) => directories.get(home) ?? []))
    .filter(isFree)
    .flatMap(
      (home) => findHomeView(home, { maxShown, isHidden: (name) => hidden.has(`${home}/${name}`) }) ?? [],
    );
}

function toRealEntry(path: string): [path: string, realPath: string | undefined] {
  return [path, findRealPath(path, "/")];
}

/** Each once, without what is hidden with a directory above it or is not there for a command. */
function findHidden({ roots, sharedTemporary }: PlacesInput, real: readonly string[]) {
  const isGone = (path: string) =>
    sharedTemporary.some((directory) => isInside(path, directory)) &&
    !roots.some((root) => isInside(path, root));
  const directories: string[] = [];
  const files: string[] = [];
  for (const path of byDepth(real)) {
    if (isGone(path) || directories.some((directory) => isInside(path, directory))) continue;
    const kind = kindOf(path);
    if (kind === "directory") directories.push(path);
    if (kind === "file") files.push(path);
  }
  const held = directories.find((directory) => roots.some((root) => isInside(root, directory)));
  if (held !== undefined) throw new Error(`the project lies in ${held}, which is kept from commands`);
  return { directories, files };
}

function byDepth(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}

function kindOf(path: string): "directory" | "file" | undefined {
  try {
    return lstatSync(path).isDirectory() ? "directory" : "file";
  } catch {
    return undefined; // Not there: nothing to hide.
  }
}
