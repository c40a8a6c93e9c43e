import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import { findGitDirectory } from "./git.ts";

/** `unknown`: the index cannot be read. */
export type TrackedState = "tracked" | "untracked" | "unknown";

/**
 * Whether git tracks a file, or files in a directory, according to its index. Git itself is not run: it would run
 * programs that the repository configures.
 * @param projectRoot the directory with `.git`, including those of worktrees and submodules.
 * @param path relative to it, with slashes.
 */
export function findTrackedState(projectRoot: string, path: string): TrackedState {
  return createTrackedTest(projectRoot)(path);
}

/** `findTrackedState` for many files of a project: the index is read once. */
export function createTrackedTest(projectRoot: string): (path: string) => TrackedState {
  const index = readIndex(projectRoot);
  if (typeof index === "string") return () => index;
  return (path) => {
    if (index.findHashes(path).length > 0 || index.hasEntryBelow(path)) return "tracked";
    return index.isWhole ? "untracked" : "unknown";
  };
}

/**
 * True for a file whose current content matches its entry in the index. The author of the entry must have known the
 * content: adding an entry for an unreadable file does not make this true.
 */
export function hasTrackedContent(projectRoot: string, path: string): boolean {
  return createTrackedCheck(projectRoot)(path);
}

/** `hasTrackedContent` for many files of a project: the index is read once. */
export function createTrackedCheck(projectRoot: string): (path: string) => boolean {
  const index = readIndex(projectRoot);
  if (typeof index === "string") return () => false;
  return (path) => isTrackedContent({ projectRoot, index }, path);
}

function isTrackedContent(
  { projectRoot, index }: { projectRoot: string; index: GitIndex },
  path: string,
): boolean {
  const hashes = index.findHashes(path);
  if (hashes.length === 0) return false;
  try {
    const content = readFileSync(join(projectRoot, path));
    const hash = new Bun.CryptoHasher("sha1").update(`blob ${content.length}\0`).update(content).digest();
    return hashes.some((each) => each.equals(hash));
  } catch {
    return false; // Missing or not readable.
  }
}

/** What an index tracks. */
export interface IndexNames {
  /** The paths of all entries, relative to the working tree. */
  names: readonly string[];
  /** Those of submodules. */
  submodules: readonly string[];
}

// Some 150,000 files.
const MAX_LISTED_BYTES = 16 * 1024 * 1024;

/** All entries of an index, none without one; undefined if it is too large or cannot be read. */
export function listIndexNames(projectRoot: string): IndexNames | undefined {
  try {
    const gitDirectory = findGitDirectory(join(projectRoot, ".git"), projectRoot);
    if (gitDirectory === undefined) return undefined;
    const path = join(gitDirectory, "index");
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) return { names: [], submodules: [] };
    const own = size <= MAX_LISTED_BYTES ? readIndexFile(readFileSync(path)) : undefined;
    const shared = own?.sharedHash === undefined ? own : readShared(own.sharedHash, gitDirectory);
    if (own === undefined || shared === undefined) return undefined;
    return {
      names: [...own.hashes.keys(), ...shared.hashes.keys()],
      submodules: [...own.submodules, ...shared.submodules],
    };
  } catch {
    return undefined; // Not readable, or damaged.
  }
}

function readIndexFile(content: Buffer): IndexEntries | undefined {
  const isIndex = content.length >= HEADER_BYTES && content.toString("latin1", 0, 4) === "DIRC";
  return isIndex ? readEntries(content) : undefined;
}

/** The entries of an index; for a split index, those of both files. */
interface GitIndex {
  /** False if a part of it could not be read. */
  isWhole: boolean;
  /** The hashes of a path's entries; there are several during a merge conflict. */
  findHashes(path: string): Buffer[];
  hasEntryBelow(directory: string): boolean;
}

function readIndex(projectRoot: string): GitIndex | "untracked" | "unknown" {
  try {
    const gitDirectory = findGitDirectory(join(projectRoot, ".git"), projectRoot);
    if (gitDirectory === undefined) return "untracked";
    return toIndex(readFileSync(join(gitDirectory, "index")), gitDirectory);
  } catch (error) {
    return systemErrorCode(error) === "ENOENT" ? "untracked" : "unknown";
  }
}

// Signature, version and number of entries.
const HEADER_BYTES = 12;
// The size of an entry without its path; the last two bytes are flags with the length of the path.
const ENTRY_BYTES = 62;
const HASH_BYTES = 20;
// The kind of an entry is in the upper bits of its mode.
const MODE_AT = 24;
const MODE_KIND = 0xf000;
const SUBMODULE = 0xe000;
const MAX_FLAG_LENGTH = 0xfff;
// Indicates two more bytes of flags.
const EXTENDED_FLAG = 0x4000;
// From this version on, a path is stored as the length of its common prefix with the previous one, and the rest.
const COMPRESSED_VERSION = 4;
// The extension of a split index, which refers to a file with most of the entries by its hash.
const LINK = "link";

function toIndex(content: Buffer, gitDirectory: string): GitIndex | "unknown" {
  if (content.length < HEADER_BYTES || content.toString("latin1", 0, 4) !== "DIRC") return "unknown";
  const isPlain = content.readUInt32BE(4) < COMPRESSED_VERSION && !content.includes(LINK, HEADER_BYTES);
  // Searching a large index for one path is much faster than parsing it.
  if (isPlain) {
    return {
      isWhole: true,
      findHashes: (path) => findHashes(content, Buffer.from(path)),
      hasEntryBelow: (directory) => hasEntryBelow(content, directory),
    };
  }
  const own = readEntries(content);
  if (own === undefined) return "unknown";
  const shared = own.sharedHash === undefined ? undefined : readShared(own.sharedHash, gitDirectory);
  return {
    isWhole: own.sharedHash === undefined || shared !== undefined,
    findHashes: (path) => [...(own.hashes.get(path) ?? []), ...(shared?.hashes.get(path) ?? [])],
    hasEntryBelow: (directory) =>
      [own, shared].some((entries) =>
        entries?.hashes.keys().some((path) => path.startsWith(`${directory}/`)),
      ),
  };
}

function readShared(hash: string, gitDirectory: string): IndexEntries | undefined {
  try {
    return readEntries(readFileSync(join(gitDirectory, `sharedindex.${hash}`)));
  } catch {
    return undefined; // The file is gone; it is unknown how git handles that.
  }
}

function findHashes(index: Buffer, path: Buffer): Buffer[] {
  const needle = Buffer.concat([path, Buffer.of(0)]);
  const length = Math.min(path.length, MAX_FLAG_LENGTH);
  const hashes: Buffer[] = [];
  for (
    let at = index.indexOf(needle, HEADER_BYTES + ENTRY_BYTES);
    at >= 0;
    at = index.indexOf(needle, at + 1)
  ) {
    const flags = findFlags(index, at, length);
    if (flags !== undefined) hashes.push(index.subarray(at - flags - HASH_BYTES, at - flags));
  }
  return hashes;
}

function hasEntryBelow(index: Buffer, directory: string): boolean {
  const needle = Buffer.from(`${directory}/`);
  for (
    let at = index.indexOf(needle, HEADER_BYTES + ENTRY_BYTES);
    at >= 0;
    at = index.indexOf(needle, at + 1)
  ) {
    const length = Math.min(index.indexOf(0, at) - at, MAX_FLAG_LENGTH);
    if (findFlags(index, at, length) !== undefined) return true;
  }
  return false;
}

/** The distance between the flags and the path of an entry, if an entry with a path of this length starts here. */
function findFlags(index: Buffer, at: number, length: number): number | undefined {
  // Version 3 has two more bytes of flags after those with the length.
  return [2, 4].find((before) => (index.readUInt16BE(at - before) & MAX_FLAG_LENGTH) === length);
}

interface IndexEntries {
  /** The hashes by path. */
  hashes: ReadonlyMap<string, Buffer[]>;
  /** The paths of submodules. */
  submodules: readonly string[];
  /** For a split index: the hash of the file with the other entries. */
  sharedHash: string | undefined;
}

/** Undefined for an invalid index. */
function readEntries(index: Buffer): IndexEntries | undefined {
  const isCompressed = index.readUInt32BE(4) >= COMPRESSED_VERSION;
  const count = index.readUInt32BE(8);
  const hashes = new Map<string, Buffer[]>();
  const submodules: string[] = [];
  let at = HEADER_BYTES;
  let before: Buffer = Buffer.alloc(0);
  for (let number = 0; number < count; number++) {
    const flagsAt = at + ENTRY_BYTES - 2;
    if (flagsAt + 2 > index.length - HASH_BYTES) return undefined;
    const hasMoreFlags = (index.readUInt16BE(flagsAt) & EXTENDED_FLAG) !== 0;
    const start = at + ENTRY_BYTES + (hasMoreFlags ? 2 : 0);
    const prefix = isCompressed ? readPrefix(index, start, before) : { path: Buffer.alloc(0), end: start };
    if (prefix === undefined) return undefined;
    const end = index.indexOf(0, prefix.end);
    if (end < 0) return undefined;
    before = Buffer.concat([prefix.path, index.subarray(prefix.end, end)]);
    const path = before.toString();
    const hash = index.subarray(flagsAt - HASH_BYTES, flagsAt);
    hashes.set(path, [...(hashes.get(path) ?? []), hash]);
    if ((index.readUInt32BE(at + MODE_AT) & MODE_KIND) === SUBMODULE) submodules.push(path);
    // Uncompressed entries are padded with one to eight zeros to a multiple of eight bytes.
    at = isCompressed ? end + 1 : at + (Math.floor((end - at) / 8) + 1) * 8;
  }
  return { hashes, submodules, sharedHash: findSharedHash(index, at) };
}

/** The common prefix of a compressed path with the previous one: a number says how many bytes of that are dropped. */
function readPrefix(index: Buffer, start: number, before: Buffer): { path: Buffer; end: number } | undefined {
  let at = start;
  let byte = index[at++] ?? 0;
  let left = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index[at++] ?? 0;
    left = (left + 1) * 0x80 + (byte & 0x7f);
    if (left > before.length) return undefined;
  }
  return left > before.length ? undefined : { path: before.subarray(0, before.length - left), end: at };
}

/** Extensions follow the entries: a name of four letters, a length, and the data. */
function findSharedHash(index: Buffer, from: number): string | undefined {
  for (let at = from; at + 8 <= index.length - HASH_BYTES; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.toString("latin1", at, at + 4) === LINK)
      return index.toString("hex", at + 8, at + 8 + HASH_BYTES);
  }
  return undefined;
}
