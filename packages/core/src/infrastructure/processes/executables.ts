import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "../environment.ts";
import { isInside } from "../reading/real-path.ts";

// What a POSIX system searches when PATH is not set. Never somebody's project, even where `/` is taken for one.
const SYSTEM_DIRECTORIES: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];
const DEFAULT_PATH = SYSTEM_DIRECTORIES.join(delimiter);

const resolved = new Map<string, string | undefined>();
const cleaned = new Map<string, string>();

/** Where a program is looked for that we start ourselves. */
export interface ExecutableSearch {
  /** Whose PATH is searched. */
  environment: Environment;
  /** A directory whose files are somebody else's: programs in it are passed over, by real path. */
  outside: string;
}

/**
 * The absolute path of a program, or undefined. Looked up once: a program that is put into PATH later does not take the
 * place of the first. Relative and empty entries of PATH mean the working directory and are passed over.
 */
export function resolveExecutable(
  name: string,
  { environment, outside }: ExecutableSearch,
): string | undefined {
  const path = environment.PATH || DEFAULT_PATH;
  const key = [name, outside, path].join("\0");
  if (!resolved.has(key)) resolved.set(key, findExecutable(name, path, outside));
  return resolved.get(key);
}

function findExecutable(name: string, path: string, outside: string): string | undefined {
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory));
  const isTrusted = (path: string, directory: string) =>
    SYSTEM_DIRECTORIES.includes(directory) || !leadsInto(path, outside);
  const place = directories.find((directory) => {
    const file = join(directory, name);
    return isTrusted(directory, directory) && isExecutable(file) && isTrusted(file, directory);
  });
  return place && join(place, name);
}

/**
 * PATH for a child, looked up once as programs are: without the relative and empty entries, and without the project's top
 * and the working directory themselves, where a cloned `git` or `ls` could lie in wait. The project's `node_modules/.bin`,
 * which `bunx` and `bun run` put in front unasked, moves to the end. Other directories in the project (an activated virtual
 * environment) are there because the user put them there, and stay.
 */
export function cleanPath(path: string | undefined, project: { root: string; cwd: string }): string {
  const key = [path, project.root, project.cwd].join("\0");
  const known = cleaned.get(key) ?? computeCleanPath(path, project);
  cleaned.set(key, known);
  return known;
}

function computeCleanPath(path: string | undefined, project: { root: string; cwd: string }): string {
  const root = realPathOf(project.root);
  const unwanted = [root, realPathOf(project.cwd)];
  const places = (path || DEFAULT_PATH)
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => ({ directory, real: realPathOf(directory) }))
    .filter(({ real }) => !unwanted.includes(real));
  const isProjectBin = ({ directory, real }: { directory: string; real: string }) =>
    directory.replace(/\/+$/, "").endsWith("/node_modules/.bin") && isInside(real, root);
  const ordered = [...places.filter((place) => !isProjectBin(place)), ...places.filter(isProjectBin)];
  return ordered.map(({ directory }) => directory).join(delimiter);
}

function leadsInto(path: string, directory: string): boolean {
  return isInside(realPathOf(path), realPathOf(directory));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there or not ours to run: the next entry of PATH is tried.
    return false;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // What does not exist cannot be run either; the text is then as good as any.
    return path;
  }
}
