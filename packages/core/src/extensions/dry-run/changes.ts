import { chmodSync, closeSync, constants, lstatSync, openSync, readSync } from "node:fs";
import { listSystemNames } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import {
  findLocationsBehind,
  isBeyondRules,
  isProtectedFromCommands,
} from "../../infrastructure/paths/protected-files.ts";
import type { ProtectedAccess } from "../../infrastructure/process/shell-wrapper.ts";
import { type EntryState, listIdentities, readEntryState, readEntryStats } from "./entry-state.ts";
import type { ViewLayer } from "./view.ts";

/** One path that the command has changed in the view. */
export interface TriedChange {
  /** Of the original, absolute. */
  path: string;
  /** Undefined for what was created. */
  before?: EntryState | undefined;
  /** Undefined for what was deleted. */
  after?: EntryState | undefined;
  /** The entry in the view, which is there until the view is removed; for `after`. */
  source?: string;
  /** False where the content is the same, so that only the mode differs. */
  hasNewContent: boolean;
  /** For a deleted directory: the identities of everything below it, by absolute path. */
  below?: ReadonlyMap<string, string>;
  /** Why it is not applied, as a clause. */
  refusal?: string;
}

/** All differences between a view and the project. */
export interface TriedChanges {
  /** Parents before their contents. */
  changes: readonly TriedChange[];
  /** Touched paths that something else has changed since the view was made; absolute. */
  changedMeanwhile: readonly string[];
  /** Files that the command gave further names, by their inode in the view. */
  unchanged: ReadonlyMap<string, string>;
}

interface FindOptions {
  layers: readonly ViewLayer[];
  /** See `ProjectView`. */
  madeAtNs: bigint;
  /** What the command may do with protected files. */
  access?: ProtectedAccess | undefined;
}

/** Compares what a command has left in a view with the originals. */
export function findTriedChanges({ layers, madeAtNs, access }: FindOptions): TriedChanges {
  const changes: TriedChange[] = [];
  const changedMeanwhile: string[] = [];
  const unchanged = new Map<string, string>();
  for (const layer of layers) {
    const inner = layers
      .map(({ path }) => path)
      .filter((path) => path !== layer.path && isInside(path, layer.path));
    const walk = new LayerWalk(layer, { madeAtNs, access, inner, changes, changedMeanwhile, unchanged });
    walk.compare("");
  }
  return { changes, changedMeanwhile, unchanged };
}

interface WalkOptions extends Pick<FindOptions, "madeAtNs" | "access"> {
  /** Layers inside this one, which have their own changes. */
  inner: readonly string[];
  changes: TriedChange[];
  changedMeanwhile: string[];
  unchanged: Map<string, string>;
}

class LayerWalk {
  constructor(
    private readonly layer: ViewLayer,
    private readonly options: WalkOptions,
  ) {}

  /** Compares a directory that both have, by its path from that of the layer. */
  compare(below: string): void {
    const original = join(this.layer.path, below);
    const view = join(this.layer.view, below);
    makeReadable(view);
    const seen = new Set(listSystemNames(view));
    const names = this.layer.copied ? seen : new Set(listSystemNames(join(this.layer.changed, below)));
    for (const name of [...names].sort()) if (seen.has(name)) this.compareEntry(join(below, name));
    for (const name of listSystemNames(original).sort())
      if (!seen.has(name)) this.addDeletion(join(below, name), names.has(name));
  }

  private compareEntry(below: string): void {
    const path = join(this.layer.path, below);
    if (this.options.inner.includes(path)) return;
    const view = join(this.layer.view, below);
    const after = this.readNew(below);
    const before = readEntryState(path);
    if (after === undefined) return;
    if (before?.kind === "directory" && after.kind === "directory") {
      if (before.mode !== after.mode) this.add({ path, before, after, source: view, hasNewContent: false });
      this.compare(below);
      return;
    }
    if (this.layer.copied?.get(below) === after.identity) return;
    const isSameKind = before !== undefined && before.kind === after.kind;
    const hasNewContent =
      !isSameKind || !hasSameContent({ path, state: before }, { path: view, state: after });
    if (!hasNewContent && after.names > 1) this.options.unchanged.set(after.inode, path);
    if (!hasNewContent && before?.mode === after.mode) return;
    if (before && !isSameKind) this.addDeletion(below, true);
    const replaced = isSameKind ? before : undefined;
    this.add({ path, before: replaced, after, source: this.toSource(below), hasNewContent });
    if (after.kind === "directory") this.addAll(below);
  }

  /** Everything in a new directory. */
  private addAll(below: string): void {
    makeReadable(join(this.layer.view, below));
    for (const name of listSystemNames(join(this.layer.view, below)).sort()) {
      const inner = join(below, name);
      const after = this.readNew(inner);
      if (after === undefined) continue;
      this.add({
        path: join(this.layer.path, inner),
        after,
        source: this.toSource(inner),
        hasNewContent: true,
      });
      if (after.kind === "directory") this.addAll(inner);
    }
  }

  /** The names of one file have the same inode in the layer, but not always in the view. */
  private readNew(below: string): EntryState | undefined {
    const state = readEntryState(join(this.layer.view, below));
    const inode = readEntryState(this.toSource(below))?.inode;
    return state && inode !== undefined ? { ...state, inode } : state;
  }

  /** What is new is in the layer itself, from where it can be moved. */
  private toSource(below: string): string {
    return join(this.layer.changed, below);
  }

  private addDeletion(below: string, isMarked: boolean): void {
    const path = join(this.layer.path, below);
    if (this.options.inner.includes(path)) return;
    const before = readEntryState(path);
    if (before === undefined) return;
    const wasSeen = this.layer.copied ? this.layer.copied.has(below) : isMarked || !this.isRecent(path);
    // Something else has created it since.
    if (!wasSeen) return;
    const inside = before.kind === "directory" ? listIdentities(path) : undefined;
    for (const each of inside?.keys() ?? [])
      if (this.isRecent(each)) this.options.changedMeanwhile.push(each);
    this.add({ path, before, hasNewContent: true, ...(inside && { below: inside }) });
  }

  private add(change: TriedChange): void {
    const { changes, changedMeanwhile } = this.options;
    const refusal = this.findRefusal(change);
    changes.push({ ...change, ...(refusal !== undefined && { refusal }) });
    const isDirectory = change.before?.kind === "directory" && change.after?.kind === "directory";
    const isPresent = change.before !== undefined || readEntryState(change.path) !== undefined;
    if (!isDirectory && isPresent && this.isRecent(change.path)) changedMeanwhile.push(change.path);
  }

  /** True if the original was changed, moved or created since the view was made. */
  private isRecent(path: string): boolean {
    const stats = readEntryStats(path);
    return stats !== undefined && stats.ctimeNs >= this.options.madeAtNs;
  }

  private findRefusal({ path, after }: TriedChange): string | undefined {
    if (after && ["pipe", "socket", "device"].includes(after.kind)) return `it is a ${after.kind}`;
    const { access } = this.options;
    const { path: root } = this.layer;
    if (access?.mayWrite(path) || (access?.keepsNewFiles && after)) return undefined;
    const isProtected = isProtectedPath(path, root);
    const leadsToOne = after?.kind === "link" && findLocationsBehind(path, root).length > 0;
    return isProtected || leadsToOne ? "it controls other programs" : undefined;
  }
}

// Git obeys these, too, wherever they are below a git directory: from gitrepository-layout(5).
const GIT_POINTERS = /\/(?:commondir|gitdir|info\/attributes)$|\/(?:remotes|branches)(?:\/|$)/;

/** As for a command in the sandbox, which may write to a repository that is there already, but for what git runs and obeys. */
function isProtectedPath(path: string, root: string): boolean {
  const end = `${path}/`.indexOf("/.git/", root.length);
  const git = end < 0 ? undefined : path.slice(0, end + "/.git".length);
  if (git === undefined || git === path || readEntryState(git)?.kind !== "directory")
    return isProtectedFromCommands(path, root);
  return isBeyondRules(path, root) || GIT_POINTERS.test(path.slice(git.length));
}

function join(directory: string, name: string): string {
  return name === "" ? directory : directory === "" ? name : `${directory}/${name}`;
}

/** The view is ours: a command may have made a directory that cannot be listed. The mode has been read before. */
function makeReadable(directory: string): void {
  try {
    const stats = lstatSync(toSystemPath(directory));
    if (stats.isDirectory() && (stats.mode & 0o700) !== 0o700)
      chmodSync(toSystemPath(directory), (stats.mode & 0o7777) | 0o700);
  } catch {
    // It stays unlistable, and so empty.
  }
}

interface ReadEntry {
  path: string;
  state: EntryState;
}

const CHUNK_BYTES = 256 * 1024;
// Larger ones count as changed where the command has opened them for writing.
const MAX_COMPARED_BYTES = 256 * 1024 * 1024;

function hasSameContent(before: ReadEntry, after: ReadEntry): boolean {
  if (before.state.kind === "link") return before.state.target === after.state.target;
  if (before.state.kind !== "file") return true;
  const { size } = before.state;
  if (size !== after.state.size || size > MAX_COMPARED_BYTES) return false;
  try {
    using one = openEntry(before.path);
    using other = openEntry(after.path);
    const [ours, theirs] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const length = readSync(one.descriptor, ours, 0, CHUNK_BYTES, at);
      if (length !== readSync(other.descriptor, theirs, 0, CHUNK_BYTES, at)) return false;
      if (!ours.subarray(0, length).equals(theirs.subarray(0, length))) return false;
    }
    return true;
  } catch {
    return false; // What cannot be read cannot be shown to be the same.
  }
}

// Another program may put a pipe or a link in the place of an original.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The first bytes of a file; those of the view may be made readable first. @throws errors of the file system. */
export function readFirstBytes(path: string, maxBytes: number): Uint8Array {
  using file = openEntry(path);
  const content = Buffer.alloc(maxBytes);
  let length = 0;
  for (;;) {
    const read = readSync(file.descriptor, content, length, maxBytes - length, length);
    length += read;
    if (read === 0 || length === maxBytes) return content.subarray(0, length);
  }
}

function openEntry(path: string): Disposable & { descriptor: number } {
  const descriptor = openSync(toSystemPath(path), OPEN_FLAGS);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** Those that are made when the user applies them: none that is refused, and nothing in a directory that is refused. */
export function findApplicable(changes: readonly TriedChange[]): TriedChange[] {
  return changes.filter(({ refusal, path }) => refusal === undefined && !isBelowRefused(path, changes));
}

/** Nothing can be put into a directory that is not made. */
function isBelowRefused(path: string, changes: readonly TriedChange[]): boolean {
  return changes.some(
    ({ refusal, after, ...change }) =>
      refusal !== undefined && after?.kind === "directory" && path.startsWith(`${change.path}/`),
  );
}
