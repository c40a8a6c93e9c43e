import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
`;

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
 * Makes `.diligent/` with its folders (0700, but for `skills/`, which is tracked by git) and its `.gitignore`. What is
 * there already stays as it is.
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
  unlessThere(() => writeFileSync(join(paths.root, ".gitignore"), GITIGNORE, { mode: 0o600, flag: "wx" }));
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const obstacle = systemErrorCode(error) === "EEXIST" ? findObstacle(directory) : undefined;
    throw obstacle === undefined ? error : new Error(obstacle);
  }
}

/** What is there stays as it is, a link that leads nowhere included: nothing is written through one. */
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
    return `${directory} is a symbolic link${existsSync(directory) ? "" : " that leads nowhere"}`;
  if (!stats.isDirectory()) return `${directory} is a file, not a directory`;
  const userId = process.getuid?.();
  return userId === undefined || stats.uid === userId ? undefined : `${directory} belongs to another user`;
}

/** What is ours becomes private. @throws Error where it is no directory of ours. */
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
