/** A regular file. Times are milliseconds with the fraction that the system keeps. */
export interface FileEntry extends Owned {
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
}

/** By the numbers of the system; undefined where an earlier version has kept it. No part of the state: see `isSameState`. */
export interface Owned {
  uid?: number | undefined;
  gid?: number | undefined;
}

/** A symbolic link; `target` is what is written in it. */
export interface LinkEntry {
  kind: "link";
  target: string;
}

/** A directory with its permission bits; what is in it are entries of their own. */
export interface DirectoryEntry extends Owned {
  kind: "directory";
  mode: number;
}

/** A directory of things that can be made again: only that something in it changed is noticed. */
export interface CacheEntry {
  kind: "cache";
  signature: string;
}

/**
 * What is never kept and never touched: what belongs to git or to us, pipes, sockets, devices. Only that it went away, or a
 * part of it, is noticed.
 */
export interface ControlEntry {
  kind: "control";
  /** What may not go away of it. */
  parts: readonly string[];
  /** Changes when something in it is edited that people would miss: a commit, a setting. Undefined where nobody looks. */
  mark?: number | undefined;
}

/** What stands at a path of the project. */
export type TreeEntry = FileEntry | LinkEntry | DirectoryEntry | CacheEntry | ControlEntry;

/** What became of a path; undefined: nothing was, or is, there. */
export interface TreeChange {
  /** Relative to the project, its parts separated by `/`; see `byte-name.ts` for names that are no text. */
  path: string;
  before: TreeEntry | undefined;
  after: TreeEntry | undefined;
}

/** True for the same kind, content and permissions; times do not count where the content is known, owners never. */
export function isSameState(left: TreeEntry | undefined, right: TreeEntry | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.kind === "file" && right.kind === "file")
    return left.mode === right.mode && isSameContent(left, right);
  if (left.kind === "link" && right.kind === "link") return left.target === right.target;
  if (left.kind === "directory" && right.kind === "directory") return left.mode === right.mode;
  if (left.kind === "control" && right.kind === "control")
    return left.parts.join("/") === right.parts.join("/");
  return left.kind === "cache" && right.kind === "cache" && left.signature === right.signature;
}

/** Where one of them was not read, the same size, time and inode stand for the same content. */
export function isSameContent(left: FileEntry, right: FileEntry): boolean {
  if (left.hash !== undefined && right.hash !== undefined) return left.hash === right.hash;
  return left.size === right.size && left.modifiedMs === right.modifiedMs && left.inode === right.inode;
}
