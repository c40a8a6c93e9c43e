import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findGitDirectory } from "./paths/git.ts";
import { systemErrorCode } from "./system-error.ts";

/** Where a project's own data lives; absolute paths. */
export interface DiligentPaths {
  /** `.diligent` in the project root. */
  root: string;
  sessions: string;
  knowledge: string;
  skills: string;
}

/** Whatever others may do. */
const OTHERS = 0o077;

const GITIGNORE = `# Written by diligent: sessions and knowledge belong to this machine, not to the repository.
sessions/
knowledge/
worktrees/
/.gitignore
`;

/** What earlier versions wrote: git saw it, and removed or stored it with the user's files. */
const EARLIER_GITIGNORE = `# Written by diligent: sessions and knowledge belong to this machine, not to the repository.
sessions/
knowledge/
`;

/** Of a folder that git is to see nothing of, the file itself included. */
const IGNORE_ALL = "*\n";

/** Where the data of a project lies, whether or not it is there yet. */
export function resolvePaths(projectRoot: string): DiligentPaths {
  const root = join(projectRoot, ".diligent");
  return {
    root,
    sessions: join(root, "sessions"),
    knowledge: join(root, "knowledge"),
    skills: join(root, "skills"),
  };
}

/**
 * Makes `.diligent/` with its folders (0700, but for `skills/`, which is tracked by git), its `.gitignore` and one in each
 * private folder, so that no git command sees, stores or removes what is in them. What is there already stays as it is, but
 * for a `.gitignore` of an earlier version that git does not track.
 * @throws Error where it cannot be used: a file system error, a symbolic link, a directory of another user's.
 */
export async function ensureDiligentDir(projectRoot: string): Promise<DiligentPaths> {
  const paths = resolvePaths(projectRoot);
  makeDiligentDir(paths);
  return paths;
}

/** The same at once, for a directory that went away while a session was open. */
export function makeDiligentDir(paths: DiligentPaths): void {
  for (const directory of [paths.root, paths.sessions, paths.knowledge]) {
    makeDirectory(directory);
    checkOwnDirectory(directory);
  }
  unlessThere(() => mkdirSync(paths.skills, { recursive: true }));
  writeIgnoreFiles(paths);
}

function writeIgnoreFiles({ root, sessions, knowledge }: DiligentPaths): void {
  const own = join(root, ".gitignore");
  createPrivateFile(own, GITIGNORE);
  for (const directory of [sessions, knowledge]) ignoreAllIn(directory);
  const worktrees = join(root, "worktrees");
  if (lstatSync(worktrees, { throwIfNoEntry: false })?.isDirectory()) ignoreAllIn(worktrees);
  if (isEarlierIgnoreFile(own) && findTrackedState(dirname(root), ".diligent/.gitignore") === "untracked")
    writeFileSync(own, GITIGNORE);
}

function createPrivateFile(path: string, text: string): void {
  unlessThere(() => writeFileSync(path, text, { mode: 0o600, flag: "wx" }));
}

function ignoreAllIn(directory: string): void {
  try {
    createPrivateFile(join(directory, ".gitignore"), IGNORE_ALL);
  } catch {
    // Where nothing can be written, whoever writes there says that nothing is saved.
  }
}

function isEarlierIgnoreFile(path: string): boolean {
  const stats = lstatSync(path);
  return (
    stats.isFile() &&
    stats.size === Buffer.byteLength(EARLIER_GITIGNORE) &&
    readFileSync(path, "utf8") === EARLIER_GITIGNORE
  );
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const obstacle = systemErrorCode(error) === "EEXIST" ? findObstacle(directory) : undefined;
    throw obstacle === undefined ? error : new Error(obstacle);
  }
}

/** Existing files stay unchanged, including dangling links: nothing is written through a link. */
function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

/**
 * Why `.diligent/` and its folders cannot be used as they are, in words for the user; undefined where nothing is in the way,
 * or nothing is there yet. @throws Error of the file system where they cannot be looked at.
 */
export function findDiligentDirObstacle({ root, sessions, knowledge }: DiligentPaths): string | undefined {
  for (const directory of [root, sessions, knowledge]) {
    const obstacle = findObstacle(directory);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/** A link that a repository brings along, or another user's directory, would take the conversation elsewhere. */
function findObstacle(directory: string): string | undefined {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink())
    return `${directory} is a ${existsSync(directory) ? "" : "broken "}symbolic link`;
  if (!stats.isDirectory()) return `${directory} is a file, not a directory`;
  const userId = process.getuid?.();
  return userId === undefined || stats.uid === userId ? undefined : `${directory} belongs to another user`;
}

/** Makes diligent's own directory private. @throws Error if it is not such a directory. */
function checkOwnDirectory(directory: string): void {
  const obstacle = findObstacle(directory);
  if (obstacle !== undefined) throw new Error(obstacle);
  if ((lstatSync(directory).mode & OTHERS) !== 0) makePrivate(directory);
}

function makePrivate(directory: string): void {
  try {
    chmodSync(directory, 0o700);
  } catch {
    // On a read-only file system it stays as it is; whoever writes there says that nothing is saved.
  }
}

// Signature, version and number of entries.
const HEADER_BYTES = 12;
// Of an entry before its path; the last two bytes are flags that hold the length of the path.
const ENTRY_BYTES = 62;
const HASH_BYTES = 20;
const MAX_FLAG_LENGTH = 0xfff;
// From this version on paths are compressed by what they have in common with the one before.
const COMPRESSED_VERSION = 4;

/**
 * Whether git tracks a file, or files in a directory, as far as the index can be read without running git, which would run what the repository
 * configures: `unknown` for an index with compressed paths, a split one, and one that cannot be read.
 * @param projectRoot the directory that has `.git`, a worktree's or a submodule's included.
 * @param path from there, with slashes.
 */
export function findTrackedState(projectRoot: string, path: string): "tracked" | "untracked" | "unknown" {
  const index = readIndex(projectRoot);
  if (typeof index === "string") return index;
  if (findHashes(index, Buffer.from(path)).length > 0 || hasEntryBelow(index, path)) return "tracked";
  // The name of the extension by which most entries are in another file.
  return index.includes("link", HEADER_BYTES) ? "unknown" : "untracked";
}

/**
 * True for a file whose content, as it is now, is that of its entry in the index. Whoever made the entry knew the content:
 * an entry for a file that cannot be read does not make this true.
 */
export function hasTrackedContent(projectRoot: string, path: string): boolean {
  return createTrackedCheck(projectRoot)(path);
}

/** The same for many files of a project: the index is read once. */
export function createTrackedCheck(projectRoot: string): (path: string) => boolean {
  const index = readIndex(projectRoot);
  if (typeof index === "string") return () => false;
  return (path) => isTrackedContent({ projectRoot, index }, path);
}

function isTrackedContent(
  { projectRoot, index }: { projectRoot: string; index: Buffer },
  path: string,
): boolean {
  const hashes = findHashes(index, Buffer.from(path));
  if (hashes.length === 0) return false;
  try {
    const content = readFileSync(join(projectRoot, path));
    const hash = new Bun.CryptoHasher("sha1").update(`blob ${content.length}\0`).update(content).digest();
    return hashes.some((each) => each.equals(hash));
  } catch {
    return false; // Gone, or not for this user.
  }
}

function readIndex(projectRoot: string): Buffer | "untracked" | "unknown" {
  try {
    const gitDirectory = findGitDirectory(join(projectRoot, ".git"), projectRoot);
    if (gitDirectory === undefined) return "untracked";
    const index = readFileSync(join(gitDirectory, "index"));
    return index.length < HEADER_BYTES || index.readUInt32BE(4) >= COMPRESSED_VERSION ? "unknown" : index;
  } catch (error) {
    return systemErrorCode(error) === "ENOENT" ? "untracked" : "unknown";
  }
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

/** How far before the path of an entry its flags are, where one of such a length begins here. */
function findFlags(index: Buffer, at: number, length: number): number | undefined {
  // Version 3 has two more bytes of flags behind those with the length.
  return [2, 4].find((before) => (index.readUInt16BE(at - before) & MAX_FLAG_LENGTH) === length);
}

/** The hashes of the entries for a path; several while a conflict is open. */
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
