import { basename, dirname } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { findLocationsBehind } from "../../infrastructure/paths/protected-files.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import {
  type DirectoryLocation,
  lookForUnlistable,
  type OutOfSight,
  readKnownDirectory,
} from "./directory.ts";
import { findGitLocations, followInside, GitLinks } from "./git.ts";
import {
  type KnownDirectory,
  lookAt,
  type Mark,
  type ProtectedFileScan,
  type Reason,
  type RepositorySigns,
  type SeenFile,
  type UnlistableDirectory,
} from "./types.ts";

interface ProtectedFileScannerOptions {
  /** The project first; the others are looked through as well, or only into where they hold too much at first. */
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories?: readonly string[];
  /** Of the roots, those that are only looked into; left out, that is found with the first look. */
  shallowRoots?: readonly string[] | undefined;
  /** A scan of more than these is not complete; 30,000 by default. */
  maxDirectories?: number;
}

interface Place extends DirectoryLocation {
  /** How many directories further down are looked into. */
  depth: number;
}

// A scan of this many that have not changed takes about 40 ms.
const MAX_DIRECTORIES = 30_000;

// Caches hold such files by the thousand; what programs read of their own settings lies near the top.
const DEPTH_IN_CACHES = 1;
const MAX_DIRECTORIES_ELSEWHERE = 5_000;
const MAX_FILES_ELSEWHERE = 100;

/**
 * Finds the protected files below directories, repeatedly: one whose entries have not changed is not read again.
 * Links are not followed.
 */
export class ProtectedFileScanner {
  private readonly roots: readonly string[];
  private readonly gitDirectories: readonly string[];
  /** Of the roots, those that hold too much to be looked through; undefined until that is known. */
  private shallowRoots: readonly string[] | undefined;
  private readonly maxDirectories: number;
  /** Directories that would not be looked through where they are now, and which they have to be. */
  private readonly followed = new Map<string, string>();
  private known: ReadonlyMap<string, KnownDirectory> = new Map();
  private readonly gitLinks = new GitLinks();

  constructor({ roots, gitDirectories = [], shallowRoots, ...limits }: ProtectedFileScannerOptions) {
    this.roots = roots;
    this.gitDirectories = gitDirectories;
    this.shallowRoots = shallowRoots;
    this.maxDirectories = limits.maxDirectories ?? MAX_DIRECTORIES;
  }

  /** @param reveal for directories that may not be listed; left out, all of them stay as they are. */
  look(reveal: Reveal = () => false): ProtectedFileScan {
    const look = this.lookThrough(reveal);
    if (this.shallowRoots !== undefined) return look;
    this.shallowRoots = this.roots.slice(1).filter((root) => this.holdsTooMuch(root, look));
    return this.shallowRoots.length === 0 ? look : this.lookThrough(reveal);
  }

  /** Looks through these as well from now on, as long as they are where they are. */
  follow(directories: readonly OutOfSight[]): void {
    for (const { path, identity } of directories) this.followed.set(path, identity);
  }

  private holdsTooMuch(root: string, { files, isComplete }: ProtectedFileScan): boolean {
    const count = (paths: Iterable<string>) => [...paths].filter((path) => isInside(path, root)).length;
    const hasMany = count(this.known.keys()) > MAX_DIRECTORIES_ELSEWHERE;
    return !isComplete || hasMany || count(files.keys()) > MAX_FILES_ELSEWHERE;
  }

  private lookThrough(reveal: Reveal): ProtectedFileScan {
    const findings = new ScanFindings(this.roots, this.gitDirectories, reveal);
    const { isComplete: isWalked, seen } = this.walk(findings);
    this.known = seen;
    const gitDirectories = findings.addGitLocations(this.gitLinks);
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

  private walk(findings: ScanFindings) {
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
  private visit(place: Place, findings: ScanFindings): KnownDirectory | undefined {
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

/** Makes a directory listable again, if it may; false where it is as it was. */
export type Reveal = (directory: UnlistableDirectory) => boolean;

interface GrowingMark {
  reasons?: Reason[];
  repositories?: string[];
}

// Planted ones come by the thousand; 0.2 ms each.
const MAX_GIT_DIRECTORIES = 2_000;

// Links can be made that lead a long way, by the thousand; 3 µs each.
const MAX_STEPS = 100_000;

// What the settings of all of them name; 25 µs each.
const MAX_NAMED = 4_000;

/** What one look gathers. */
class ScanFindings {
  readonly files = new Map<string, SeenFile & GrowingMark>();
  readonly unlistable = new Map<string, UnlistableDirectory>();
  readonly signs = new Map<string, RepositorySigns>();
  readonly named = new Set<string>();
  /** False where there are more git directories than can be looked at for every command. */
  isComplete = true;
  private stepsLeft = MAX_STEPS;
  private readonly gitDirectories = new Map<string, GrowingMark>();
  /** Where commands may write. */
  private readonly writable: readonly string[];

  constructor(
    roots: readonly string[],
    gitDirectories: readonly string[],
    private readonly reveal: Reveal,
  ) {
    for (const path of gitDirectories) this.gitDirectories.set(path, {});
    this.writable = [...roots, ...gitDirectories];
  }

  /** What a directory tells of itself and right in it. */
  addDirectory({ path, root }: DirectoryLocation, directory: KnownDirectory): void {
    const { protectedFiles, signs, isRepository } = directory;
    if (signs.length > 0) {
      const identity = `${directory.device}:${directory.inode}`;
      this.signs.set(identity, { path, identity, names: signs, isRepository });
    }
    if (isRepository) this.addRepository(path, root);
    for (const name of protectedFiles) this.addNamed(`${path}/${name}`, root);
  }

  /** True where it could be made listable. */
  addUnlistable(directory: UnlistableDirectory): boolean {
    if (this.reveal(directory)) return true;
    this.unlistable.set(directory.identity, directory);
    return false;
  }

  /** To be called after all directories: what git directories hold and name. @returns all of these. */
  addGitLocations(gitLinks: GitLinks): string[] {
    const enter = (path: string) => {
      const directory = lookForUnlistable(path);
      if (directory) this.addUnlistable(directory);
    };
    // A worktree's looks like a repository itself, and is found with the one that it belongs to.
    const found = new Map<string, GrowingMark>();
    let namedCount = 0;
    for (const [path, mark] of this.gitDirectories) {
      const known = found.get(path);
      if (known && isByItself(known)) continue;
      if (found.size > MAX_GIT_DIRECTORIES || namedCount > MAX_NAMED) {
        this.isComplete = false;
        break;
      }
      const places = findGitLocations(path, { roots: this.writable, enter });
      this.isComplete &&= places.isComplete;
      namedCount += places.namedCount;
      for (const control of places.protectedFiles) this.addFile(control, mark);
      // Of these not all is read that they lead to.
      const isMarked = !isByItself(mark);
      const through = (reasons: readonly Reason[]) => ({
        reasons: isMarked ? reasons.map((reason) => [path, ...reason]) : reasons,
      });
      for (const named of [...places.namedLinks.keys(), ...places.named.keys()]) this.named.add(named);
      for (const [link, reasons] of places.namedLinks) this.addEntry(link, through(reasons));
      for (const [control, reasons] of places.named) this.addFile(control, through(reasons));
      for (const directory of places.directories) addMark(found, directory, mark);
    }
    this.addLinks(found, gitLinks.find(found.keys(), enter));
    return [...found.keys()];
  }

  /** What makes git directories such that are none by themselves. */
  get gitMarks(): ReadonlyMap<string, Mark> {
    return new Map([...this.gitDirectories].filter(([, mark]) => !isByItself(mark)));
  }

  /** Their targets are not held: work continues through links that existed before. */
  private addLinks(
    found: ReadonlyMap<string, Mark>,
    { links, isComplete }: { links: readonly string[]; isComplete: boolean },
  ): void {
    this.isComplete &&= isComplete;
    for (const link of links) {
      let directory = dirname(link);
      while (directory !== "/" && !found.has(directory)) directory = dirname(directory);
      this.addEntry(link, found.get(directory) ?? {});
    }
  }

  /** A control file, but where commands have been given just that to write to. */
  private addRepository(path: string, root: string): void {
    const mark = { repositories: [path] };
    addMark(this.gitDirectories, path, mark);
    if (path !== root) this.addEntry(path, mark);
  }

  private addNamed(path: string, root: string): void {
    const file = this.addEntry(path, {});
    if (file === undefined) return;
    const { leadsTo, mark } = file.kind === "link" ? this.followLink(file, {}) : { ...file, mark: {} };
    if (leadsTo === undefined) return;
    if (foldName(basename(path)) === ".git") {
      addMark(this.gitDirectories, leadsTo, mark);
      return;
    }
    if (file.kind !== "link") return;
    // Of what stands for a directory like `.github`, only what lies at these places decides anything.
    const places = findLocationsBehind(path, root);
    if (places.length === 0) this.addTarget(leadsTo, mark);
    for (const place of places) this.addFile(`${leadsTo}/${place}`, mark);
  }

  private addFile(path: string, mark: Mark): void {
    const file = this.addEntry(path, mark);
    if (file?.kind !== "link") return;
    const target = this.followLink(file, mark);
    if (target.leadsTo !== undefined) this.addTarget(target.leadsTo, target.mark);
  }

  /** What is read in the name of a link, where that is there and not anybody's; all links on the way there make it so. */
  private followLink({ path, leadsTo }: SeenFile, mark: Mark): { leadsTo: string | undefined; mark: Mark } {
    this.isComplete &&= this.stepsLeft > 0;
    if (this.stepsLeft <= 0) return { leadsTo: undefined, mark };
    const { links, end, steps } = followInside(path, this.writable, { throughEnd: true });
    this.stepsLeft -= steps;
    const { reasons = [], repositories } = mark;
    const around = isByItself(mark) || repositories !== undefined ? [[], ...reasons] : reasons;
    const through = (count: number) => ({
      reasons: around.map((reason) => [...reason, ...links.slice(0, count)]),
    });
    for (const [index, further] of links.entries()) if (index > 0) this.addEntry(further, through(index));
    return { leadsTo: leadsTo === undefined ? undefined : end, mark: through(links.length) };
  }

  private addEntry(path: string, mark: Mark): SeenFile | undefined {
    const known = this.files.get(path);
    if (known) widen(known, mark);
    const file = known ?? lookAt(path);
    if (file && !known) this.files.set(path, { ...file, ...copyMark(mark) });
    return file;
  }

  private addTarget(leadsTo: string, mark: Mark): void {
    // One that leads to all of the project would leave nothing to write to.
    if (!this.writable.some((root) => isInside(root, leadsTo))) this.addEntry(leadsTo, mark);
  }
}

/** True for what is one whatever else names it. */
function isByItself({ reasons, repositories }: Mark): boolean {
  return reasons === undefined && repositories === undefined;
}

function copyMark({ reasons, repositories }: Mark): GrowingMark {
  return {
    ...(reasons && { reasons: [...reasons] }),
    ...(repositories && { repositories: [...repositories] }),
  };
}

function addMark(marks: Map<string, GrowingMark>, path: string, mark: Mark): void {
  const known = marks.get(path);
  if (known) widen(known, mark);
  else marks.set(path, copyMark(mark));
}

/** It is one as long as anything makes it one. In its place, since thousands of links may lead to one. */
function widen(known: GrowingMark, mark: Mark): void {
  if (isByItself(known)) return;
  if (isByItself(mark)) {
    delete known.reasons;
    delete known.repositories;
    return;
  }
  const { reasons = [], repositories = [] } = known;
  for (const reason of mark.reasons ?? []) reasons.push(reason);
  for (const repository of mark.repositories ?? [])
    if (!repositories.includes(repository)) repositories.push(repository);
  if (reasons.length > 0) known.reasons = reasons;
  if (repositories.length > 0) known.repositories = repositories;
}
