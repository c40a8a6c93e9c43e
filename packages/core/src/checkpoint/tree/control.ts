import { readdirSync, type Stats } from "node:fs";
import { listSystemNames } from "../../infrastructure/fs/directory.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import type { ProtectedEntry, TreeEntry } from "../entries.ts";

// Files that diligent creates and removes itself.
const OURS = /^sessions$|\.lock$|\.tmp$/;

/** For `.diligent` and pipes; undefined for other special files, which servers create and remove as they like. */
export function signProtectedEntry(absolute: string, stats: Stats): ProtectedEntry | undefined {
  if (stats.isFIFO()) return { kind: "control", parts: ["pipe"] };
  const isFile = stats.isFile() || stats.isSymbolicLink();
  if (!isFile && !stats.isDirectory()) return undefined;
  const mark = markProtectedEntry(absolute, stats, (name) => OURS.test(name));
  return { kind: "control", parts: isFile ? ["file"] : ["directory", ...listParts(absolute)], mark };
}

/** True when no part of the earlier entry has been removed. */
export function isWhole(before: ProtectedEntry, now: ProtectedEntry): boolean {
  return before.parts.every((part) => now.parts.includes(part));
}

function listParts(absolute: string): string[] {
  try {
    const names = readdirSync(toSystemPath(absolute));
    return names.filter((name) => !OURS.test(name)).sort();
  } catch {
    return []; // The directory is not readable: only its existence is known.
  }
}

// 48 bits, which a number holds exactly.
const MARK_DIGITS = 12;

/**
 * A number that changes with any edit of diligent's directory that the user would regard as a change, such as a
 * knowledge entry. Only times and sizes of a few files are compared; nothing is read.
 * @param isOurs true for names that diligent creates and removes.
 */
function markProtectedEntry(absolute: string, stats: Stats, isOurs: (name: string) => boolean): number {
  const lines = stats.isDirectory() ? describeChildren(absolute, isOurs) : [`${stats.mtimeMs} ${stats.size}`];
  return Number.parseInt(Bun.SHA256.hash(lines.join("\n"), "hex").slice(0, MARK_DIGITS), 16);
}

function describeChildren(directory: string, isOurs: (name: string) => boolean): string[] {
  return listSystemNames(directory)
    .sort()
    .filter((name) => !isOurs(name))
    .flatMap((name) => describeWithInner(`${directory}/${name}`));
}

/** The path and its direct children, including links to directories. */
function describeWithInner(path: string): string[] {
  const stats = readStats(path);
  const inner = stats === undefined || stats.isFile() ? [] : listSystemNames(path).sort();
  return [toLine(path, stats), ...inner.map((name) => describe(`${path}/${name}`))];
}

function describe(path: string): string {
  return toLine(path, readStats(path));
}

function toLine(path: string, stats: Stats | undefined): string {
  return stats ? `${path} ${stats.mtimeMs} ${stats.size}` : path;
}

function readStats(path: string): Stats | undefined {
  try {
    return findStats(toSystemPath(path));
  } catch {
    return undefined; // It is not accessible.
  }
}

const HEADER_BYTES = 12;
/** Times, numbers and sizes by which git finds changed files faster; the mode is among them, at `MODE_AT`. */
const STAT_BYTES = 40;
const MODE_AT = 24;
const EXTENDED = 0x4000;
const HASH_BYTES: readonly number[] = [20, 32];

/**
 * A hash of the contents of git's index: paths, modes, hashes and flags. The times in it, which every `git status`
 * rewrites, are left out. Undefined for an incomplete index. From gitformat-index(5).
 */
export function signGitIndex(path: string, content: Uint8Array): string | undefined {
  if (!/(?:^|\/)index$/.test(path) || Buffer.from(content.subarray(0, 4)).toString("latin1") !== "DIRC")
    return undefined;
  for (const hashBytes of HASH_BYTES) {
    const hash = hashEntries(Buffer.from(content.buffer, content.byteOffset, content.length), hashBytes);
    if (hash !== undefined) return hash;
  }
  return undefined;
}

function hashEntries(content: Buffer, hashBytes: number): string | undefined {
  if (content.length < HEADER_BYTES + hashBytes) return undefined;
  const version = content.readUInt32BE(4);
  const count = content.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const sum = new Bun.SHA256();
  sum.update(`${version}`);
  const end = content.length - hashBytes;
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > end) return undefined;
    const nameAt = flagsAt + ((content.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4);
    const nameEnd = content.indexOf(0, skipPrefixLength(content, nameAt, version));
    if (nameEnd < 0 || nameEnd >= end) return undefined;
    sum.update(content.subarray(at + MODE_AT, at + MODE_AT + 4));
    sum.update(content.subarray(at + STAT_BYTES, nameEnd + 1));
    // Before version 4, entries end with one to eight zeros, at a multiple of eight.
    at = version === 4 ? nameEnd + 1 : at + Math.floor((nameEnd - at + 8) / 8) * 8;
  }
  return endsWithExtensions(content, at, end) ? sum.digest("hex").slice(0, 32) : undefined;
}

/** In version 4 a number says how many bytes of the previous name are dropped; its bytes are not part of the name. */
function skipPrefixLength(content: Buffer, nameAt: number, version: number): number {
  let at = nameAt;
  if (version !== 4) return at;
  while (((content[at] ?? 0) & 0x80) !== 0) at += 1;
  return at + 1;
}

/** False also if an extension is needed to understand the entries: its name begins with a small letter. */
function endsWithExtensions(content: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at + 8 <= end) {
    if (!/^[A-Z]/.test(content.toString("latin1", at, at + 4))) return false;
    at += 8 + content.readUInt32BE(at + 4);
  }
  return at === end;
}

/** The location of a path in a repository. */
export interface GitLocation {
  /** The path of the `.git` that it belongs to; undefined in a repository without one, such as a bare one. */
  top?: string | undefined;
  /** The path of the object store that contains it, or that it is. */
  store?: string | undefined;
  /** True in the project's own repository, whose location sandboxed commands cannot change. */
  isFixed?: boolean | undefined;
}

/** The names next to the objects of every repository. */
const BESIDE_OBJECTS: readonly string[] = ["HEAD", "refs"];

/** The directory in which Git LFS stores large files by their content; it may hold gigabytes. */
const LARGE_FILES = "/lfs/objects";

interface Surroundings {
  around: GitLocation | undefined;
  /** All names in the directory. */
  names: readonly string[];
  /** The entry known for a path before. */
  known(path: string): TreeEntry | undefined;
}

/** @param path the path of `name`. */
export function locateInGit(name: string, path: string, surroundings: Surroundings): GitLocation | undefined {
  const { around } = surroundings;
  if (around?.store !== undefined) return around;
  const top = around?.top ?? (foldName(name) === ".git" ? path : undefined);
  const isFixed = around?.isFixed || path === ".git";
  const isStore =
    name === "objects" &&
    (isBesideRepository(path, surroundings) || (top !== undefined && path.endsWith(LARGE_FILES)));
  const store = isStore ? path : undefined;
  return top === undefined && store === undefined ? around : { top, store, ...(isFixed && { isFixed }) };
}

/** True for a large pack that sandboxed commands cannot change or remove. */
export function isHeldPack(path: string, { top, store, isFixed }: GitLocation): boolean {
  return isFixed === true && store === `${top}/objects` && path.startsWith(`${store}/pack/`);
}

/** True also if a command has just removed the names next to it. */
function isBesideRepository(path: string, { names, known }: Surroundings): boolean {
  const entry = known(path);
  const isKnownStore = entry?.kind === "directory" && entry.isObject === true;
  return isKnownStore || BESIDE_OBJECTS.every((name) => names.includes(name));
}

/** Locks, unfinished objects and temporary files of a running git: they are not recorded. */
export function isTransientGitFile(name: string): boolean {
  return /\.lock$|^tmp_(?:obj|objdir|pack|idx|rev)[_-]|^gc\.pid$|^fsmonitor--daemon/.test(name);
}

/** Files that git writes without a requested change; only their removal is recorded, not their contents. */
export function isGitNoise(path: string): boolean {
  return /\/(?:FETCH_HEAD|gc\.log)$/.test(path);
}

// As in `read-file.ts`.
const TICK_MS = 40;
const COARSE_TICK_MS = 2_100;

/** The files of a directory, with the time when names were last added or removed. */
export interface ListedDirectory {
  inode: number;
  changedMs: number;
  /** The paths in it; undefined when the directory was changed so recently that its time proves nothing. */
  paths: string[];
}

/** True when no name was added or removed since. */
export function isAsListed(listed: ListedDirectory | undefined, stats: Stats): boolean {
  return listed?.inode === stats.ino && listed.changedMs === stats.ctimeMs;
}

/** True when a change in the same tick of the file system's clock would leave the time unchanged. */
export function isJustChanged({ ctimeMs }: Stats, nowMs: number): boolean {
  const isCoarse = Number.isInteger(ctimeMs / 1000);
  return ctimeMs > nowMs - (isCoarse ? COARSE_TICK_MS : TICK_MS);
}
