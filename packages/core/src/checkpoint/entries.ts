/**
 * True for files that git stores by their content, and their directories: they never change, and undo never removes
 * them.
 */
interface OfObjectStore {
  isObject?: true | undefined;
}

/** A regular file. Times are milliseconds with the fraction that the file system keeps. */
export interface FileEntry extends Owned, OfObjectStore {
  kind: "file";
  /** The permission bits with setuid, setgid and sticky. */
  mode: number;
  size: number;
  modifiedMs: number;
  changedMs: number;
  inode: number;
  /**
   * SHA-256 in hexadecimal digits; undefined when the content is not recorded because it is too large or not readable.
   */
  hash: string | undefined;
  /** Kept as a whole file, since it is too large to be copied; see `LargeFileStore`. */
  isWholeFile?: true | undefined;
  /** Written so shortly before it was read that its times could not show a later change: it has to be read again. */
  isFresh?: true | undefined;
  /** The number of its names (hard links), if there is more than one. */
  links?: number | undefined;
  /** For git's index: a hash of its contents without the times by which git finds changed files faster. */
  meaning?: string | undefined;
}

/** Numeric ids of the owner; undefined in records of an earlier version. Not part of the state: see `isSameState`. */
export interface Owned {
  uid?: number | undefined;
  gid?: number | undefined;
}

/** A symbolic link; `target` is its text. */
interface LinkEntry {
  kind: "link";
  target: string;
}

/** A directory with its permission bits; its contents are separate entries. */
interface DirectoryEntry extends Owned, OfObjectStore {
  kind: "directory";
  mode: number;
}

/** A directory whose contents can be created again: only the fact that it changed is recorded. */
interface CacheEntry {
  kind: "cache";
  signature: string;
}

/**
 * Files that are never recorded and never changed: diligent's own files, pipes, sockets, devices. Only the removal of
 * one, or of a part of it, is recorded.
 */
export interface ProtectedEntry {
  kind: "control";
  /** The names inside whose removal is recorded. */
  parts: readonly string[];
  /**
   * Changes when a part is edited that the user would miss: a commit, a setting. Undefined when edits are not recorded.
   */
  mark?: number | undefined;
}

/** The kinds of entries in a project. */
export type TreeEntry = FileEntry | LinkEntry | DirectoryEntry | CacheEntry | ProtectedEntry;

/** The change of one path; undefined means that the path does not exist. */
export interface TreeChange {
  /**
   * Relative to the project, separated by `/`; see `toSystemPath` for names that are not valid Unicode. Absolute in the
   * git directory of a worktree or submodule outside the project.
   */
  path: string;
  before: TreeEntry | undefined;
  after: TreeEntry | undefined;
}

/**
 * True for the same kind, content and permissions. Times do not count when the content is known; owners never count.
 */
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

/** If one of them was not read, equal size, time and inode stand for equal content. */
export function hasSameContent(left: FileEntry, right: FileEntry): boolean {
  if (left.meaning !== undefined && right.meaning !== undefined) return left.meaning === right.meaning;
  if (left.hash !== undefined && right.hash !== undefined) return left.hash === right.hash;
  return left.size === right.size && left.modifiedMs === right.modifiedMs && left.inode === right.inode;
}

/**
 * The JSON form of an entry: `["f", mode, size, modified, changed, inode, hash, flags, uid, gid, links, meaning]` and
 * similar. Flags: 1 if fresh, 2 if it belongs to an object store, 4 if it is kept as a whole file.
 */
export type EntryRecord = readonly (string | number | null)[];

/** The JSON form of a change; null when the path did not exist. */
type ChangeRecord = readonly [path: string, before: EntryRecord | null, after: EntryRecord | null];

const FRESH = 1;
const OBJECT = 2;
const WHOLE_FILE = 4;

/** The inverse of `readEntryRecord`. */
export function toEntryRecord(entry: TreeEntry): EntryRecord {
  switch (entry.kind) {
    case "file": {
      const { mode, size, modifiedMs, changedMs, inode, hash = null, uid = null, gid = null } = entry;
      const flags =
        (entry.isFresh ? FRESH : 0) | (entry.isObject ? OBJECT : 0) | (entry.isWholeFile ? WHOLE_FILE : 0);
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

/** Undefined for an invalid record. */
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
    ...(typeof flags === "number" && (flags & WHOLE_FILE) !== 0 && { isWholeFile: true as const }),
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

/** The inverse of `readChangeRecord`. */
export function toChangeRecord({ path, before, after }: TreeChange): ChangeRecord {
  return [path, before ? toEntryRecord(before) : null, after ? toEntryRecord(after) : null];
}

/** Undefined for an invalid record. */
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

/** False for a path that leads elsewhere: no name may be empty, `.` or `..`. */
export function isPathInside(path: string): boolean {
  return path
    .replace(/^\//, "")
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"));
}

/** The absolute path of a checkpoint's path; see `TreeChange`. */
export function toAbsolute(root: string, path: string): string {
  return path.startsWith("/") ? path : `${root}/${path}`;
}

/** True for a path in a `.git`, and for a git directory elsewhere. */
export function isOfRepository(path: string): boolean {
  return path.startsWith("/") || path.split("/").includes(".git");
}
