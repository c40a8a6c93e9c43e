import { basename, dirname } from "node:path";
import { foldName } from "../../infrastructure/fold-name.ts";
import { findPlacesBehind } from "../../infrastructure/places/control-files.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import type { UnlistableDirectory } from "./control-look.ts";
import type { GitLinks } from "./git-links.ts";
import { findGitPlaces } from "./git-places.ts";
import { type DirectoryPlace, type KnownDirectory, lookForUnlistable } from "./known-directory.ts";
import type { RepositorySigns } from "./repository-signs.ts";

/** Makes a directory listable again, if it may; false where it is as it was. */
export type Reveal = (directory: UnlistableDirectory) => boolean;

interface GitDirectory {
  path: string;
  /** True for a repository without a tree. */
  isBare: boolean;
}

/** By what else than its own name it is a control file. */
type Mark = Pick<ControlFile, "reasons" | "repository">;

/** What one look gathers. */
export class ControlFindings {
  readonly files = new Map<string, ControlFile>();
  readonly unlistable = new Map<string, UnlistableDirectory>();
  readonly signs = new Map<string, RepositorySigns>();
  /** False where there are more git directories than can be looked at for every command. */
  isComplete = true;
  private readonly gitDirectories: GitDirectory[];
  /** Where commands may write. */
  private readonly writable: readonly string[];

  constructor(
    roots: readonly string[],
    gitDirectories: readonly string[],
    private readonly reveal: Reveal,
  ) {
    this.gitDirectories = gitDirectories.map((path) => ({ path, isBare: false }));
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
    const found = new Map<string, Mark>();
    for (const { path, isBare } of this.gitDirectories) {
      if (found.has(path)) continue;
      const places = findGitPlaces(path, { roots: this.writable, enter });
      const { controls, named, namedLinks, directories } = places;
      this.isComplete &&= places.isComplete;
      const mark = isBare ? { repository: path } : {};
      for (const control of controls) this.addFile(control, mark);
      // Of these not all is read that they lead to.
      for (const [link, reasons] of namedLinks) this.addEntry(link, { ...mark, reasons });
      for (const [control, reasons] of named) this.addFile(control, { ...mark, reasons });
      for (const directory of directories) found.set(directory, mark);
    }
    this.addLinks(found, gitLinks.find(found.keys(), enter));
    return [...found.keys()];
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
    this.gitDirectories.push({ path, isBare: true });
    const file = path === root ? undefined : lookAt(path);
    if (file) this.files.set(path, file);
  }

  private addNamed(path: string, root: string): void {
    const file = this.addEntry(path, {});
    if (file?.leadsTo === undefined || !this.isOurs(file.leadsTo)) return;
    const { kind, leadsTo } = file;
    if (foldName(basename(path)) === ".git") {
      this.gitDirectories.push({ path: leadsTo, isBare: false });
      return;
    }
    if (kind !== "link") return;
    // Of what stands for a directory like `.github`, only what lies at these places decides anything.
    const places = findPlacesBehind(path, root);
    if (places.length === 0) this.addTarget(path, leadsTo, {});
    for (const place of places) this.addFile(`${leadsTo}/${place}`, { reasons: [[path]] });
  }

  private addFile(path: string, mark: Mark): void {
    const file = this.addEntry(path, mark);
    if (file?.kind === "link" && file.leadsTo !== undefined && this.isOurs(file.leadsTo))
      this.addTarget(path, file.leadsTo, mark);
  }

  private addEntry(path: string, mark: Mark): ControlFile | undefined {
    const file = lookAt(path);
    const known = this.files.get(path);
    // What is one by its own name is one whatever else names it.
    const isOneAlready = known && known.reasons === undefined && known.repository === undefined;
    if (file && !isOneAlready) this.files.set(path, { ...file, ...withReasonsOf(known, mark) });
    return file;
  }

  /** What is read in the name of a link. */
  private addTarget(link: string, leadsTo: string, { reasons = [[]], ...mark }: Mark): void {
    // One that leads to all of the project would leave nothing to write to.
    if (this.writable.some((root) => isInside(root, leadsTo))) return;
    this.addEntry(leadsTo, { ...mark, reasons: reasons.map((reason) => [...reason, link]) });
  }

  /** What a link names elsewhere may be anybody's. */
  private isOurs(path: string): boolean {
    return this.writable.some((root) => isInside(path, root));
  }
}

/** It is one as long as anything makes it one. */
function withReasonsOf(known: ControlFile | undefined, mark: Mark): Mark {
  if (known?.reasons === undefined || mark.reasons === undefined) return mark;
  return { ...mark, reasons: [...known.reasons, ...mark.reasons] };
}
