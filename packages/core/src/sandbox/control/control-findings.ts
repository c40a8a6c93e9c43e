import { basename, dirname } from "node:path";
import { foldName } from "../../infrastructure/fold-name.ts";
import { findPlacesBehind } from "../../infrastructure/places/control-files.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { lookAt, type Mark, type SeenFile } from "./control-file.ts";
import type { UnlistableDirectory } from "./control-look.ts";
import { followInside } from "./follow-inside.ts";
import type { GitLinks } from "./git-links.ts";
import { findGitPlaces } from "./git-places.ts";
import { type DirectoryPlace, type KnownDirectory, lookForUnlistable } from "./known-directory.ts";
import type { Reason } from "./named-places.ts";
import type { RepositorySigns } from "./repository-signs.ts";

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
export class ControlFindings {
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
  addDirectory({ path, root }: DirectoryPlace, directory: KnownDirectory): void {
    const { controls, signs, isRepository } = directory;
    if (signs.length > 0) {
      const identity = `${directory.device}:${directory.inode}`;
      this.signs.set(identity, { path, identity, names: signs, isRepository });
    }
    if (isRepository) this.addRepository(path, root);
    for (const name of controls) this.addNamed(`${path}/${name}`, root);
  }

  /** True where it could be made listable. */
  addUnlistable(directory: UnlistableDirectory): boolean {
    if (this.reveal(directory)) return true;
    this.unlistable.set(directory.identity, directory);
    return false;
  }

  /** To be called after all directories: what git directories hold and name. @returns all of these. */
  addGitPlaces(gitLinks: GitLinks): string[] {
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
      const places = findGitPlaces(path, { roots: this.writable, enter });
      this.isComplete &&= places.isComplete;
      namedCount += places.namedCount;
      for (const control of places.controls) this.addFile(control, mark);
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

  /** What they lead to is not held: work goes on through those that were there before. */
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
    const places = findPlacesBehind(path, root);
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
