import { closeSync, constants, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { TimeSlicer } from "../../infrastructure/async.ts";
import { readSystemNames } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats, readLinkTarget, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { findLinkedRepository, MAX_COPIED_OBJECT_BYTES } from "../../infrastructure/paths/git.ts";
import { now, platformName } from "../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import { type FileEntry, isSameState, type TreeChange, type TreeEntry, toAbsolute } from "../entries.ts";
import type { BlobStore } from "../store/blobs.ts";
import type { CheckpointLimits } from "../types.ts";
import {
  type GitLocation,
  isAsListed,
  isGitNoise,
  isHeldPack,
  isJustChanged,
  isTransientGitFile,
  isWhole,
  type ListedDirectory,
  locateInGit,
  signGitIndex,
  signProtectedEntry,
} from "./control.ts";
import { FileReader, isUntouched, toFileEntry } from "./read-file.ts";

/** The project is too large to be recorded. */
export class TooLargeError extends Error {
  override name = "TooLargeError";
}

/** How the project is scanned again. */
interface UpdateOptions {
  signal?: AbortSignal | undefined;
  /** True: files that do not fit are noticed but not recorded, and entries beyond the limits are ignored. */
  isLenient?: boolean | undefined;
  /** True: git objects in directories without added or removed names are assumed to be unchanged. */
  isQuick?: boolean | undefined;
}

/** The project to scan, and the store for its contents. */
interface ProjectStateOptions {
  /** Absolute and real. */
  root: string;
  store: BlobStore;
  limits: CheckpointLimits;
  /** Absolute paths that are skipped. */
  except: ReadonlySet<string>;
  /** Paths of repositories, if nothing else in the project is recorded; see `findRepositories`. */
  repositories?: readonly string[] | undefined;
}

/** The entries of a project at the last scan; every content that can be recorded is in the store. */
export class ProjectState {
  private readonly reader = new FileReader();
  private readonly linkedGitDirectories: readonly string[];
  private listed: ReadonlyMap<string, ListedDirectory> = new Map();
  private unrecordedStores: readonly string[] = [];
  private heldPacks: ReadonlySet<string> = new Set();

  /**
   * Paths of files whose content is not recorded because it is too large or not readable, in the order of discovery.
   * Object stores with too much data come last.
   */
  get unrecorded(): string[] {
    return [
      ...this.pathsOf(isUnrecorded).filter((path) => !this.heldPacks.has(path)),
      ...this.unrecordedStores,
    ];
  }

  /** The same for git's objects alone, including those that only the sandbox protects. */
  get unrecordedObjects(): string[] {
    const isUnrecordedObject = (entry: TreeEntry) =>
      isUnrecorded(entry) && entry.kind === "file" && entry.isObject === true;
    return [...this.pathsOf(isUnrecordedObject), ...this.unrecordedStores];
  }

  /** True where a scope of repositories has any. */
  get hasRepositories(): boolean {
    return (this.options.repositories?.length ?? 0) + this.linkedGitDirectories.length > 0;
  }

  /** Directories that are scanned only one level deep. */
  get caches(): string[] {
    return this.pathsOf(({ kind }) => kind === "cache");
  }

  /** Diligent's own files that were edited between the last two scans, and new pipes. */
  touched: readonly string[] = [];

  /** Additions between the last two scans that undo never removes: git objects and new repositories. */
  arrived: readonly TreeChange[] = [];

  /** @param entries the entries known from before; an entry with the same times is not read again. */
  constructor(
    private readonly options: ProjectStateOptions,
    public entries: ReadonlyMap<string, TreeEntry> = new Map(),
  ) {
    const linked = findLinkedRepository(options.root);
    const all = linked ? [...new Set([linked.commonDirectory, linked.gitDirectory])] : [];
    const isHeld = (path: string) =>
      isInside(path, options.root) || all.some((other) => other !== path && isInside(path, other));
    this.linkedGitDirectories = all.filter((path) => !isHeld(path));
  }

  /**
   * Scans the whole project in time slices, records new contents, and returns the changes since the last scan.
   * @throws TooLargeError, StoppedError, and errors of the store; the known entries are unchanged then.
   */
  async update({ signal, isLenient = false, isQuick = false }: UpdateOptions = {}): Promise<TreeChange[]> {
    const known = {
      entries: this.entries,
      listed: isQuick ? this.listed : new Map(),
      heldPacks: this.heldPacks,
    };
    const scan = new ProjectScan({ ...this.options, isLenient }, known, this.reader);
    const slices = new TimeSlicer(signal);
    const { root, except, repositories } = this.options;
    const finding = {
      repositories,
      known: (path: string) => this.entries.get(path),
      except,
      gitDirectories: this.linkedGitDirectories,
      isUnchanged: (path: string, stats: Stats) => scan.isUnchanged(path, stats),
    };
    for (const found of findEntries(root, finding)) {
      if (slices.isDue) await slices.pause();
      const reading = scan.take(found, slices);
      if (reading) await reading;
    }
    if (!isLenient) this.options.store.flush();
    const changes = scan.finish();
    this.entries = scan.entries;
    this.listed = scan.listed;
    this.touched = scan.touched;
    this.arrived = scan.arrived;
    this.unrecordedStores = [...scan.unrecordedStores];
    this.heldPacks = scan.heldPacks;
    return changes;
  }

  private pathsOf(isMeant: (entry: TreeEntry) => boolean): string[] {
    const paths: string[] = [];
    for (const [path, entry] of this.entries) if (isMeant(entry)) paths.push(path);
    return paths;
  }
}

/** The result of the previous scan. */
interface KnownTree {
  entries: ReadonlyMap<string, TreeEntry>;
  /** Directories of objects that are not scanned again as long as no name is added or removed. */
  listed: ReadonlyMap<string, ListedDirectory>;
  heldPacks: ReadonlySet<string>;
}

/** One scan of the whole project. */
class ProjectScan {
  readonly entries = new Map<string, TreeEntry>();
  readonly listed = new Map<string, ListedDirectory>();
  readonly touched: string[] = [];
  readonly arrived: TreeChange[] = [];
  /** Object stores with more data than can be recorded. */
  readonly unrecordedStores = new Set<string>();
  /** Packs that commands cannot change, so their contents need not be recorded. */
  readonly heldPacks = new Set<string>();
  private readonly changes: TreeChange[] = [];
  private readonly hidden: string[] = [];
  private readonly known: ReadonlyMap<string, TreeEntry>;
  private bytes = 0;
  private count = 0;
  private objectBytes = 0;
  private objectCount = 0;

  constructor(
    private readonly options: ProjectStateOptions & { isLenient: boolean },
    private readonly before: KnownTree,
    private readonly reader: FileReader,
  ) {
    this.known = before.entries;
  }

  take(found: Found, slices: TimeSlicer): Promise<void> | undefined {
    if (found.kind === "hidden") this.hidden.push(found.path);
    else if (found.kind === "unchanged") this.takeListed(found.path);
    else if (found.kind === "entry") this.note(found.path, found.entry, found.git);
    else if (found.git?.store !== undefined) return this.takeObject(found, slices);
    else return this.takeFile(found, slices);
    return undefined;
  }

  /** Finds removed entries; an entry that is not accessible is assumed to be unchanged. */
  finish(): TreeChange[] {
    for (const [path, before] of this.known) {
      if (this.entries.has(path)) continue;
      if (this.isHidden(path)) this.entries.set(path, before);
      else this.changes.push({ path, before, after: undefined });
    }
    return this.changes;
  }

  /** True when the entries of an object directory can be assumed to be unchanged. */
  isUnchanged(path: string, stats: Stats): boolean {
    const listed = this.before.listed.get(path);
    if (listed && isAsListed(listed, stats)) return true;
    if (!isJustChanged(stats, now()))
      this.listed.set(path, { inode: stats.ino, changedMs: stats.ctimeMs, paths: [] });
    return false;
  }

  private takeListed(directory: string): void {
    const listed = this.before.listed.get(directory);
    if (!listed) return;
    this.listed.set(directory, listed);
    for (const path of [directory, ...listed.paths]) {
      const entry = this.known.get(path);
      if (entry) this.enter(path, entry);
      if (this.before.heldPacks.has(path)) this.heldPacks.add(path);
    }
  }

  /** Objects that are too large to be copied are kept as whole files, or else protected by the sandbox. */
  private takeObject(found: Extract<Found, { kind: "file" }>, slices: TimeSlicer): Promise<void> | undefined {
    const { path, stats, git } = found;
    const { objectBytes, objectCount } = this.options.limits;
    const isHuge = stats.size > MAX_COPIED_OBJECT_BYTES;
    const isBeyond = this.objectCount >= objectCount || this.objectBytes + stats.size > objectBytes;
    if (isHuge && this.takeWholeFile(found)) return undefined;
    if (isHuge && git !== undefined && isHeldPack(path, git)) {
      this.heldPacks.add(path);
      this.note(path, toFileEntry(stats), git);
      return undefined;
    }
    if (!isBeyond) return this.takeFile(found, slices);
    if (git?.store !== undefined) this.unrecordedStores.add(git.store);
    // A content recorded by an earlier scan is better than none.
    const before = this.known.get(path);
    if (before) this.enter(path, before);
    return undefined;
  }

  private takeWholeFile({ path, stats, git }: Extract<Found, { kind: "file" }>): boolean {
    const before = this.known.get(path);
    const { root, store } = this.options;
    if (before?.kind === "file" && isStillRecorded(before, stats, store)) {
      this.enter(path, before, git);
      return true;
    }
    const absolute = toAbsolute(root, path);
    if (!store.largeFiles.add(absolute, stats)) return false;
    // Another name has changed its times.
    const now = findStats(toSystemPath(absolute)) ?? stats;
    this.note(path, { ...toFileEntry(now), isWholeFile: true }, git);
    return true;
  }

  private takeFile(
    { path, stats, git }: Extract<Found, { kind: "file" }>,
    slices: TimeSlicer,
  ): Promise<void> | undefined {
    const { limits, store } = this.options;
    const before = this.known.get(path);
    // The common case: the file is unchanged.
    if (before?.kind === "file" && isStillRecorded(before, stats, store)) {
      this.enter(path, before, git);
      return undefined;
    }
    if (
      stats.size > limits.fileBytes ||
      (this.options.isLenient && git?.store === undefined && this.bytes + stats.size > limits.projectBytes)
    ) {
      this.note(path, toFileEntry(stats), git);
      return undefined;
    }
    return this.readFile({ path, stats, git }, slices);
  }

  private async readFile(
    { path, stats, git }: Pick<Extract<Found, { kind: "file" }>, "path" | "stats" | "git">,
    slices: TimeSlicer,
  ): Promise<void> {
    const read = await this.reader.read(toAbsolute(this.options.root, path), stats, slices);
    if (read?.entry.hash === undefined) return this.note(path, toFileEntry(stats), git);
    const { content } = read;
    const meaning = git && signGitIndex(path, content);
    const entry = meaning === undefined ? read.entry : { ...read.entry, meaning };
    if (!this.options.isLenient && git?.store === undefined) this.assertRoom(entry.size);
    const isKept = await this.storeContent(read.entry.hash, content);
    this.note(path, isKept ? entry : { ...entry, hash: undefined }, git);
  }

  private async storeContent(hash: string, content: Uint8Array): Promise<boolean> {
    try {
      await this.options.store.add(hash, content);
      return true;
    } catch (error) {
      if (!this.options.isLenient) throw error;
      return false; // A scan without leniency has reported it before.
    }
  }

  private note(path: string, found: TreeEntry, git?: GitLocation): void {
    const before = this.known.get(path);
    const { isLenient, limits } = this.options;
    if (before === undefined && isLenient && this.count >= limits.projectEntries) return;
    const entry = this.isOfObjectStore(found, git) ? toObject(found) : found;
    this.enter(path, entry, git);
    const isNoise = git !== undefined && isGitNoise(path);
    if (before === undefined && (isNoise || this.isArrival(entry, git)))
      this.arrived.push({ path, before, after: entry });
    else if (isNoise) return;
    else if (isChange(before, entry)) this.changes.push({ path, before, after: entry });
    else if (isTouched(before, entry)) this.touched.push(path);
  }

  /** A repository without a `.git` is only recognized if it was there before. */
  private isOfObjectStore(
    entry: TreeEntry,
    git: GitLocation | undefined,
  ): entry is Extract<TreeEntry, { kind: "file" | "directory" }> {
    if (git?.store === undefined || (entry.kind !== "file" && entry.kind !== "directory")) return false;
    return git.top !== undefined || this.known.has(git.store);
  }

  /** A new git object or repository is not a change to undo: later work may depend on it. */
  private isArrival(entry: TreeEntry, git: GitLocation | undefined): boolean {
    if (entry.kind === "control") return false;
    if ((entry.kind === "file" || entry.kind === "directory") && entry.isObject) return true;
    return git?.top !== undefined && this.known.get(git.top)?.kind !== "directory";
  }

  private enter(path: string, entry: TreeEntry, git?: GitLocation): void {
    this.entries.set(path, entry);
    const isObject =
      git?.store !== undefined || ((entry.kind === "file" || entry.kind === "directory") && entry.isObject);
    const bytes = entry.kind === "file" && entry.hash !== undefined ? entry.size : 0;
    if (isObject) {
      this.objectCount += 1;
      this.objectBytes += bytes;
      this.noteListed(path, entry);
      return;
    }
    this.count += 1;
    this.bytes += bytes;
    if (!this.options.isLenient) this.assertRoom(0);
  }

  /** Only a directory that contains nothing but unchanged files need not be scanned again. */
  private noteListed(path: string, entry: TreeEntry): void {
    const directory = path.slice(0, path.lastIndexOf("/"));
    const listed = this.listed.get(directory);
    if (listed === undefined || listed === this.before.listed.get(directory)) return;
    if (entry.kind === "file" && !entry.isFresh) listed.paths.push(path);
    else this.listed.delete(directory);
  }

  private assertRoom(more: number): void {
    const { projectEntries, projectBytes } = this.options.limits;
    if (this.count > projectEntries)
      throw new TooLargeError(`the project has more than ${projectEntries.toLocaleString("en")} files`);
    if (this.bytes + more > projectBytes)
      throw new TooLargeError(`the project has more than ${Math.round(projectBytes / 1024 / 1024)} MB in it`);
  }

  private isHidden(path: string): boolean {
    return this.hidden.some((hidden) => hidden === "" || path === hidden || path.startsWith(`${hidden}/`));
  }
}

/** Content that could not be stored before is tried again: there may be space now. */
function isStillRecorded(before: FileEntry, now: Stats, store: BlobStore): boolean {
  if (before.isFresh || !isUntouched(before, now)) return false;
  if (before.isWholeFile) return store.largeFiles.find(before) !== undefined;
  return before.hash !== undefined && store.has(before.hash);
}

function isUnrecorded(entry: TreeEntry): boolean {
  return entry.kind === "file" && entry.hash === undefined && !entry.isWholeFile;
}

/** Whether git's files have other names makes no difference: a local clone shares them, and so does what keeps them. */
function toObject(entry: Extract<TreeEntry, { kind: "file" | "directory" }>): TreeEntry {
  return entry.kind === "file"
    ? { ...entry, links: undefined, isObject: true }
    : { ...entry, isObject: true };
}

/** The creation of diligent's own files is not a change to undo; their removal is reported. */
function isChange(before: TreeEntry | undefined, now: TreeEntry): boolean {
  if (now.kind === "control") {
    if (before === undefined) return false;
    return before.kind !== "control" || !isWhole(before, now);
  }
  // An earlier version recorded only the existence of a repository.
  return !(before?.kind === "control" && !before.parts.includes("pipe")) && !isSameState(before, now);
}

/** The contents of `.diligent` are not recorded; edits in it are reported all the same. */
function isTouched(before: TreeEntry | undefined, now: TreeEntry): boolean {
  if (now.kind !== "control") return false;
  return before?.kind !== "control" || before.mark !== now.mark;
}

const MODE_BITS = 0o7777;

/** A path found by the scan, before its content is read. `git`: its location in a repository. */
type Found =
  | { path: string; kind: "file"; stats: Stats; git?: GitLocation | undefined }
  | {
      path: string;
      kind: "entry";
      entry: Exclude<TreeEntry, { kind: "file" }>;
      git?: GitLocation | undefined;
    }
  /** The path or its contents are not accessible: the earlier entries remain the best guess. */
  | { path: string; kind: "hidden" }
  /** An object directory without added or removed names since the last scan. */
  | { path: string; kind: "unchanged" };

/** Earlier knowledge, and paths to skip. */
interface FindOptions {
  /** The earlier entry of a path: a recorded directory stays one, and a cache stays one, whatever its name is now. */
  known(path: string): TreeEntry | undefined;
  /** Absolute paths that are skipped, such as the store itself. */
  except: ReadonlySet<string>;
  /** Git directories outside the root that belong to it; absolute and real. */
  gitDirectories: readonly string[];
  /** True for an object directory without added or removed names since the last scan. */
  isUnchanged(path: string, stats: Stats): boolean;
  /** Left out, the whole tree is searched. */
  repositories?: readonly string[] | undefined;
}

/** A directory to be listed. */
interface Waiting {
  path: string;
  device: number;
  git: GitLocation | undefined;
}

/**
 * Finds everything in a directory tree, each directory before its contents. Links are not followed; only the existence
 * of `.diligent` and pipes is returned, sockets and devices are skipped, and other file systems are treated as caches.
 * @param root absolute and real.
 * @throws the file system's error when `root` itself cannot be read.
 */
function* findEntries(root: string, options: FindOptions): Generator<Found> {
  const top = findStats(root);
  // The project directory was removed or replaced by a link: it contains nothing then.
  const waiting: Waiting[] = [];
  if (top?.isDirectory() && options.repositories)
    for (const found of findRepositoryEntries(root, options)) {
      yield found;
      const isDirectory = found.kind === "entry" && found.entry.kind === "directory";
      if (isDirectory && found.git) waiting.push({ path: found.path, device: top.dev, git: found.git });
    }
  else if (top?.isDirectory()) waiting.push({ path: "", device: top.dev, git: undefined });
  for (const path of options.gitDirectories) {
    const stats = findStats(toSystemPath(path));
    if (!stats?.isDirectory()) continue;
    const git = { top: path, isFixed: true };
    yield { path, kind: "entry", entry: toDirectoryEntry(stats), git };
    waiting.push({ path, device: stats.dev, git });
  }
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const names = listNames(root, directory.path);
    if (names === undefined) {
      yield { path: directory.path, kind: "hidden" };
      continue;
    }
    for (const name of names) {
      if (isUnfinished(name) || (directory.git && isTransientGitFile(name))) continue;
      const path = directory.path === "" ? name : `${directory.path}/${name}`;
      const absolute = toAbsolute(root, path);
      if (options.except.has(absolute)) continue;
      const git = locateInGit(name, path, { around: directory.git, names, known: options.known });
      const found = findEntry(absolute, { name, path, git, device: directory.device, options });
      if (found === undefined) continue;
      yield found;
      if (found.kind === "entry" && found.entry.kind === "directory")
        waiting.push({ path, device: directory.device, git });
    }
  }
}

/** The repositories themselves, each after the directories that it lies in. */
function* findRepositoryEntries(root: string, options: FindOptions): Generator<Found> {
  const { repositories = [] } = options;
  const device = findStats(root)?.dev ?? 0;
  const parents = new Set<string>();
  for (const path of repositories) {
    const names = path.split("/");
    const above = names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
    for (const parent of above.filter((each) => !parents.has(each))) {
      parents.add(parent);
      const stats = findStats(toSystemPath(toAbsolute(root, parent)));
      if (stats?.isDirectory()) yield { path: parent, kind: "entry", entry: toDirectoryEntry(stats) };
    }
    const git = { top: path, ...(path === ".git" && { isFixed: true }) };
    const name = names.at(-1) ?? path;
    const found = findEntry(toAbsolute(root, path), { name, path, git, device, options });
    if (found) yield found;
  }
}

/** Undefined when it is not readable. */
function listNames(root: string, directory: string): string[] | undefined {
  try {
    return readSystemNames(directory === "" ? root : toAbsolute(root, directory));
  } catch (error) {
    if (directory === "") throw error;
    return isGone(error) ? [] : undefined;
  }
}

interface ListedName {
  name: string;
  /** Relative to the root. */
  path: string;
  git: GitLocation | undefined;
  device: number;
  options: FindOptions;
}

function findEntry(absolute: string, { name, path, git, device, options }: ListedName): Found | undefined {
  try {
    const stats = lstatSync(toSystemPath(absolute));
    if (isProtectedName(name) || stats.isFIFO()) {
      const entry = signProtectedEntry(absolute, stats);
      return entry && { path, kind: "entry", entry };
    }
    if (stats.isFile()) return { path, kind: "file", stats, git };
    if (stats.isSymbolicLink())
      return { path, kind: "entry", entry: { kind: "link", target: readLinkTarget(absolute) }, git };
    if (!stats.isDirectory()) return undefined;
    if (git?.store !== undefined && options.isUnchanged(path, stats)) return { path, kind: "unchanged" };
    const known = options.known(path)?.kind;
    const isCache =
      stats.dev !== device ||
      known === "cache" ||
      (known !== "directory" && git === undefined && (isCacheName(name) || isMarkedAsCache(absolute)));
    if (isCache)
      return { path, kind: "entry", entry: { kind: "cache", signature: signCache(absolute, stats) } };
    return { path, kind: "entry", entry: toDirectoryEntry(stats), git };
  } catch (error) {
    return isGone(error) ? undefined : { path, kind: "hidden" };
  }
}

function toDirectoryEntry({ mode, uid, gid }: Stats): Extract<TreeEntry, { kind: "directory" }> {
  return { kind: "directory", mode: mode & MODE_BITS, uid, gid };
}

/** True for a directory of which the scan records at most that it changed. @param device that of the project. */
export function isSkippedDirectory(absolute: string, name: string, device: number | undefined): boolean {
  return (
    isProtectedName(name) ||
    isCacheName(name) ||
    isMarkedAsCache(absolute) ||
    findStats(toSystemPath(absolute))?.dev !== device
  );
}

function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "");
}

/** Diligent's own directory: never recorded, never restored, at any depth. */
const OWN_DIRECTORY = ".diligent";

/** Diligent's temporary files. */
const UNFINISHED = /^\.diligent-[0-9a-f]{12}\.tmp$/;

/**
 * Directories whose contents can be downloaded or created again, by the names their tools use. `dist`, `build` and
 * `vendor` are not among them: some users keep their own work there.
 */
const CACHES: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", ".pnpm-store", ".yarn", ".npm"],
  ...[".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".eggs"],
  ...[".gradle", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".cache"],
  ...[".terraform", ".bundle", ".dart_tool", ".zig-cache", "DerivedData"],
]);

/**
 * Tools create this file in directories that need no backup, for example Cargo in `target`; see
 * https://bford.info/cachedir/.
 */
const CACHE_TAG = "CACHEDIR.TAG";
/** The beginning of such a file. */
const CACHE_TAG_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55";

/** Marks a Python environment, whatever its directory is called. */
const ENVIRONMENT_MARK = "pyvenv.cfg";

/** True for diligent's own directory. */
function isProtectedName(name: string): boolean {
  // On macOS, both spellings usually mean the same directory.
  const known = platformName() === "darwin" ? name.toLowerCase() : name;
  return known === OWN_DIRECTORY;
}

/** True for a temporary file that replaces another one. */
function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** True for directories that tools create again. */
function isCacheName(name: string): boolean {
  return CACHES.has(name);
}

/** True for a directory whose tool marks its contents as reproducible. */
function isMarkedAsCache(directory: string): boolean {
  if (findStats(toSystemPath(`${directory}/${ENVIRONMENT_MARK}`))?.isFile()) return true;
  const tag = `${directory}/${CACHE_TAG}`;
  const isTagged = findStats(toSystemPath(tag))?.isFile() ?? false;
  return isTagged && readHead(tag, CACHE_TAG_SIGNATURE.length) === CACHE_TAG_SIGNATURE;
}

/**
 * Changes when an entry of the first level is added, removed or replaced; deeper levels are not scanned, since there
 * may be hundreds of thousands of files.
 */
export function signCache(directory: string, stats: Stats): string {
  const lines = [describe(".", stats)];
  try {
    for (const name of readSystemNames(directory)) {
      const inner = findStats(toSystemPath(`${directory}/${name}`));
      if (inner) lines.push(describe(name, inner));
    }
  } catch {
    // It is not readable, or was removed: its own times are used.
  }
  return Bun.SHA256.hash(lines.sort().join("\n"), "hex").slice(0, 32);
}

function describe(name: string, { ino, mode, mtimeMs }: Stats): string {
  return JSON.stringify([name, ino, mode, mtimeMs]);
}

function readHead(path: string, length: number): string | undefined {
  const head = Buffer.alloc(length);
  try {
    const file = openSync(
      toSystemPath(path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      return head.toString("utf8", 0, readSync(file, head, 0, length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // An unreadable file marks nothing.
  }
}
