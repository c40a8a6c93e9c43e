import type { Stats } from "node:fs";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import {
  type FileEntry,
  hasSameContent,
  isSameState,
  type ProtectedEntry,
  type TreeEntry,
  toAbsolute,
} from "../entries.ts";
import type { BlobStore } from "../store/blobs.ts";
import type { PlannedChange } from "../timeline.ts";
import { isWhole, signProtectedEntry } from "../tree/control.ts";
import { signGitIndex } from "../tree/git.ts";
import { readTarget, signCache } from "../tree/project-state.ts";
import { type FileReader, toFileEntry } from "../tree/read-file.ts";

const MODE_BITS = 0o7777;

/** What stands at a path now. `special`: a pipe, a socket, a device. `unknown`: it may not be looked at. */
export type Present = TreeEntry | { kind: "special" } | { kind: "unknown" } | undefined;

/** What is to be done about a path. */
export type Evaluation =
  | { kind: "restore"; change: PlannedChange; present: TreeEntry | undefined }
  /** It is as it should be. */
  | { kind: "settled"; change: PlannedChange }
  /** Somebody else has changed it since. */
  | { kind: "conflict"; change: PlannedChange; present: Present; reason?: string }
  /** What it was is not kept, or what it is would be lost. */
  | { kind: "lost"; change: PlannedChange; isCache: boolean; isControl?: true };

/** With what paths of the project are looked at. */
export interface EvaluateOptions {
  root: string;
  store: BlobStore;
  reader: FileReader;
  /** Of a larger file nothing is read. */
  fileBytes: number;
}

/** Looks at a path and says what is to be done; whatever would be overwritten is in the store then. */
export async function evaluateChange(change: PlannedChange, options: EvaluateOptions): Promise<Evaluation> {
  const { expected, target, path } = change;
  // Whoever built on an object of git's would lose what they made.
  if (target === undefined && isObject(expected)) return { kind: "settled", change };
  if (expected?.kind === "control" || target?.kind === "control")
    return evaluateProtectedEntry(change, options);
  const present = toCache(await lookAtPath(path, options), change, options.root);
  if (isEntry(present) && isSameState(present, target)) return { kind: "settled", change };
  if ([expected, target, present].some((entry) => entry?.kind === "cache"))
    return { kind: "lost", change, isCache: true };
  if (!isEntry(present)) return { kind: "conflict", change, present };
  if (!isSameState(present, expected)) return { kind: "conflict", change, present };
  const isKept = isRestorable(target, present, options.store) && isSafe(present, target);
  return isKept ? { kind: "restore", change, present } : { kind: "lost", change, isCache: false };
}

function isObject(entry: TreeEntry | undefined): boolean {
  return (entry?.kind === "file" || entry?.kind === "directory") && entry.isObject === true;
}

/** What was looked at as a cache is compared as one. */
function toCache(present: Present, { path, expected, target }: PlannedChange, root: string): Present {
  if (present?.kind !== "directory" || (expected?.kind !== "cache" && target?.kind !== "cache"))
    return present;
  const absolute = toAbsolute(root, path);
  const stats = findStats(toSystemPath(absolute));
  return stats && { kind: "cache", signature: signCache(absolute, stats) };
}

function isEntry(present: Present): present is TreeEntry | undefined {
  return present?.kind !== "special" && present?.kind !== "unknown";
}

/** What belongs to us, and pipes: nothing is done about them. */
function evaluateProtectedEntry(change: PlannedChange, { root }: EvaluateOptions): Evaluation {
  const absolute = toAbsolute(root, change.path);
  const present = findProtectedEntry(absolute);
  const isThere = change.target?.kind === "control" && present && isWhole(change.target, present);
  return isThere ? { kind: "settled", change } : { kind: "lost", change, isCache: false, isControl: true };
}

/** Undefined also for what may not be looked at: whether it is whole nobody can tell then. */
function findProtectedEntry(absolute: string): ProtectedEntry | undefined {
  try {
    const stats = findStats(toSystemPath(absolute));
    return stats && signProtectedEntry(absolute, stats);
  } catch {
    return undefined; // A directory above it may not be entered.
  }
}

function isRestorable(
  target: TreeEntry | undefined,
  present: TreeEntry | undefined,
  store: BlobStore,
): boolean {
  if (target?.kind !== "file") return true;
  if (target.hash !== undefined && store.has(target.hash)) return true;
  return present?.kind === "file" && hasSameContent(present, target);
}

/** Nothing is taken away of which there is no copy. */
function isSafe(present: TreeEntry | undefined, target: TreeEntry | undefined): boolean {
  if (present?.kind !== "file" || present.hash !== undefined) return true;
  return target?.kind === "file" && hasSameContent(present, target);
}

/** What stands at a path of the project; the content of a file is in the store then, if it can be kept. */
export async function lookAtPath(path: string, options: EvaluateOptions): Promise<Present> {
  const absolute = toAbsolute(options.root, path);
  let stats: Stats | undefined;
  try {
    if (!isReachedWithoutLinks(path, options.root)) return undefined;
    stats = findStats(toSystemPath(absolute));
    if (stats?.isSymbolicLink()) return { kind: "link", target: readTarget(absolute) };
  } catch {
    return { kind: "unknown" }; // Not for us to look at.
  }
  if (stats === undefined) return undefined;
  if (stats.isFile()) return lookAtFile(absolute, stats, options);
  if (!stats.isDirectory()) return { kind: "special" };
  const { mode, uid, gid } = stats;
  return { kind: "directory", mode: mode & MODE_BITS, uid, gid };
}

/** What is seen through a link that took a directory's place is not in the project. */
function isReachedWithoutLinks(path: string, root: string): boolean {
  const names = path.replace(/^\//, "").split("/").slice(0, -1);
  const top = path.startsWith("/") ? "" : root;
  return names.every((_, index) => {
    const above = `${top}/${names.slice(0, index + 1).join("/")}`;
    return findStats(toSystemPath(above))?.isDirectory() ?? false;
  });
}

async function lookAtFile(
  absolute: string,
  stats: Stats,
  { reader, store, fileBytes }: EvaluateOptions,
): Promise<FileEntry> {
  const read = stats.size <= fileBytes ? await reader.read(absolute, stats) : undefined;
  if (read?.entry.hash === undefined) return toFileEntry(stats);
  const meaning = signGitIndex(absolute, read.content);
  try {
    await store.keep(read.entry.hash, read.content);
    return meaning === undefined ? read.entry : { ...read.entry, meaning };
  } catch {
    return toFileEntry(stats); // No space is left: it counts as not kept, so nothing is done to it.
  }
}
