import { isInside } from "../../infrastructure/reading/real-path.ts";
import { ControlFindings, type Reveal } from "./control-findings.ts";
import type { ControlLook } from "./control-look.ts";
import { GitLinks } from "./git-links.ts";
import { type DirectoryPlace, type KnownDirectory, readKnownDirectory } from "./known-directory.ts";
import type { OutOfSight } from "./out-of-sight.ts";

export interface ControlWatchOptions {
  /** The project first; the others are looked through as well, or only into where they hold too much at first. */
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories?: readonly string[];
  /** Of the roots, those that are only looked into; left out, that is found with the first look. */
  shallowRoots?: readonly string[] | undefined;
  /** A look at more than these is not complete; 30,000 when left out. */
  maxDirectories?: number;
}

interface Place extends DirectoryPlace {
  /** How many directories further down are looked into. */
  depth: number;
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
  private readonly maxDirectories: number;
  /** Directories that would not be looked through where they are now, and which they have to be. */
  private readonly followed = new Map<string, string>();
  private known: ReadonlyMap<string, KnownDirectory> = new Map();
  private readonly gitLinks = new GitLinks();

  constructor({ roots, gitDirectories = [], shallowRoots, ...limits }: ControlWatchOptions) {
    this.roots = roots;
    this.gitDirectories = gitDirectories;
    this.shallowRoots = shallowRoots;
    this.maxDirectories = limits.maxDirectories ?? MAX_DIRECTORIES;
  }

  /** @param reveal for directories that may not be listed; left out, all of them stay as they are. */
  look(reveal: Reveal = () => false): ControlLook {
    const look = this.lookThrough(reveal);
    if (this.shallowRoots !== undefined) return look;
    this.shallowRoots = this.roots.slice(1).filter((root) => this.holdsTooMuch(root, look));
    return this.shallowRoots.length === 0 ? look : this.lookThrough(reveal);
  }

  /** Looks through these as well from now on, as long as they are where they are. */
  follow(directories: readonly OutOfSight[]): void {
    for (const { path, identity } of directories) this.followed.set(path, identity);
  }

  private holdsTooMuch(root: string, { files, isComplete }: ControlLook): boolean {
    const count = (paths: Iterable<string>) => [...paths].filter((path) => isInside(path, root)).length;
    const hasMany = count(this.known.keys()) > MAX_DIRECTORIES_ELSEWHERE;
    return !isComplete || hasMany || count(files.keys()) > MAX_FILES_ELSEWHERE;
  }

  private lookThrough(reveal: Reveal): ControlLook {
    const findings = new ControlFindings(this.roots, this.gitDirectories, reveal);
    const { isComplete: isWalked, seen } = this.walk(findings);
    this.known = seen;
    const gitDirectories = findings.addGitPlaces(this.gitLinks);
    const isComplete = isWalked && findings.isComplete;
    const { files, gitMarks, named, unlistable, signs } = findings;
    const { shallowRoots = [] } = this;
    return {
      files,
      gitDirectories,
      gitMarks,
      named,
      signs,
      unlistable,
      shallowRoots,
      directories: seen,
      isWalked,
      isComplete,
    };
  }

  private walk(findings: ControlFindings) {
    const seen = new Map<string, KnownDirectory>();
    const places: Place[] = this.roots.map((root) => ({ path: root, root, depth: this.depthOf(root) }));
    for (const path of this.followed.keys()) {
      const root = this.roots.find((one) => isInside(path, one));
      if (root !== undefined) places.push({ path, root, depth: Number.POSITIVE_INFINITY });
    }
    for (const place of places) {
      if (seen.size >= this.maxDirectories) return { seen, isComplete: false };
      const directory = this.visit(place, findings);
      if (directory === undefined || !this.isWanted(place.path, directory)) continue;
      seen.set(place.path, directory);
      findings.addDirectory(place, directory);
      for (const inner of findInside(place, directory)) places.push(inner);
    }
    return { seen, isComplete: true };
  }

  /** False for another directory in the place of one that was followed there. */
  private isWanted(path: string, { device, inode }: KnownDirectory): boolean {
    const identity = this.followed.size === 0 ? undefined : this.followed.get(path);
    return identity === undefined || identity === `${device}:${inode}`;
  }

  private depthOf(root: string): number {
    return this.shallowRoots?.includes(root) ? DEPTH_IN_CACHES : Number.POSITIVE_INFINITY;
  }

  /** Undefined for what is no directory, or may not be looked into. */
  private visit(place: Place, findings: ControlFindings): KnownDirectory | undefined {
    const read = () => readKnownDirectory(place, this.known.get(place.path));
    const directory = read();
    if (directory === undefined || !("unlistable" in directory)) return directory;
    const { unlistable } = directory;
    if (!findings.addUnlistable(unlistable)) return undefined;
    const again = read();
    if (again !== undefined && !("unlistable" in again)) return again;
    findings.unlistable.set(unlistable.identity, unlistable);
    return undefined;
  }
}

function findInside({ path, root, depth }: Place, { directories }: KnownDirectory): Place[] {
  return depth <= 0 ? [] : directories.map((name) => ({ path: `${path}/${name}`, root, depth: depth - 1 }));
}
