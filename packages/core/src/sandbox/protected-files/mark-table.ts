import type { ReadDirectory } from "../../infrastructure/fs/directory-cache.ts";
import { followLinks } from "../../infrastructure/fs/follow-links.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { directoryOf, lookAt, type SeenFile } from "../../infrastructure/fs/seen-file.ts";
import { findNamedPaths } from "../../infrastructure/paths/git-settings.ts";
import { findLocationsBehind } from "../../infrastructure/paths/protected-files.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import type { EarlierScan } from "./changes.ts";
import { type DirectoryMarks, GIT_CONTENTS, type MarkedPlace } from "./marks.ts";
import type { ProtectedFile, Reason, RepositorySigns } from "./types.ts";

interface MarkTableOptions {
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Decides what is new; without one, nothing is. */
  earlier: EarlierScan | undefined;
  maxDirectories: number;
  /** Undefined for what is not a directory or may not be listed. */
  read(place: MarkedPlace): ReadDirectory<DirectoryMarks> | undefined;
}

interface GitPlace extends MarkedPlace {
  /** See `Reason`. */
  isEstablished: boolean;
}

/** What a link stands for: some locations below its target are protected, not all of it; or a git directory, or hooks. */
type Meaning = readonly string[] | "git" | "hooks";

// Each needs two mounts at least, of which a sandbox can have 200.
const MAX_GIT_DIRECTORIES = 100;

// Links can be made that lead a long way, by the thousand; 3 µs each.
const MAX_STEPS = 100_000;

/** One scan's table of marks: what is protected and why, each path once. */
export class MarkTable {
  readonly files = new Map<string, ProtectedFile>();
  readonly named = new Set<string>();
  readonly signs = new Map<string, RepositorySigns>();
  isComplete = true;
  private readonly seen = new Map<string, SeenFile | undefined>();
  private readonly places: GitPlace[];
  /** Git directories. */
  private readonly found = new Map<string, GitPlace>();
  /** Where commands may write. */
  private readonly writable: readonly string[];
  private stepsLeft = MAX_STEPS;

  constructor(private readonly options: MarkTableOptions) {
    this.writable = [...options.roots, ...options.gitDirectories];
    this.places = options.gitDirectories.map((path) => toGitPlace(path, true));
  }

  get gitDirectories(): string[] {
    return [...this.found.keys()];
  }

  /** Adds what is protected in a directory of a working tree by its name. */
  addTree({ path, root }: MarkedPlace, { identity, content }: ReadDirectory<DirectoryMarks>): void {
    const { signs, isRepository, marks } = content;
    const all = { path, identity, names: signs, isRepository };
    if (signs.length > 0) this.signs.set(identity, all);
    if (isRepository) {
      const isEstablished = this.options.earlier?.wasRepository(all) ?? true;
      this.places.push(toGitPlace(path, isEstablished));
      // Protected itself, but where commands may write to just that.
      if (path !== root) this.add(path, { isEstablished, isByName: true });
    }
    for (const [name] of marks) {
      const file = `${path}/${name}`;
      const meaning = foldName(name) === ".git" ? "git" : findLocationsBehind(file, root);
      this.mark(file, { isEstablished: true, isByName: true }, meaning);
    }
  }

  /** To be called after all trees: adds what git directories hold and name. */
  addGitDirectories(): void {
    const visited = new Map<string, boolean>();
    for (const place of this.places) {
      const key = `${place.role} ${place.path}`;
      const earlier = visited.get(key);
      if (earlier || earlier === place.isEstablished) continue;
      visited.set(key, place.isEstablished);
      const directory = this.options.read(place);
      if (directory === undefined) continue;
      if (place.role === "git") this.found.set(place.path, place);
      this.isComplete = visited.size <= this.options.maxDirectories && this.found.size <= MAX_GIT_DIRECTORIES;
      if (!this.isComplete) break;
      this.addGitPlace(place, directory.content);
    }
    this.addNamed();
  }

  private addGitPlace(place: GitPlace, { marks, inner, isRepository }: DirectoryMarks): void {
    const { path, role, isEstablished } = place;
    const isModule = role === "modules" && isRepository;
    if (isModule) this.places.push({ ...place, role: "git" });
    for (const [name, mark] of isModule ? [] : marks) {
      const [file, reason] = [`${path}/${name}`, { isEstablished, isByName: true }];
      if (mark === "itself") this.add(file, reason);
      else this.mark(file, reason, role === "git" ? "hooks" : []);
    }
    for (const [name, innerRole] of inner) {
      const isContent = isModule && GIT_CONTENTS.has(name) && lookAt(`${path}/${name}/config`) === undefined;
      if (!isContent) this.places.push({ ...place, path: `${path}/${name}`, role: innerRole });
    }
  }

  /** Adds what git's settings name where commands may write. What they name elsewhere is safe from these. */
  private addNamed(): void {
    const within = Map.groupBy(this.found.keys(), directoryOf);
    for (const [path, place] of this.found) {
      const { named, isComplete } = findNamedPaths(path, within.get(`${path}/worktrees`) ?? []);
      this.isComplete &&= isComplete;
      for (const one of named) {
        // Neither the files that name it nor links that lead to these may be new.
        const ways = one.files.map((file) => followLinks(file, this.writable, { throughEnd: true }));
        const isByOld =
          place.isEstablished &&
          ways.every((way) => this.areUnchanged([...way.links, ...(way.end ? [way.end] : [])]));
        const { links, end } = this.follow(one.path, isByOld, false);
        for (const file of end === undefined ? links : [...links, end]) this.named.add(file);
        const reason = { isEstablished: isByOld && this.areUnchanged(links), isByName: false };
        if (end !== undefined && !this.isAroundRoot(end)) this.mark(end, reason, "hooks");
      }
    }
  }

  /** Adds a file and, for a link, those on the way and what it leads to; what that means decides what of it counts. */
  private mark(path: string, reason: Reason, meaning: Meaning): void {
    const isLink = this.add(path, reason)?.kind === "link";
    const way = isLink ? this.follow(path, reason.isEstablished, true) : { links: [], end: path };
    const end = way.end ?? "";
    const isDirectory = this.look(end)?.kind === "directory";
    // A link that leads to all of the project would leave nothing to write to.
    if (this.look(end) === undefined || (isLink && this.isAroundRoot(end))) return;
    const next = { isEstablished: reason.isEstablished && this.areUnchanged(way.links), isByName: false };
    if (meaning === "git" && isDirectory) this.places.push(toGitPlace(end, next.isEstablished));
    if (isLink && (meaning === "hooks" || meaning.length === 0)) this.add(end, next);
    if (meaning === "hooks" && isDirectory) {
      const hooks = this.options.read({ path: end, root: end, role: "hooks" });
      for (const [name] of hooks?.content.marks ?? [])
        this.mark(`${end}/${name}`, { ...next, isByName: reason.isByName }, []);
    }
    if (isLink && typeof meaning !== "string")
      for (const location of meaning) this.mark(`${end}/${location}`, next, []);
  }

  /** Adds the links on the way to something. */
  private follow(path: string, isEstablished: boolean, throughEnd: boolean) {
    if (this.stepsLeft <= 0) {
      this.isComplete = false;
      return { links: [], end: undefined };
    }
    const way = followLinks(path, this.writable, { throughEnd });
    this.stepsLeft -= way.steps;
    for (const [index, link] of way.links.entries()) {
      const isOld = isEstablished && this.areUnchanged(way.links.slice(0, index));
      this.add(link, { isEstablished: isOld, isByName: false });
    }
    return way;
  }

  private add(path: string, reason: Reason): ProtectedFile | undefined {
    const seen = this.look(path);
    if (seen === undefined) return undefined;
    const known = this.files.get(path);
    // It is so as long as anything makes it so.
    const isEstablished = reason.isEstablished || known?.isEstablished === true;
    const file = { ...seen, isEstablished, isByName: reason.isByName || known?.isByName === true };
    this.files.set(path, file);
    return file;
  }

  private isAroundRoot(path: string): boolean {
    return this.writable.some((root) => isInside(root, path));
  }

  private areUnchanged(paths: readonly string[]): boolean {
    return paths.every((path) => {
      const seen = this.look(path);
      return seen !== undefined && (this.options.earlier?.isUnchanged(seen) ?? true);
    });
  }

  private look(path: string): SeenFile | undefined {
    if (!this.seen.has(path)) this.seen.set(path, lookAt(path));
    return this.seen.get(path);
  }
}

function toGitPlace(path: string, isEstablished: boolean): GitPlace {
  return { path, root: path, role: "git", isEstablished };
}
