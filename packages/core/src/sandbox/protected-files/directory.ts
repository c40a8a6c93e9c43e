import { type BigIntStats, lstatSync, readdirSync, realpathSync } from "node:fs";
import { type DirectoryEntry, findListingRight, readDirectory } from "../../infrastructure/fs/directory.ts";
import { findStats, fromNameBytes, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { findLocationsBehind, isProtectedEntry } from "../../infrastructure/paths/protected-files.ts";
import { now } from "../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import type {
  KnownDirectory,
  Mark,
  ProtectedFile,
  ProtectedFileScan,
  RepositorySigns,
  UnlistableDirectory,
} from "./types.ts";

export interface DirectoryLocation {
  /** Absolute. */
  path: string;
  /** Of the places where commands may write, the one it lies in. */
  root: string;
}

/** The coarsest clock of a file system in use is that of FAT, two seconds. */
export const SETTLED_AFTER_MS = 3_000;

/**
 * Installed packages bring such files by the hundred, for themselves; nobody opens these directories to work in them.
 * In lower case.
 */
const UNWATCHED = "node_modules";

/**
 * Reads a directory, or returns the known contents if it has not changed. Undefined if it is not a directory, does
 * not exist, or cannot be accessed with this user's rights.
 */
export function readKnownDirectory(
  place: DirectoryLocation,
  known: KnownDirectory | undefined,
): KnownDirectory | { unlistable: UnlistableDirectory } | undefined {
  try {
    const stats = lookAtDirectory(place.path);
    if (stats === undefined) return undefined;
    if (known?.isSettled && isUnchanged(known, stats)) return known;
    const unlistable = findUnlistable(place.path, stats);
    if (unlistable !== undefined) return unlistable === "closed" ? undefined : { unlistable };
    return read(place, stats);
  } catch {
    return undefined; // Gone meanwhile. What is to be read later has changed then.
  }
}

/** For a directory of which only that matters. Undefined where it can be looked into, or is none. */
export function lookForUnlistable(path: string): UnlistableDirectory | undefined {
  try {
    const stats = lookAtDirectory(path);
    const unlistable = stats && findUnlistable(path, stats);
    return unlistable === "closed" ? undefined : unlistable;
  } catch {
    return undefined; // Below one that may not be looked into, which counts itself.
  }
}

function lookAtDirectory(path: string): BigIntStats | undefined {
  const stats = lstatSync(toSystemPath(path), { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() ? stats : undefined;
}

function isUnchanged(known: KnownDirectory, { dev, ino, ctimeNs }: BigIntStats): boolean {
  return known.inode === ino && known.device === dev && known.changedNs === ctimeNs;
}

function findUnlistable(path: string, stats: BigIntStats): UnlistableDirectory | "closed" | undefined {
  const right = findListingRight(toSystemPath(path), stats);
  if (right === "listable") return undefined;
  return right === "closed" ? right : toUnlistable(path, stats);
}

function toUnlistable(path: string, { dev, ino }: BigIntStats): UnlistableDirectory {
  return { path, identity: `${dev}:${ino}` };
}

function read(
  place: DirectoryLocation,
  stats: BigIntStats,
): KnownDirectory | { unlistable: UnlistableDirectory } {
  const isSettled = now() - Number(stats.ctimeMs) > SETTLED_AFTER_MS;
  try {
    const entries = readEntries(place);
    return { device: stats.dev, inode: stats.ino, changedNs: stats.ctimeNs, isSettled, ...entries };
  } catch (error) {
    // It lost the right in this moment, or its file system has rules of its own.
    if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? ""))
      return { unlistable: toUnlistable(place.path, stats) };
    throw error;
  }
}

function readEntries({
  path,
  root,
}: DirectoryLocation): Pick<
  KnownDirectory,
  "directories" | "unwatched" | "protectedFiles" | "signs" | "isRepository"
> {
  const directories: string[] = [];
  const unwatched: string[] = [];
  const controls: string[] = [];
  const signs: string[] = [];
  for (const entry of readSystemEntries(path)) {
    const { name, kind } = entry;
    if (isRepositorySign(entry)) signs.push(name);
    const isControlLink = () => kind === "link" && findLocationsBehind(`${path}/${name}`, root).length > 0;
    if (isProtectedEntry(path, name, root) || isControlLink()) controls.push(name);
    else if (kind === "directory") (foldName(name) === UNWATCHED ? unwatched : directories).push(name);
  }
  return {
    directories,
    unwatched,
    protectedFiles: controls,
    signs,
    isRepository: isRepositoryBySigns(signs),
  };
}

/** These git reads. */
const READ: ReadonlySet<string> = new Set(["head", "commondir"]);

/** Of these git asks only that they may be "executed", as directories and programs may. */
const PASSED: ReadonlySet<string> = new Set(["objects", "refs"]);

const LENGTHS: ReadonlySet<number> = new Set([...READ, ...PASSED].map((name) => name.length));

/** What git asks of a directory to take it for a repository; see `is_git_directory` in its source. */
function isRepositorySign({ name, kind }: DirectoryEntry): boolean {
  if (!LENGTHS.has(name.length)) return false;
  const folded = foldName(name);
  return PASSED.has(folded) || (kind !== "directory" && READ.has(folded));
}

/** Whether these entries make one. */
export function isRepositoryBySigns(signs: readonly string[]): boolean {
  if (signs.length < 2) return false;
  const folded = new Set(signs.map(foldName));
  return folded.has("head") && (folded.has("commondir") || (folded.has("objects") && folded.has("refs")));
}

/** A directory that has become a repository. */
export interface PlantedRepository extends RepositorySigns {
  /** Of the entries that make it one, those that are to go: absolute. */
  parts: readonly string[];
}

/** What has become a repository without a tree between two looks, old directories and new ones. */
export function findPlantedRepositories(
  before: ProtectedFileScan,
  after: ProtectedFileScan,
): PlantedRepository[] {
  return [...after.signs.values()].flatMap((signs) => {
    const earlier = before.signs.get(signs.identity);
    if (!signs.isRepository || earlier?.isRepository) return [];
    const added = signs.names.filter((name) => !earlier?.names.includes(name));
    // Without it there is none, and nobody keeps anything else in it.
    const heads = added.filter((name) => foldName(name) === "head");
    const parts = heads.length > 0 ? heads : added;
    return [{ ...signs, parts: parts.map((name) => `${signs.path}/${name}`) }];
  });
}

/** The scan as if these had not become repositories. */
export function withoutRepositories(
  look: ProtectedFileScan,
  planted: readonly PlantedRepository[],
  before: ProtectedFileScan,
): ProtectedFileScan {
  if (planted.length === 0) return look;
  const paths = new Set(planted.map(({ path }) => path));
  const signs = new Map(look.signs);
  for (const { identity } of planted) {
    const earlier = before.signs.get(identity);
    if (earlier) signs.set(identity, earlier);
    else signs.delete(identity);
  }
  const isOfOne = (path: string) =>
    planted.some((one) => path === one.path || /^\/(?:worktrees|modules)\//.test(restOf(path, one.path)));
  // These may lie in a directory with such a name and be the user's.
  const isOther = (path: string) => before.gitDirectories.includes(path) && !paths.has(path);
  return {
    ...look,
    signs,
    files: withoutMarksOf(look, paths),
    gitDirectories: look.gitDirectories.filter((path) => isOther(path) || !isOfOne(path)),
  };
}

/** Without what only these repositories made control files, and what only their settings and links did. */
function withoutMarksOf({ files, gitMarks }: ProtectedFileScan, planted: ReadonlySet<string>) {
  const marks: Map<string, Mark> = new Map([...files, ...gitMarks]);
  const inForce = new Set<string>();
  const isOne = ({ reasons, repositories }: Mark) =>
    (reasons === undefined && repositories === undefined) ||
    repositories?.some((path) => !planted.has(path)) ||
    reasons?.some((reason) => reason.every((path) => inForce.has(path)));
  // Settings may lie in one of these and be included by others, and so name what they named before.
  for (let known = -1; known < inForce.size; ) {
    known = inForce.size;
    for (const [path, mark] of marks) if (!inForce.has(path) && isOne(mark)) inForce.add(path);
  }
  return new Map([...files].filter(([, file]) => isOne(file)));
}

/** What follows the directory in a path; nothing for a path elsewhere. */
function restOf(path: string, directory: string): string {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length) : "";
}

/**
 * The entries of a directory, including those with names that are not valid text; see `fromNameBytes`. @throws
 * system errors.
 */
export function readSystemEntries(path: string): DirectoryEntry[] {
  if (path.isWellFormed()) {
    const entries = readDirectory(path);
    if (!entries.some(({ name }) => name.includes("\ufffd"))) return entries;
  }
  // A name that is no text would lead nowhere as a string.
  return readdirSync(toSystemPath(path), { encoding: "buffer" }).map((bytes) => {
    const name = fromNameBytes(bytes);
    return { name, kind: kindOf(`${path}/${name}`) };
  });
}

function kindOf(path: string): DirectoryEntry["kind"] {
  const stats = findStats(toSystemPath(path));
  if (stats?.isDirectory()) return "directory";
  if (stats?.isSymbolicLink()) return "link";
  return stats?.isFile() ? "file" : "other";
}

/** A directory in one that is not looked through, which was looked through before it was moved there. */
export interface OutOfSight {
  /** Absolute. */
  path: string;
  /** Device and inode. */
  identity: string;
}

// About half a second; only searched when protected files disappeared with their directories.
const MAX_SEARCHED = 30_000;

/**
 * Where directories are now that lay in sight before and hold control files, or in whose place there is a link to them.
 * @param after a complete look.
 */
export function findOutOfSight(
  before: ProtectedFileScan,
  after: ProtectedFileScan,
): { found: OutOfSight[]; lost: ProtectedFile[]; isComplete: boolean } {
  const linked = findLinked(before, after);
  const lost = findLost(before, after);
  if (lost.length === 0) return { found: linked, lost, isComplete: true };
  const { found, isComplete } = search(findAround(lost, before), after);
  return { found: [...linked, ...found], lost, isComplete };
}

/** Protected files that cannot be found any more. In a sandbox they can only be moved together with a directory. */
function findLost(before: ProtectedFileScan, after: ProtectedFileScan): ProtectedFile[] {
  const isItself = ({ path, reasons, repositories = [path] }: ProtectedFile) =>
    reasons === undefined && repositories.includes(path);
  const isGone = (file: ProtectedFile) =>
    file.kind !== "link" && isItself(file) && !after.files.has(file.path);
  const gone = [...before.files.values()].filter(isGone);
  if (gone.length === 0) return gone;
  const identities = new Set([...after.files.values()].map(({ identity }) => identity));
  return gone.filter(({ identity }) => !identities.has(identity));
}

/** The directories around them, by identity. */
function findAround(lost: readonly ProtectedFile[], { directories }: ProtectedFileScan): Set<string> {
  const around = new Set(lost.map(({ parentIdentity }) => parentIdentity));
  for (const { path } of lost)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = directories.get(path.slice(0, end));
      if (directory) around.add(toIdentity(directory));
    }
  return around;
}

/** Looks through what is not looked through otherwise and can be written to. The outermost only. */
function search(wanted: ReadonlySet<string>, { directories, gitDirectories }: ProtectedFileScan) {
  const unwatched = [...directories].flatMap(([path, known]) =>
    known.unwatched.map((name) => `${path}/${name}`),
  );
  const places = [...unwatched, ...gitDirectories];
  const found: OutOfSight[] = [];
  let searched = 0;
  for (const path of places) {
    searched += 1;
    if (searched > MAX_SEARCHED) return { found, isComplete: false };
    const identity = findIdentity(path);
    if (identity === undefined) continue;
    if (wanted.has(identity)) found.push({ path, identity });
    else for (const name of directoriesIn(path)) places.push(`${path}/${name}`);
  }
  return { found, isComplete: true };
}

/** Directories in whose place there is a link that leads to them, wherever that is. */
function findLinked(before: ProtectedFileScan, after: ProtectedFileScan): OutOfSight[] {
  const found: OutOfSight[] = [];
  for (const [path, directory] of before.directories) {
    // Of those that are gone, the outermost.
    if (after.directories.has(path)) continue;
    if (!after.directories.has(path.slice(0, path.lastIndexOf("/")))) continue;
    const place = followLink(path);
    const identity = toIdentity(directory);
    if (place !== undefined && !after.directories.has(place) && findIdentity(place) === identity)
      found.push({ path: place, identity });
  }
  return found;
}

function toIdentity({ device, inode }: KnownDirectory): string {
  return `${device}:${inode}`;
}

/** Of a real directory. */
function findIdentity(path: string): string | undefined {
  try {
    const stats = lstatSync(toSystemPath(path), { bigint: true });
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined; // Gone, or in what may not be looked into.
  }
}

function followLink(path: string): string | undefined {
  try {
    if (!lstatSync(toSystemPath(path)).isSymbolicLink()) return undefined;
    return fromNameBytes(realpathSync(toSystemPath(path), { encoding: "buffer" }));
  } catch {
    return undefined; // Gone, or it leads nowhere.
  }
}

function directoriesIn(path: string): string[] {
  try {
    return readSystemEntries(path).flatMap(({ name, kind }) => (kind === "directory" ? [name] : []));
  } catch {
    return []; // It may not be listed, or is gone.
  }
}
