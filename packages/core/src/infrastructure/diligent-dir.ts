import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findTrackedState } from "./paths/git-index.ts";
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
