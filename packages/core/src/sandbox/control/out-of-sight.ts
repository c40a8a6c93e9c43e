import { lstatSync, realpathSync } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import type { ControlFile } from "./control-file.ts";
import type { ControlLook } from "./control-look.ts";
import type { KnownDirectory } from "./known-directory.ts";
import { readSystemEntries } from "./system-entries.ts";

/** A directory in one that is not looked through, which was looked through before it was moved there. */
export interface OutOfSight {
  /** Absolute. */
  path: string;
  /** Device and inode. */
  identity: string;
}

// About half a second; only looked for where control files went away with the directories they lay in.
const MAX_SEARCHED = 30_000;

/**
 * Where directories are now that lay in sight before and hold control files, or in whose place there is a link to them.
 * @param after a complete look.
 */
export function findOutOfSight(
  before: ControlLook,
  after: ControlLook,
): { found: OutOfSight[]; lost: ControlFile[]; isComplete: boolean } {
  const linked = findLinked(before, after);
  const lost = findLost(before, after);
  if (lost.length === 0) return { found: linked, lost, isComplete: true };
  const { found, isComplete } = search(findAround(lost, before), after);
  return { found: [...linked, ...found], lost, isComplete };
}

/** Control files that are nowhere any more, as far as was looked. In a box they can only be moved with a directory. */
function findLost(before: ControlLook, after: ControlLook): ControlFile[] {
  const isItself = ({ path, reasons, repositories = [path] }: ControlFile) =>
    reasons === undefined && repositories.includes(path);
  const isGone = (file: ControlFile) => file.kind !== "link" && isItself(file) && !after.files.has(file.path);
  const gone = [...before.files.values()].filter(isGone);
  if (gone.length === 0) return gone;
  const identities = new Set([...after.files.values()].map(({ identity }) => identity));
  return gone.filter(({ identity }) => !identities.has(identity));
}

/** The directories around them, by identity. */
function findAround(lost: readonly ControlFile[], { directories }: ControlLook): Set<string> {
  const around = new Set(lost.map(({ parentIdentity }) => parentIdentity));
  for (const { path } of lost)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = directories.get(path.slice(0, end));
      if (directory) around.add(toIdentity(directory));
    }
  return around;
}

/** Looks through what is not looked through otherwise and can be written to. The outermost only. */
function search(wanted: ReadonlySet<string>, { directories, gitDirectories }: ControlLook) {
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
function findLinked(before: ControlLook, after: ControlLook): OutOfSight[] {
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
