/** What git keeps by its content, and the directories for it: it never changes, and undo never takes it away. */
interface OfObjectStore {
  isObject?: true | undefined;
}

/** A regular file. Times are milliseconds with the fraction that the system keeps. */
export interface FileEntry extends Owned, OfObjectStore {
  kind: "file";
  /** The permission bits with setuid, setgid and sticky. */
  mode: number;
  size: number;
  modifiedMs: number;
  changedMs: number;
  inode: number;
  /** SHA-256 in hexadecimal digits; undefined: the content is not kept, since it is too large or may not be read. */
  hash: string | undefined;
  /** Written so shortly before it was read that its times could not tell a change since: it has to be read again. */
  isFresh?: true | undefined;
  /** How many names it had, where these were more than one. */
  links?: number | undefined;
  /** For git's index: a hash of what it says, without the times by which git finds changed files sooner. */
  meaning?: string | undefined;
}

/** By the numbers of the system; undefined where an earlier version has kept it. No part of the state: see `isSameState`. */
export interface Owned {
  uid?: number | undefined;
  gid?: number | undefined;
}

/** A symbolic link; `target` is what is written in it. */
interface LinkEntry {
  kind: "link";
  target: string;
}

/** A directory with its permission bits; what is in it are entries of their own. */
interface DirectoryEntry extends Owned, OfObjectStore {
  kind: "directory";
  mode: number;
}

/** A directory of things that can be made again: only that something in it changed is noticed. */
interface CacheEntry {
  kind: "cache";
  signature: string;
}

/**
 * What is never kept and never touched: what belongs to us, pipes, sockets, devices. Only that it went away, or a part of
 * it, is noticed.
 */
export interface ProtectedEntry {
  kind: "control";
  /** What may not go away of it. */
  parts: readonly string[];
  /** Changes when something in it is edited that people would miss: a commit, a setting. Undefined where nobody looks. */
  mark?: number | undefined;
}

/** What stands at a path of the project. */
export type TreeEntry = FileEntry | LinkEntry | DirectoryEntry | CacheEntry | ProtectedEntry;

/** What became of a path; undefined: nothing was, or is, there. */
export interface TreeChange {
  /**
   * Relative to the project, its parts separated by `/`; see `byte-name.ts` for names that are no text. Absolute in the git
   * directory of a worktree or submodule that lies outside the project.
   */
  path: string;
  before: TreeEntry | undefined;
  after: TreeEntry | undefined;
}

/** True for the same kind, content and permissions; times do not count where the content is known, owners never. */
export function isSameState(left: TreeEntry | undefined, right: TreeEntry | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.kind === "file" && right.kind === "file")
    return left.mode === right.mode && hasSameContent(left, right);
  if (left.kind === "link" && right.kind === "link") return left.target === right.target;
  if (left.kind === "directory" && right.kind === "directory") return left.mode === right.mode;
  if (left.kind === "control" && right.kind === "control")
    return left.parts.join("/") === right.parts.join("/");
  return left.kind === "cache" && right.kind === "cache" && left.signature === right.signature;
}

/** Where one of them was not read, the same size, time and inode stand for the same content. */
export function hasSameContent(left: FileEntry, right: FileEntry): boolean {
  if (left.meaning !== undefined && right.meaning !== undefined) return left.meaning === right.meaning;
  if (left.hash !== undefined && right.hash !== undefined) return left.hash === right.hash;
  return left.size === right.size && left.modifiedMs === right.modifiedMs && left.inode === right.inode;
}

/**
 * An entry as files hold it: `["f", mode, size, modified, changed, inode, hash, flags, uid, gid, links, meaning]` and the
 * like. Flags: 1 if fresh, 2 if it belongs to an object store.
 */
export type EntryRecord = readonly (string | number | null)[];

/** A change as files hold it; null for a side on which nothing was there. */
type ChangeRecord = readonly [path: string, before: EntryRecord | null, after: EntryRecord | null];

const FRESH = 1;
const OBJECT = 2;

/** What `readEntryRecord` reads again. */
export function toEntryRecord(entry: TreeEntry): EntryRecord {
  switch (entry.kind) {
    case "file": {
      const { mode, size, modifiedMs, changedMs, inode, hash = null, uid = null, gid = null } = entry;
      const flags = (entry.isFresh ? FRESH : 0) | (entry.isObject ? OBJECT : 0);
      const { links = null, meaning } = entry;
      const rare = meaning === undefined ? [links].filter((value) => value !== null) : [links, meaning];
      return ["f", mode, size, modifiedMs, changedMs, inode, hash, flags, uid, gid, ...rare];
    }
    case "link":
      return ["l", entry.target];
    case "directory":
      return [
        ...["d", entry.mode, entry.uid ?? null, entry.gid ?? null],
        ...(entry.isObject ? [OBJECT] : []),
      ];
    case "cache":
      return ["c", entry.signature];
    case "control":
      return ["k", ...entry.parts, ...(entry.mark === undefined ? [] : [entry.mark])];
  }
}

/** Undefined for what is none. */
export function readEntryRecord(record: unknown): TreeEntry | undefined {
  if (!Array.isArray(record)) return undefined;
  const [kind, first, size, modifiedMs, changedMs, inode, hash, flags, uid, gid, ...rare]: unknown[] = record;
  if (kind === "l") return typeof first === "string" ? { kind: "link", target: first } : undefined;
  if (kind === "c") return typeof first === "string" ? { kind: "cache", signature: first } : undefined;
  if (kind === "k") return readProtectedEntry(record.slice(1));
  if (typeof first !== "number") return undefined;
  if (kind === "d")
    return { kind: "directory", mode: first, ...readOwner(record[2], record[3]), ...readObject(record[4]) };
  if (kind !== "f" || typeof size !== "number" || typeof modifiedMs !== "number") return undefined;
  if (typeof changedMs !== "number" || typeof inode !== "number") return undefined;
  if (hash !== null && !(typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash))) return undefined;
  const [links, meaning] = rare;
  return {
    kind: "file",
    mode: first,
    size,
    modifiedMs,
    changedMs,
    inode,
    hash: hash ?? undefined,
    ...readOwner(uid, gid),
    ...(typeof links === "number" && { links }),
    ...(typeof meaning === "string" && { meaning }),
    ...(typeof flags === "number" && (flags & FRESH) !== 0 && { isFresh: true as const }),
    ...readObject(flags),
  };
}

function readObject(flags: unknown): OfObjectStore {
  return typeof flags === "number" && (flags & OBJECT) !== 0 ? { isObject: true } : {};
}

function readProtectedEntry(values: readonly unknown[]): TreeEntry {
  const mark = values.find((value) => typeof value === "number");
  const parts = values.filter((value) => typeof value === "string");
  return { kind: "control", parts, ...(mark !== undefined && { mark }) };
}

function readOwner(uid: unknown, gid: unknown): Owned {
  return { ...(typeof uid === "number" && { uid }), ...(typeof gid === "number" && { gid }) };
}

/** What `readChangeRecord` reads again. */
export function toChangeRecord({ path, before, after }: TreeChange): ChangeRecord {
  return [path, before ? toEntryRecord(before) : null, after ? toEntryRecord(after) : null];
}

/** Undefined for what is none. */
export function readChangeRecord(record: unknown): TreeChange | undefined {
  if (!Array.isArray(record)) return undefined;
  const [path, before, after]: unknown[] = record;
  if (typeof path !== "string" || !isPathInside(path)) return undefined;
  const change = { path, before: readEntryRecord(before), after: readEntryRecord(after) };
  const isWhole = isRead(before, change.before) && isRead(after, change.after);
  return isWhole ? change : undefined;
}

function isRead(record: unknown, entry: TreeEntry | undefined): boolean {
  return record === null ? entry === undefined : entry !== undefined;
}

/** False for what would lead elsewhere than it says: no name is empty, `.` or `..`. */
export function isPathInside(path: string): boolean {
  return path
    .replace(/^\//, "")
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"));
}

/** Where a path of a checkpoint is; see `TreeChange`. */
export function toAbsolute(root: string, path: string): string {
  return path.startsWith("/") ? path : `${root}/${path}`;
}

/** True for what lies in a `.git`, and for a git directory elsewhere. */
export function isOfRepository(path: string): boolean {
  return path.startsWith("/") || path.split("/").includes(".git");
}
