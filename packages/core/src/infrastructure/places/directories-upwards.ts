import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findRealPath, isInside } from "../reading/real-path.ts";
import { findProjectRoot } from "./project-root.ts";

/** Where files that hold for a whole project may lie. */
export interface DirectoriesUpwards {
  /** Real paths, the start first. */
  directories: string[];
  /** The directory with `.git` that ends the list, where there is one. */
  repository: string | undefined;
}

/**
 * The directories from `cwd` up to the one that has `.git`, both included. Where there is none: up to the home
 * directory. What lies above the home directory is never in the list, unless one starts there.
 */
export function findDirectoriesUpwards(cwd: string, home: string | undefined): DirectoriesUpwards {
  const start = realpathSync(cwd);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  const repository = findRepository(start, realHome);
  const directories = [start];
  for (let current = start; current !== repository && current !== realHome; ) {
    const parent = dirname(current);
    if (parent === current || isAbove(parent, realHome)) break;
    directories.push(parent);
    current = parent;
  }
  return { directories, repository };
}

function findRepository(start: string, home: string | undefined): string | undefined {
  const root = findProjectRoot(start, home);
  if (root !== start) return root;
  const isHomeOrAbove = home !== undefined && isInside(home, root);
  return !isHomeOrAbove && existsSync(join(root, ".git")) ? root : undefined;
}

function isAbove(directory: string, home: string | undefined): boolean {
  return home !== undefined && directory !== home && isInside(home, directory);
}
