import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findTrackedState } from "./paths/git-index.ts";
import { findMainProject } from "./paths/main-project.ts";
import { systemErrorCode } from "./system-error.ts";

/** The directories of a project's data; absolute paths. */
export interface DiligentPaths {
  /** `.diligent` in the project root. */
  root: string;
  sessions: string;
  knowledge: string;
  skills: string;
  /** Worktrees that diligent makes for one run each. */
  worktrees: string;
}

/** The permission bits of group and others. */
const OTHERS = 0o077;

const GITIGNORE = `# Written by diligent: sessions and knowledge belong to this machine, not to the repository.
sessions/
knowledge/
worktrees/
/.gitignore
`;

/** Written by earlier versions: git saw it, and removed or stored it with the user's files. */
const EARLIER_GITIGNORE = `# Written by diligent: sessions and knowledge belong to this machine, not to the repository.
sessions/
knowledge/
`;

/** The `.gitignore` of a directory that git must ignore completely, including this file. */
const IGNORE_ALL = "*\n";

/**
 * The paths of a project's data, whether they exist or not. A worktree that diligent has made shares those of its main
 * project.
 */
export function resolvePaths(projectRoot: string): DiligentPaths {
  const root = join(findMainProject(projectRoot) ?? projectRoot, ".diligent");
  return {
    root,
    sessions: join(root, "sessions"),
    knowledge: join(root, "knowledge"),
    skills: join(root, "skills"),
    worktrees: join(root, "worktrees"),
  };
}

/** The record of a session, by the path of its file: beside it, where git does not see it either. */
export function sessionRecordPath(sessionPath: string): string {
  return join(dirname(sessionPath), "records", basename(sessionPath));
}

/**
 * Creates `.diligent/` with its directories (0700, except `skills/`, which git tracks), its `.gitignore` and one in
 * each private directory, so that no git command sees, stores or removes their contents. Existing files stay unchanged,
 * except a `.gitignore` of an earlier version that git does not track.
 * @throws Error if it cannot be used: a file system error, a symbolic link, a directory of another user.
 */
export async function ensureDiligentDir(projectRoot: string): Promise<DiligentPaths> {
  const paths = resolvePaths(projectRoot);
  makeDiligentDir(paths);
  return paths;
}

/** Creates the directory synchronously, if it was removed while a session was open. */
export function makeDiligentDir(paths: DiligentPaths): void {
  for (const directory of [paths.root, paths.sessions, paths.knowledge]) {
    makeDirectory(directory);
    checkOwnDirectory(directory);
  }
  unlessExists(() => mkdirSync(paths.skills, { recursive: true }));
  writeIgnoreFiles(paths);
}

function writeIgnoreFiles({ root, sessions, knowledge, worktrees }: DiligentPaths): void {
  const own = join(root, ".gitignore");
  createPrivateFile(own, GITIGNORE);
  for (const directory of [sessions, knowledge]) ignoreAllIn(directory);
  if (lstatSync(worktrees, { throwIfNoEntry: false })?.isDirectory()) ignoreAllIn(worktrees);
  if (isEarlierIgnoreFile(own) && findTrackedState(dirname(root), ".diligent/.gitignore") === "untracked")
    writeFileSync(own, GITIGNORE);
}

function createPrivateFile(path: string, text: string): void {
  unlessExists(() => writeFileSync(path, text, { mode: 0o600, flag: "wx" }));
}

function ignoreAllIn(directory: string): void {
  try {
    createPrivateFile(join(directory, ".gitignore"), IGNORE_ALL);
  } catch {
    // If nothing can be written, the code that writes there reports it.
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
    const problem = systemErrorCode(error) === "EEXIST" ? findDirectoryProblem(directory) : undefined;
    throw problem === undefined ? error : new Error(problem);
  }
}

/** Existing files stay unchanged, including dangling links: nothing is written through a link. */
function unlessExists(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

/**
 * The reason why `.diligent/` and its directories cannot be used, for the user; undefined if they can be used or do not
 * exist. @throws the file system's error if they are not accessible.
 */
export function findDiligentDirProblem({ root, sessions, knowledge }: DiligentPaths): string | undefined {
  for (const directory of [root, sessions, knowledge]) {
    const problem = findDirectoryProblem(directory);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A link from a repository, or a directory of another user, would store the conversation elsewhere. */
function findDirectoryProblem(directory: string): string | undefined {
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
  const problem = findDirectoryProblem(directory);
  if (problem !== undefined) throw new Error(problem);
  if ((lstatSync(directory).mode & OTHERS) !== 0) makePrivate(directory);
}

function makePrivate(directory: string): void {
  try {
    chmodSync(directory, 0o700);
  } catch {
    // On a read-only file system it stays unchanged; the code that writes there reports it.
  }
}
