import type { Stats } from "node:fs";
import { foldName } from "../../infrastructure/text/unicode.ts";
import type { TreeEntry } from "../entries.ts";

const HEADER_BYTES = 12;
/** Times, numbers and sizes by which git finds changed files sooner; the mode lies among them, at `MODE_AT`. */
const STAT_BYTES = 40;
const MODE_AT = 24;
const EXTENDED = 0x4000;
const HASH_BYTES: readonly number[] = [20, 32];

/**
 * A hash of what git's index says: paths, modes, contents and flags. The times in it, which every look at the state writes
 * anew, make no difference. Undefined for what is no whole index. From gitformat-index(5).
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

/** In version 4 a number says how much of the name before is left out; its bytes are none of the name. */
function skipPrefixLength(content: Buffer, nameAt: number, version: number): number {
  let at = nameAt;
  if (version !== 4) return at;
  while (((content[at] ?? 0) & 0x80) !== 0) at += 1;
  return at + 1;
}

/** False also where one is needed to understand the entries: its name begins with a small letter. */
function endsWithExtensions(content: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at + 8 <= end) {
    if (!/^[A-Z]/.test(content.toString("latin1", at, at + 4))) return false;
    at += 8 + content.readUInt32BE(at + 4);
  }
  return at === end;
}

/** Where in a repository something lies. */
export interface GitLocation {
  /** The path of the `.git` that it belongs to; undefined in a repository without one, as a bare one is. */
  top?: string | undefined;
  /** The path of the object store that it belongs to, or that it is. */
  store?: string | undefined;
  /** True in what stays where it is for commands in the sandbox: the project's own repository. */
  isFixed?: boolean | undefined;
}

/** What lies beside the objects of every repository. */
const BESIDE_OBJECTS: readonly string[] = ["HEAD", "refs"];

/** Where Git LFS keeps large files by their content; there may be gigabytes of them. */
const LARGE_FILES = "/lfs/objects";

interface Surroundings {
  around: GitLocation | undefined;
  /** All names in the directory. */
  names: readonly string[];
  /** What was known of a path. */
  known(path: string): TreeEntry | undefined;
}

/** @param path that of `name`. */
export function placeInGit(name: string, path: string, surroundings: Surroundings): GitLocation | undefined {
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

/** True for a pack that the sandbox lets no command change or remove, if it is large. */
export function isHeldPack(path: string, { top, store, isFixed }: GitLocation): boolean {
  return isFixed === true && store === `${top}/objects` && path.startsWith(`${store}/pack/`);
}

/** Also where a command has just taken away what stood beside it. */
function isBesideRepository(path: string, { names, known }: Surroundings): boolean {
  const entry = known(path);
  const isKnownStore = entry?.kind === "directory" && entry.isObject === true;
  return isKnownStore || BESIDE_OBJECTS.every((name) => names.includes(name));
}

/** Locks, unfinished objects and what a running git leaves for others: nothing of it is kept. */
export function isTransientGitFile(name: string): boolean {
  return /\.lock$|^tmp_(?:obj|objdir|pack|idx|rev)[_-]|^gc\.pid$|^fsmonitor--daemon/.test(name);
}

/** What git writes when nobody has asked for a change; that it went away is noticed, what is written in it is not. */
export function isGitNoise(path: string): boolean {
  return /\/(?:FETCH_HEAD|gc\.log)$/.test(path);
}

// As `read-file.ts` has them.
const TICK_MS = 40;
const COARSE_TICK_MS = 2_100;

/** When names came or went last in a directory, and which files were in it. */
export interface ListedDirectory {
  inode: number;
  changedMs: number;
  /** Paths of what is in it; undefined where the directory was changed so shortly before that its time tells nothing. */
  paths: string[];
}

/** True where no name has come or gone since. */
export function isAsListed(listed: ListedDirectory | undefined, stats: Stats): boolean {
  return listed?.inode === stats.ino && listed.changedMs === stats.ctimeMs;
}

/** True when a change in the same tick of the file system's clock would leave the time as it is. */
export function isJustChanged({ ctimeMs }: Stats, nowMs: number): boolean {
  const isCoarse = Number.isInteger(ctimeMs / 1000);
  return ctimeMs > nowMs - (isCoarse ? COARSE_TICK_MS : TICK_MS);
}
