import type { ReadDirectory } from "../../infrastructure/fs/directory-cache.ts";
import type { LocatedDirectory } from "../../infrastructure/fs/listing-restorer.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import type { EarlierScan } from "./changes.ts";
import { MarkTable } from "./mark-table.ts";
import { type DirectoryMarks, MarkedDirectories, type MarkedPlace } from "./marks.ts";
import type { ProtectedFileScan } from "./types.ts";

interface ProtectedFileScannerOptions {
  /** Where commands may write, the project first; of the others, those that hold too much are only looked into. */
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories?: readonly string[];
  /** Of the roots, those that are only looked into; left out, the first scan finds out. */
  shallowRoots?: readonly string[] | undefined;
  /** A scan of more than these is not complete; 30,000 when left out. */
  maxDirectories?: number | undefined;
}

// A scan of this many that have not changed takes about 40 ms where they cannot be watched.
const MAX_DIRECTORIES = 30_000;

// Caches hold such files by the thousand; what programs read of their own settings lies near the top.
const DEPTH_IN_CACHES = 1;
const MAX_DIRECTORIES_ELSEWHERE = 5_000;
const MAX_FILES_ELSEWHERE = 100;

/** Makes a directory listable again, if it may; false where it is as it was. */
type Reveal = (directory: LocatedDirectory) => boolean;

/** What a walk through the working trees finds. */
class Walk {
  readonly directories = new Map<string, string>();
  /** Those in which something counts. */
  readonly found: { place: MarkedPlace; directory: ReadDirectory<DirectoryMarks> }[] = [];
  readonly skipped: string[] = [];
  readonly unlistable = new Map<string, LocatedDirectory>();
  isComplete = true;

  constructor(
    private readonly cache: MarkedDirectories,
    public reveal: Reveal,
  ) {}

  /** Undefined for what is not a directory, and for one that may not be listed, which is noted. */
  read(place: MarkedPlace, isInPlace = false) {
    const reading = this.cache.read(place, isInPlace);
    if (reading === undefined || "directory" in reading) return reading;
    const closed = { path: place.path, identity: reading.unlistable };
    const again = this.reveal(closed) ? this.cache.read(place, isInPlace) : undefined;
    if (again && "directory" in again) return again;
    this.unlistable.set(closed.identity, closed);
    return undefined;
  }
}

/** Finds the protected files below directories, again and again. Links in working trees are not followed. */
export class ProtectedFileScanner implements Disposable {
  private readonly cache = new MarkedDirectories();
  /** Undefined until it is known which these are. */
  private shallowRoots: readonly string[] | undefined;
  /** Skipped directories that have to be scanned, by path, with the identity that they have to have. */
  private readonly followed = new Map<string, string>();
  private walk: Walk | undefined;

  constructor(private readonly options: ProtectedFileScannerOptions) {
    this.shallowRoots = options.roots.length === 1 ? [] : options.shallowRoots;
  }

  /**
   * @param earlier decides what is new.
   * @param reveal for directories that may not be listed; left out, all of them stay as they are.
   */
  scan(earlier?: EarlierScan, reveal: Reveal = () => false): ProtectedFileScan {
    const scan = this.scanOnce(earlier, reveal);
    if (this.shallowRoots !== undefined) return scan;
    this.shallowRoots = this.options.roots.slice(1).filter((root) => holdsTooMuch(root, scan));
    this.walk = undefined;
    return this.shallowRoots.length === 0 ? scan : this.scanOnce(earlier, reveal);
  }

  /** Scans these as well from now on, as long as they are where they are. */
  follow(directories: readonly LocatedDirectory[]): void {
    for (const { path, identity } of directories) this.followed.set(path, identity);
    this.walk = undefined;
  }

  [Symbol.dispose](): void {
    this.cache[Symbol.dispose]();
  }

  private scanOnce(earlier: EarlierScan | undefined, reveal: Reveal): ProtectedFileScan {
    const { roots, gitDirectories = [], maxDirectories = MAX_DIRECTORIES } = this.options;
    const isAsBefore = this.cache.update() && roots.every((root) => this.isInPlace(root));
    const isKnown = isAsBefore && this.walk?.isComplete && this.walk.unlistable.size === 0;
    const walk = (isKnown && this.walk) || new Walk(this.cache, reveal);
    walk.reveal = reveal;
    if (walk !== this.walk) {
      this.cache.startOver();
      this.visitAll(walk);
    }
    const read = (place: MarkedPlace) => walk.read(place)?.directory;
    const table = new MarkTable({ roots, gitDirectories, earlier, read, maxDirectories });
    for (const { place, directory } of walk.found) table.addTree(place, directory);
    table.addGitDirectories();
    if (walk !== this.walk) this.cache.forgetOthers();
    this.walk = walk;
    const { directories, skipped, unlistable, isComplete } = walk;
    const { files, named, signs } = table;
    return {
      ...{ files, named, signs, directories, skipped, unlistable },
      gitDirectories: table.gitDirectories,
      shallowRoots: this.shallowRoots ?? [],
      isWalked: isComplete,
      isComplete: isComplete && table.isComplete,
    };
  }

  /** True for a root that no other directory has taken the place of. */
  private isInPlace(root: string): boolean {
    const reading = this.cache.read({ path: root, root, role: "tree" }, false);
    return reading !== undefined && "directory" in reading && reading.isInPlace;
  }

  private visitAll(walk: Walk): void {
    const { roots, maxDirectories = MAX_DIRECTORIES } = this.options;
    const places = [...roots, ...this.followed.keys()].map((path) => {
      const root = roots.find((one) => isInside(path, one)) ?? path;
      // How many directories further down are scanned.
      const depth = this.shallowRoots?.includes(path) ? DEPTH_IN_CACHES : Number.POSITIVE_INFINITY;
      return { place: { path, root, role: "tree" } as MarkedPlace, isInPlace: false, depth };
    });
    for (const { place, isInPlace, depth } of places) {
      walk.isComplete = walk.directories.size < maxDirectories;
      if (!walk.isComplete) return;
      const { path, root } = place;
      const reading = walk.read(place, isInPlace);
      if (reading === undefined) continue;
      const { directory } = reading;
      const { marks, signs, skipped, inner } = directory.content;
      // Another directory may have taken the place of one that is followed there.
      if ((this.followed.get(path) ?? directory.identity) !== directory.identity) continue;
      walk.directories.set(path, directory.identity);
      if (marks.length > 0 || signs.length > 0) walk.found.push({ place, directory });
      for (const name of skipped) walk.skipped.push(`${path}/${name}`);
      for (const [name, role] of depth > 0 ? inner : []) {
        const next = { path: `${path}/${name}`, root, role };
        places.push({ place: next, isInPlace: reading.isInPlace, depth: depth - 1 });
      }
    }
  }
}

function holdsTooMuch(root: string, { directories, files, isComplete }: ProtectedFileScan): boolean {
  const count = (paths: Iterable<string>) => [...paths].filter((path) => isInside(path, root)).length;
  const hasMany = count(directories.keys()) > MAX_DIRECTORIES_ELSEWHERE;
  return !isComplete || hasMany || count(files.keys()) > MAX_FILES_ELSEWHERE;
}
