import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../environment.ts";
import { isInside } from "../reading/real-path.ts";
import { cleanPath } from "./executables.ts";

/** A child and the project it is started in. */
export interface ProgramSearch {
  /** Whose PATH is searched, as a child gets it; see `cleanPath`. */
  environment: Environment;
  /** Both absolute and real. */
  root: string;
  cwd: string;
}

// Never somebody's project, even where `/` is taken for one.
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set([
  "/usr/local/bin",
  "/usr/bin",
  "/bin",
  "/usr/sbin",
  "/sbin",
]);

const cleanPaths = new Map<string, string[]>();

/**
 * Where a child finds a program: `outside` the project, in the `project`, or nowhere. A version manager's stand-in
 * counts as the project's, since the project's files decide what it runs. Looked up anew each time, as the child does.
 */
export function findProgramPlace(name: string, search: ProgramSearch): "outside" | "project" | "nowhere" {
  for (const directory of searchedDirectories(search)) {
    const file = join(directory, name);
    const real = executableAt(file);
    if (real === undefined) continue;
    if (search.root === "/" && SYSTEM_DIRECTORIES.has(directory)) return "outside";
    const isProjects = isInside(real, search.root) || isInside(file, search.root);
    return isProjects || /\/shims\//.test(file) ? "project" : "outside";
  }
  return "nowhere";
}

function searchedDirectories({ environment, root, cwd }: ProgramSearch): readonly string[] {
  const key = JSON.stringify([environment.PATH, root, cwd]);
  const known = cleanPaths.get(key);
  if (known) return known;
  const directories = cleanPath(environment.PATH, { root, cwd }).split(delimiter);
  cleanPaths.set(key, directories);
  return directories;
}

function executableAt(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? realpathSync(file) : undefined;
  } catch {
    // Not there or not to be run: the next directory is tried.
    return undefined;
  }
}
