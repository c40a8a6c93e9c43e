import { lstatSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { now } from "../infrastructure/clock.ts";
import { foldName } from "../infrastructure/fold-name.ts";
import { isControlEntry } from "../infrastructure/places/control-files.ts";
import { fromNameBytes, toSystemPath } from "../infrastructure/reading/byte-name.ts";
import { type DirectoryEntry, readDirectory } from "../infrastructure/reading/directory-entries.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import { findGitPlaces } from "./git-places.ts";

/** What there is of control files at one moment. */
export interface ControlLook {
  /** By absolute path. */
  files: ReadonlyMap<string, ControlFile>;
  /** The git directories, each of which commands may write to but for its control files; parents before children. */
  gitDirectories: readonly string[];
  /** False where there are more directories than can be looked at for every command. */
  isComplete: boolean;
}

interface KnownDirectory {
  device: bigint;
  inode: bigint;
  changedNs: bigint;
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  directories: readonly string[];
  controls: readonly string[];
  /** True for a repository without a tree, which git takes for one wherever it lies. */
  isRepository: boolean;
}

interface Place {
  path: string;
  /** Of the roots, the one it lies in. */
  root: string;
  /** How many directories further down are looked into. */
  depth: number;
}

// A look at this many that have not changed takes about 40 ms.
const MAX_DIRECTORIES = 30_000;

// Caches hold such files by the thousand; what programs read of their own settings lies near the top.
const DEPTH_IN_CACHES = 1;
const MAX_DIRECTORIES_ELSEWHERE = 5_000;
const MAX_FILES_ELSEWHERE = 100;

// The coarsest clock of a file system in use is that of FAT, two seconds.
const SETTLED_AFTER_MS = 3_000;

/**
 * Installed packages bring such files by the hundred, for themselves; nobody opens these directories to work in them.
 * In lower case.
 */
const UNWATCHED = "node_modules";

/**
 * Finds the control files below directories, again and again: one whose entries have not changed is not read again.
 * Links are not followed.
 */
export class ControlWatch {
  private isMeasured = false;
  /** Of the roots, those that hold too much to be looked through. */
  private readonly caches = new Set<string>();
  private known: ReadonlyMap<string, KnownDirectory> = new Map();

  /**
   * @param roots the project first; the others are looked through as well, or only into where they hold too much at first.
   * @param gitDirectories git directories elsewhere that commands may write to.
   */
  constructor(
    private readonly roots: readonly string[],
    private readonly gitDirectories: readonly string[] = [],
  ) {}

  look(): ControlLook {
    const look = this.lookThrough();
    if (this.isMeasured) return look;
    this.isMeasured = true;
    for (const root of this.roots.slice(1)) if (this.holdsTooMuch(root, look)) this.caches.add(root);
    return this.caches.size === 0 ? look : this.lookThrough();
  }

  private holdsTooMuch(root: string, { files, isComplete }: ControlLook): boolean {
    const count = (paths: Iterable<string>) => [...paths].filter((path) => isInside(path, root)).length;
    const hasMany = count(this.known.keys()) > MAX_DIRECTORIES_ELSEWHERE;
    return !isComplete || hasMany || count(files.keys()) > MAX_FILES_ELSEWHERE;
  }

  private lookThrough(): ControlLook {
    const seen = new Map<string, KnownDirectory>();
    const files = new Map<string, ControlFile>();
    const gitDirectories = [...this.gitDirectories];
    const places: Place[] = this.roots.map((root) => ({
      path: root,
      root,
      depth: this.caches.has(root) ? DEPTH_IN_CACHES : Number.POSITIVE_INFINITY,
    }));
    let isComplete = true;
    for (const place of places) {
      if (seen.size >= MAX_DIRECTORIES) {
        isComplete = false;
        break;
      }
      const directory = this.visit(place);
      if (directory === undefined) continue;
      seen.set(place.path, directory);
      if (directory.isRepository) {
        gitDirectories.push(place.path);
        const file = place.path === place.root ? undefined : lookAt(place.path);
        if (file) files.set(place.path, file);
        continue;
      }
      const { root, depth } = place;
      for (const name of depth > 0 ? directory.directories : [])
        places.push({ path: `${place.path}/${name}`, root, depth: depth - 1 });
      for (const name of directory.controls) {
        const found = this.findBehind(`${place.path}/${name}`);
        for (const file of found.files) {
          if (file.through === undefined || !files.has(file.path)) files.set(file.path, file);
        }
        if (found.gitDirectory !== undefined) gitDirectories.push(found.gitDirectory);
      }
    }
    this.known = seen;
    const found = gitDirectories.map((directory) => findGitPlaces(directory, this.roots));
    for (const path of found.flatMap(({ controls }) => controls)) {
      for (const file of this.findBehind(path).files) {
        if (file.through === undefined || !files.has(file.path)) files.set(file.path, file);
      }
    }
    return { files, gitDirectories: found.flatMap(({ directories }) => directories), isComplete };
  }

  /** A control file, and what is read in its name where it is a link. What a link names elsewhere may be anybody's. */
  private findBehind(path: string): { files: ControlFile[]; gitDirectory?: string } {
    const file = lookAt(path);
    if (file === undefined) return { files: [] };
    const { leadsTo } = file;
    const isOurs = leadsTo !== undefined && this.roots.some((root) => isInside(leadsTo, root));
    if (!isOurs) return { files: [file] };
    if (foldName(basename(path)) === ".git") return { files: [file], gitDirectory: leadsTo };
    // One that leads to all of the project would leave nothing to write to.
    if (file.kind !== "link" || this.roots.some((root) => isInside(root, leadsTo))) return { files: [file] };
    const target = lookAt(leadsTo);
    return { files: target ? [file, { ...target, through: path }] : [file] };
  }

  /** Undefined for what is no directory, or may not be read. */
  private visit(place: Place): KnownDirectory | undefined {
    try {
      const stats = lstatSync(toSystemPath(place.path), { bigint: true });
      if (!stats.isDirectory()) return undefined;
      const known = this.known.get(place.path);
      const isSame =
        known?.isSettled &&
        known.inode === stats.ino &&
        known.device === stats.dev &&
        known.changedNs === stats.ctimeNs;
      if (isSame) return known;
      const isSettled = now() - Number(stats.ctimeMs) > SETTLED_AFTER_MS;
      return {
        device: stats.dev,
        inode: stats.ino,
        changedNs: stats.ctimeNs,
        isSettled,
        ...readEntries(place),
      };
    } catch {
      // Gone meanwhile, or not for this user. What is to be read later has changed then.
      return undefined;
    }
  }
}

function readEntries({
  path,
  root,
}: Place): Pick<KnownDirectory, "directories" | "controls" | "isRepository"> {
  const directories: string[] = [];
  const controls: string[] = [];
  const entries = readEntryNames(path);
  for (const { name, kind } of entries) {
    if (isControlEntry(path, name, root)) controls.push(name);
    else if (kind === "directory" && foldName(name) !== UNWATCHED) directories.push(name);
  }
  return { directories, controls, isRepository: isRepository(entries.map(({ name }) => name)) };
}

/** What git asks of a directory to take it for a repository, by the names in it. */
function isRepository(names: readonly string[]): boolean {
  if (!names.some((name) => name.length === 4 && foldName(name) === "head")) return false;
  const folded = new Set(names.map(foldName));
  return folded.has("commondir") || (folded.has("objects") && folded.has("refs"));
}

function readEntryNames(path: string): Pick<DirectoryEntry, "name" | "kind">[] {
  if (path.isWellFormed()) {
    const entries = readDirectory(path);
    if (!entries.some(({ name }) => name.includes("\ufffd"))) return entries;
  }
  // A name that is no text would lead nowhere as a string.
  return readdirSync(toSystemPath(path), { encoding: "buffer" }).map((bytes) => {
    const name = fromNameBytes(bytes);
    const stats = lstatSync(toSystemPath(`${path}/${name}`), { throwIfNoEntry: false });
    return { name, kind: stats?.isDirectory() ? "directory" : "other" };
  });
}
