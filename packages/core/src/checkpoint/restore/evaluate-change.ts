import type { Stats } from "node:fs";
import { findStats, readLinkTarget, toSystemPath } from "../../infrastructure/fs/stat.ts";
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
import { isWhole, signGitIndex, signProtectedEntry } from "../tree/control.ts";
import { signCache } from "../tree/project-state.ts";
import { type FileReader, toFileEntry } from "../tree/read-file.ts";

const MODE_BITS = 0o7777;

/** The current entry at a path. `special`: a pipe, a socket, a device. `unknown`: it is not accessible. */
export type Present = TreeEntry | { kind: "special" } | { kind: "unknown" } | undefined;

/** The result of comparing a path with its planned change. */
export type Evaluation =
  | { kind: "restore"; change: PlannedChange; present: TreeEntry | undefined }
  /** The path is in the target state. */
  | { kind: "settled"; change: PlannedChange }
  /** Another process has changed it since. */
  | { kind: "conflict"; change: PlannedChange; present: Present; reason?: string }
  /** The target content is not recorded, or the current content would be lost. */
  | { kind: "lost"; change: PlannedChange; isCache: boolean; isControl?: true };

/** How paths of the project are read. */
export interface EvaluateOptions {
  root: string;
  store: BlobStore;
  reader: FileReader;
  /** Larger files are not read. */
  fileBytes: number;
}

/** Compares a path with its planned change; any content that would be overwritten is in the store then. */
export async function evaluateChange(change: PlannedChange, options: EvaluateOptions): Promise<Evaluation> {
  const { expected, target, path } = change;
  // Objects of git are not removed: newer commits may depend on them.
  if (target === undefined && isObject(expected)) return { kind: "settled", change };
  if (expected?.kind === "control" || target?.kind === "control")
    return evaluateProtectedEntry(change, options);
  const present = toCache(await readEntryAt(path, options), change, options.root);
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

/** An entry that was recorded as a cache is compared as one. */
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

/** Diligent's own files and pipes: they are never restored. */
function evaluateProtectedEntry(change: PlannedChange, { root }: EvaluateOptions): Evaluation {
  const absolute = toAbsolute(root, change.path);
  const present = findProtectedEntry(absolute);
  const isThere = change.target?.kind === "control" && present && isWhole(change.target, present);
  return isThere ? { kind: "settled", change } : { kind: "lost", change, isCache: false, isControl: true };
}

/** Undefined also for an inaccessible entry, since it cannot be compared. */
function findProtectedEntry(absolute: string): ProtectedEntry | undefined {
  try {
    const stats = findStats(toSystemPath(absolute));
    return stats && signProtectedEntry(absolute, stats);
  } catch {
    return undefined; // A directory above it is not accessible.
  }
}

function isRestorable(
  target: TreeEntry | undefined,
  present: TreeEntry | undefined,
  store: BlobStore,
): boolean {
  if (target?.kind !== "file") return true;
  if (target.hash !== undefined && store.has(target.hash)) return true;
  if (target.isWholeFile && store.largeFiles.find(target) !== undefined) return true;
  return present?.kind === "file" && hasSameContent(present, target);
}

/** An entry is only removed or replaced if its content is recorded. */
function isSafe(present: TreeEntry | undefined, target: TreeEntry | undefined): boolean {
  if (present?.kind !== "file" || present.hash !== undefined) return true;
  return target?.kind === "file" && hasSameContent(present, target);
}

/** The current entry at a path of the project; a file's content is stored, if it can be. */
export async function readEntryAt(path: string, options: EvaluateOptions): Promise<Present> {
  const absolute = toAbsolute(options.root, path);
  let stats: Stats | undefined;
  try {
    if (!isReachedWithoutLinks(path, options.root)) return undefined;
    stats = findStats(toSystemPath(absolute));
    if (stats?.isSymbolicLink()) return { kind: "link", target: readLinkTarget(absolute) };
  } catch {
    return { kind: "unknown" }; // It is not accessible.
  }
  if (stats === undefined) return undefined;
  if (stats.isFile()) return readFileAt(absolute, stats, options);
  if (!stats.isDirectory()) return { kind: "special" };
  const { mode, uid, gid } = stats;
  return { kind: "directory", mode: mode & MODE_BITS, uid, gid };
}

/** A path behind a link that replaced a directory is not in the project. */
function isReachedWithoutLinks(path: string, root: string): boolean {
  const names = path.replace(/^\//, "").split("/").slice(0, -1);
  const top = path.startsWith("/") ? "" : root;
  return names.every((_, index) => {
    const above = `${top}/${names.slice(0, index + 1).join("/")}`;
    return findStats(toSystemPath(above))?.isDirectory() ?? false;
  });
}

async function readFileAt(
  absolute: string,
  stats: Stats,
  { reader, store, fileBytes }: EvaluateOptions,
): Promise<FileEntry> {
  const read = stats.size <= fileBytes ? await reader.read(absolute, stats) : undefined;
  if (read?.entry.hash === undefined) return toFileEntry(stats);
  const meaning = signGitIndex(absolute, read.content);
  try {
    await store.add(read.entry.hash, read.content);
    return meaning === undefined ? read.entry : { ...read.entry, meaning };
  } catch {
    return toFileEntry(stats); // The disk is full: the content counts as not recorded, so the file is left alone.
  }
}
