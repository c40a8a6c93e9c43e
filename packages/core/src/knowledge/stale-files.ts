import { lstatSync, type Stats } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { readBothEnds, readWholeFile } from "../infrastructure/fs/read.ts";
import { findRealPath, isInside, splitPath } from "../infrastructure/fs/real-path.ts";
import { isSecretFile } from "../infrastructure/paths/secret-files.ts";
import type { KnowledgeEntry, KnowledgeFile } from "./types.ts";

// More files than an ordinary prompt section names; limits the cost of a malicious file.
const MAX_CHECKS = 200;
const MAX_HASHED_IN_ALL_BYTES = 32 * 1024 * 1024;

// Some file systems store times with a precision of two seconds.
const TIME_GRAIN_MS = 2_500;

/** The path of the first of an entry's files that has changed since, or was deleted; undefined if none has. */
export type FindChangedFile = (entry: KnowledgeEntry) => string | undefined;

/**
 * Checks the files that entries name, at most 200 in total and 32 MB of content, 1 MB of a file; all others count as unchanged. Never
 * files outside the project or files with keys. `root` is real.
 */
export function createStaleCheck(root: string): FindChangedFile {
  const hashes = new Map<string, string | undefined>();
  let checks = 0;
  let bytes = 0;
  const hashOf = (file: ProjectFile): string | undefined => {
    const known = hashes.get(file.realPath);
    const size = Math.min(file.stats.size, MAX_HASHED_BYTES);
    if (known !== undefined || bytes + size > MAX_HASHED_IN_ALL_BYTES) return known;
    bytes += size;
    const hash = hashProjectFile(file);
    hashes.set(file.realPath, hash);
    return hash;
  };
  const hasChanged = ({ path, hash }: KnowledgeFile, since: number): boolean => {
    if (checks >= MAX_CHECKS) return false;
    checks++;
    const file = locateProjectFile(path, root);
    if (file === "off_limits") return false;
    if (file === "missing") return true;
    // Any change of the content would have changed this time: most files need not be read.
    if (file.stats.ctimeMs + TIME_GRAIN_MS < since) return false;
    const current = hashOf(file);
    return current !== undefined && current !== hash;
  };
  return ({ timestamp, reviewed, files = [] }) => {
    const recordedAt = Date.parse(reviewed ?? timestamp);
    return files.find((file) => hasChanged(file, recordedAt))?.path;
  };
}

const MAX_FILES = 5;

// A text of 2,000 characters has a few hundred words; each that could be a path is looked up on disk.
const MAX_CANDIDATES = 100;

/**
 * The project files that a text names, with their current state: at most five, by their path from the project root.
 * `src/a.ts:12` and `"./src/a.ts",` name `src/a.ts`. `root` is real.
 * @param knownPaths files that belong to the text without being named; they come after those that are.
 */
export function findMentionedFiles(
  content: string,
  root: string,
  knownPaths: readonly string[] = [],
): KnowledgeFile[] {
  const found = new Map<string, KnowledgeFile>();
  const named = [...listCandidates(content, root)].slice(0, MAX_CANDIDATES);
  for (const path of [...named, ...knownPaths.slice(0, MAX_FILES)]) {
    const file = locateProjectFile(path, root);
    if (typeof file === "string") continue;
    const hash = hashProjectFile(file);
    // Two names of one file count once.
    if (hash !== undefined && !found.has(file.realPath)) found.set(file.realPath, { path, hash });
    if (found.size === MAX_FILES) break;
  }
  return [...found.values()];
}

/** The current state of files that were recorded; those that no longer exist or may not be read are left out. */
export function hashKnownFiles(paths: readonly string[], root: string): KnowledgeFile[] {
  return paths.slice(0, MAX_FILES).flatMap((path) => {
    const file = locateProjectFile(path, root);
    const hash = typeof file === "string" ? undefined : hashProjectFile(file);
    return hash === undefined ? [] : [{ path, hash }];
  });
}

function listCandidates(content: string, root: string): Set<string> {
  const words = content.split(/[\s"'`()[\]{}<>,;|*]+/);
  return new Set(words.flatMap((word) => toPath(word, root) ?? []));
}

/** A word that could be a path: it contains a slash or a dot; surrounding punctuation is removed. */
function toPath(word: string, root: string): string | undefined {
  const bare = word
    .replace(/[.!?:]+$/, "")
    .replace(/(?::\d+){1,2}(?:-\d+)?$/, "")
    .replace(/^(?:\.\/)+/, "");
  if (!/[./]/.test(bare)) return undefined;
  const path = isAbsolute(bare) ? relative(root, bare) : bare;
  return path === "" || path.startsWith("..") ? undefined : path;
}

/** Of a larger file, which would take long to read, only the size, the beginning and the end are hashed. */
const MAX_HASHED_BYTES = 1024 * 1024;
const PARTS_MARK = "parts:";

/** Files of git and diligent, which change all the time. */
const OWN_DIRECTORIES: ReadonlySet<string> = new Set([".git", ".diligent"]);

/** A regular file of the project that may be read. */
interface ProjectFile {
  realPath: string;
  stats: Stats;
}

/**
 * Resolves a path from the project root: the file, `missing`, or `off_limits` for a path that leads out of the
 * project, is named like a key file, belongs to git or diligent, or is not a regular file. `root` is real.
 */
function locateProjectFile(path: string, root: string): ProjectFile | "missing" | "off_limits" {
  if (isAbsolute(path) || path.includes("\0")) return "off_limits";
  const realPath = findRealPath(join(root, path), root);
  if (realPath === undefined || !isInside(realPath, root)) return "off_limits";
  const parts = splitPath(realPath.slice(root.length));
  if (OWN_DIRECTORIES.has(parts[0] ?? "") || isSecretFile(realPath) || isSecretFile(path))
    return "off_limits";
  const stats = statOrUndefined(realPath);
  if (stats === undefined) return "missing";
  return stats.isFile() ? { realPath, stats } : "off_limits";
}

/** The hash of a `KnowledgeFile`; undefined if the file cannot be read. */
function hashProjectFile({ realPath, stats }: ProjectFile): string | undefined {
  try {
    if (stats.size <= MAX_HASHED_BYTES) return Bun.SHA256.hash(readWholeFile(realPath), "hex");
    const ends = readBothEnds(realPath, stats.size, MAX_HASHED_BYTES);
    return `${PARTS_MARK}${new Bun.SHA256().update(`${stats.size}\n`).update(ends).digest("hex")}`;
  } catch {
    // Deleted or not readable: its state is unknown.
    return undefined;
  }
}

function statOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A parent of the path is a file: the path does not exist.
  }
}
