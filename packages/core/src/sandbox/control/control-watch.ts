import { basename } from "node:path";
import { foldName } from "../../infrastructure/fold-name.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import type { ControlLook, UnlistableDirectory } from "./control-look.ts";
import { findGitPlaces } from "./git-places.ts";
import {
  type DirectoryPlace,
  type KnownDirectory,
  lookForUnlistable,
  readKnownDirectory,
} from "./known-directory.ts";

export interface ControlWatchOptions {
  /** The project first; the others are looked through as well, or only into where they hold too much at first. */
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories?: readonly string[];
  /** Of the roots, those that are only looked into; left out, that is found with the first look. */
  shallowRoots?: readonly string[] | undefined;
}

/** Makes a directory listable again, if it may; false where it is as it was. */
export type Reveal = (directory: UnlistableDirectory) => boolean;

interface Place extends DirectoryPlace {
  /** How many directories further down are looked into. */
  depth: number;
}

/** What is gathered in one look. */
interface Findings {
  files: Map<string, ControlFile>;
  gitDirectories: string[];
  unlistable: Map<string, UnlistableDirectory>;
  reveal: Reveal;
}

// A look at this many that have not changed takes about 40 ms.
const MAX_DIRECTORIES = 30_000;

// Caches hold such files by the thousand; what programs read of their own settings lies near the top.
const DEPTH_IN_CACHES = 1;
const MAX_DIRECTORIES_ELSEWHERE = 5_000;
const MAX_FILES_ELSEWHERE = 100;

/**
 * Finds the control files below directories, again and again: one whose entries have not changed is not read again.
 * Links are not followed.
 */
export class ControlWatch {
  private readonly roots: readonly string[];
  private readonly gitDirectories: readonly string[];
  /** Of the roots, those that hold too much to be looked through; undefined until that is known. */
  private shallowRoots: readonly string[] | undefined;
  private known: ReadonlyMap<string, KnownDirectory> = new Map();

  constructor({ roots, gitDirectories = [], shallowRoots }: ControlWatchOptions) {
    this.roots = roots;
    this.gitDirectories = gitDirectories;
    this.shallowRoots = shallowRoots;
  }

  /** @param reveal for directories that may not be listed; left out, all of them stay as they are. */
  look(reveal: Reveal = () => false): ControlLook {
    const look = this.lookThrough(reveal);
    if (this.shallowRoots !== undefined) return look;
    this.shallowRoots = this.roots.slice(1).filter((root) => this.holdsTooMuch(root, look));
    return this.shallowRoots.length === 0 ? look : this.lookThrough(reveal);
  }

  private holdsTooMuch(root: string, { files, isComplete }: ControlLook): boolean {
    const count = (paths: Iterable<string>) => [...paths].filter((path) => isInside(path, root)).length;
    const hasMany = count(this.known.keys()) > MAX_DIRECTORIES_ELSEWHERE;
    return !isComplete || hasMany || count(files.keys()) > MAX_FILES_ELSEWHERE;
  }

  private lookThrough(reveal: Reveal): ControlLook {
    const { roots, shallowRoots = [] } = this;
    const findings: Findings = {
      files: new Map(),
      gitDirectories: [...this.gitDirectories],
      unlistable: new Map(),
      reveal,
    };
    const { isComplete, seen } = this.walk(findings);
    this.known = seen;
    const enter = (path: string) => void enterGitDirectory(path, findings);
    const found = findings.gitDirectories.map((directory) => findGitPlaces(directory, { roots, enter }));
    for (const path of found.flatMap(({ controls }) => controls)) this.addBehind(path, findings);
    const { files, unlistable } = findings;
    const gitDirectories = found.flatMap(({ directories }) => directories);
    return { files, gitDirectories, unlistable, shallowRoots, isComplete };
  }

  private walk(findings: Findings) {
    const seen = new Map<string, KnownDirectory>();
    const places: Place[] = this.roots.map((root) => ({ path: root, root, depth: this.depthOf(root) }));
    for (const place of places) {
      if (seen.size >= MAX_DIRECTORIES) return { seen, isComplete: false };
      const directory = this.visit(place, findings);
      if (directory === undefined) continue;
      seen.set(place.path, directory);
      if (directory.isRepository) addRepository(place, findings);
      else for (const inner of this.findInside(place, directory, findings)) places.push(inner);
    }
    return { seen, isComplete: true };
  }

  private depthOf(root: string): number {
    return this.shallowRoots?.includes(root) ? DEPTH_IN_CACHES : Number.POSITIVE_INFINITY;
  }

  /** Undefined for what is no directory, or may not be looked into. */
  private visit(place: Place, findings: Findings): KnownDirectory | undefined {
    const read = () => readKnownDirectory(place, this.known.get(place.path));
    const directory = read();
    if (directory === undefined || !("unlistable" in directory)) return directory;
    const { unlistable } = directory;
    const again = findings.reveal(unlistable) ? read() : undefined;
    if (again !== undefined && !("unlistable" in again)) return again;
    findings.unlistable.set(unlistable.identity, unlistable);
    return undefined;
  }

  private findInside(place: Place, directory: KnownDirectory, findings: Findings): Place[] {
    const { path, root, depth } = place;
    for (const name of directory.controls) {
      const gitDirectory = this.addBehind(`${path}/${name}`, findings);
      if (gitDirectory !== undefined) findings.gitDirectories.push(gitDirectory);
    }
    if (depth <= 0) return [];
    return directory.directories.map((name) => ({ path: `${path}/${name}`, root, depth: depth - 1 }));
  }

  /**
   * A control file, and what is read in its name where it is a link. What a link names elsewhere may be anybody's.
   * @returns the git directory that it is or leads to.
   */
  private addBehind(path: string, { files }: Findings): string | undefined {
    const file = lookAt(path);
    if (file === undefined) return undefined;
    files.set(path, file);
    const { leadsTo } = file;
    const isOurs = leadsTo !== undefined && this.roots.some((root) => isInside(leadsTo, root));
    if (!isOurs) return undefined;
    if (foldName(basename(path)) === ".git") return leadsTo;
    // One that leads to all of the project would leave nothing to write to.
    if (file.kind !== "link" || this.roots.some((root) => isInside(root, leadsTo))) return undefined;
    const target = files.has(leadsTo) ? undefined : lookAt(leadsTo);
    if (target) files.set(leadsTo, { ...target, through: path });
    return undefined;
  }
}

/** A repository without a tree is a control file, but where commands have been given just that to write to. */
function addRepository({ path, root }: Place, { files, gitDirectories }: Findings): void {
  gitDirectories.push(path);
  const file = path === root ? undefined : lookAt(path);
  if (file) files.set(path, file);
}

function enterGitDirectory(path: string, { unlistable, reveal }: Findings): void {
  const directory = lookForUnlistable(path);
  if (directory && !reveal(directory)) unlistable.set(directory.identity, directory);
}
