import type { Stats } from "node:fs";
import type { CheckpointLimits } from "../limits.ts";
import { Slices } from "../slices.ts";
import type { BlobStore } from "../store/blob-store.ts";
import { type FileEntry, isSameState, type TreeChange, type TreeEntry } from "../tree-entry.ts";
import { isWhole } from "./control-entry.ts";
import { type Found, findEntries } from "./find-entries.ts";
import { FileReader, isUntouched, toFileEntry } from "./read-file.ts";

/** The project is too large to be kept. */
export class TooLargeError extends Error {
  override name = "TooLargeError";
}

/** How the project is looked at again. */
export interface UpdateOptions {
  signal?: AbortSignal | undefined;
  /** True: what there is no space for is noticed, but not kept; of what has come beyond the limits not even that. */
  isLenient?: boolean | undefined;
}

/** Which project is looked at, and where its contents are kept. */
export interface ProjectStateOptions {
  /** Absolute and real. */
  root: string;
  store: BlobStore;
  limits: CheckpointLimits;
  /** Absolute paths that are passed over. */
  except: ReadonlySet<string>;
}

/** What is in the project, as it was last looked at; every content that may be kept is in the store. */
export class ProjectState {
  private readonly reader = new FileReader();

  /** Paths of files whose content is not kept, since it is too large, or may not be read; sorted as they were found. */
  get unkept(): string[] {
    return this.pathsOf((entry) => entry.kind === "file" && entry.hash === undefined);
  }

  /** Directories in which nobody looks deeper than one level. */
  get caches(): string[] {
    return this.pathsOf(({ kind }) => kind === "cache");
  }

  /** What of git's and ours was edited between the last two looks, and pipes that have come. */
  touched: readonly string[] = [];

  /** @param entries what is known from before; what looks the same now is not read again. */
  constructor(
    private readonly options: ProjectStateOptions,
    public entries: ReadonlyMap<string, TreeEntry> = new Map(),
  ) {}

  /**
   * Looks at the whole project, keeps what is new in it, and returns what has changed since the last look; in pieces.
   * @throws TooLargeError, StoppedError, and errors of the store; what is known is as it was then.
   */
  async update({ signal, isLenient = false }: UpdateOptions = {}): Promise<TreeChange[]> {
    const look = new Look({ ...this.options, isLenient }, this.entries, this.reader);
    const slices = new Slices(signal);
    const { root, except } = this.options;
    for (const found of findEntries(root, { known: (path) => this.entries.get(path), except })) {
      if (slices.isDue) await slices.pause();
      const reading = look.take(found, slices);
      if (reading) await reading;
    }
    if (!isLenient) this.options.store.flush();
    const changes = look.finish();
    this.entries = look.entries;
    this.touched = look.touched;
    return changes;
  }

  private pathsOf(isMeant: (entry: TreeEntry) => boolean): string[] {
    const paths: string[] = [];
    for (const [path, entry] of this.entries) if (isMeant(entry)) paths.push(path);
    return paths;
  }
}

/** One look at everything. */
class Look {
  readonly entries = new Map<string, TreeEntry>();
  readonly touched: string[] = [];
  private readonly changes: TreeChange[] = [];
  private readonly hidden: string[] = [];
  private bytes = 0;

  constructor(
    private readonly options: ProjectStateOptions & { isLenient: boolean },
    private readonly known: ReadonlyMap<string, TreeEntry>,
    private readonly reader: FileReader,
  ) {}

  take(found: Found, slices: Slices): Promise<void> | undefined {
    if (found.kind === "hidden") this.hidden.push(found.path);
    else if (found.kind === "entry") this.note(found.path, found.entry);
    else return this.takeFile(found, slices);
    return undefined;
  }

  /** What was there and is no longer; what may not be looked at is taken for what it was. */
  finish(): TreeChange[] {
    for (const [path, before] of this.known) {
      if (this.entries.has(path)) continue;
      if (this.isHidden(path)) this.entries.set(path, before);
      else this.changes.push({ path, before, after: undefined });
    }
    return this.changes;
  }

  private takeFile(
    { path, stats }: Extract<Found, { kind: "file" }>,
    slices: Slices,
  ): Promise<void> | undefined {
    const { limits, store } = this.options;
    const before = this.known.get(path);
    // So it is with nearly all of them, at each look.
    if (before?.kind === "file" && isStillKept(before, stats, store)) {
      this.enter(path, before);
      return undefined;
    }
    if (
      stats.size > limits.fileBytes ||
      (this.options.isLenient && this.bytes + stats.size > limits.projectBytes)
    ) {
      this.note(path, toFileEntry(stats));
      return undefined;
    }
    return this.readFile(path, stats, slices);
  }

  private async readFile(
    path: string,
    stats: Extract<Found, { kind: "file" }>["stats"],
    slices: Slices,
  ): Promise<void> {
    const read = await this.reader.read(`${this.options.root}/${path}`, stats, slices);
    if (read?.entry.hash === undefined) return this.note(path, toFileEntry(stats));
    const { content, entry } = read;
    if (!this.options.isLenient) this.assertRoom(entry.size);
    this.note(path, (await this.keep(read.entry.hash, content)) ? entry : { ...entry, hash: undefined });
  }

  private async keep(hash: string, content: Uint8Array): Promise<boolean> {
    try {
      await this.options.store.keep(hash, content);
      return true;
    } catch (error) {
      if (!this.options.isLenient) throw error;
      return false; // Said by whoever has tried it without leniency before.
    }
  }

  private note(path: string, entry: TreeEntry): void {
    const before = this.known.get(path);
    if (
      before === undefined &&
      this.options.isLenient &&
      this.entries.size >= this.options.limits.projectEntries
    )
      return;
    this.enter(path, entry);
    if (isChange(before, entry)) this.changes.push({ path, before, after: entry });
    else if (isTouched(before, entry)) this.touched.push(path);
  }

  private enter(path: string, entry: TreeEntry): void {
    this.entries.set(path, entry);
    if (entry.kind === "file" && entry.hash !== undefined) this.bytes += entry.size;
    if (!this.options.isLenient) this.assertRoom(0);
  }

  private assertRoom(more: number): void {
    const { projectEntries, projectBytes } = this.options.limits;
    if (this.entries.size > projectEntries)
      throw new TooLargeError(`the project has more than ${projectEntries.toLocaleString("en")} files`);
    if (this.bytes + more > projectBytes)
      throw new TooLargeError(`the project has more than ${Math.round(projectBytes / 1024 / 1024)} MB in it`);
  }

  private isHidden(path: string): boolean {
    return this.hidden.some((hidden) => hidden === "" || path === hidden || path.startsWith(`${hidden}/`));
  }
}

/** What could not be kept before is tried again: there may be space now. */
function isStillKept(before: FileEntry, now: Stats, store: BlobStore): boolean {
  if (before.isFresh || !isUntouched(before, now)) return false;
  return before.hash !== undefined && store.has(before.hash);
}

/** That git or we have made something is no deed to be taken back; that it went away is one to be told. */
function isChange(before: TreeEntry | undefined, now: TreeEntry): boolean {
  if (now.kind !== "control") return !isSameState(before, now);
  if (before === undefined) return false;
  return before.kind !== "control" || !isWhole(before, now);
}

/** What is in the midst of `.git` or `.diligent` is not kept; that something in it was edited is to be told all the same. */
function isTouched(before: TreeEntry | undefined, now: TreeEntry): boolean {
  if (now.kind !== "control") return false;
  return before?.kind !== "control" || before.mark !== now.mark;
}
