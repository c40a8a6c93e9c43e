import { join, resolve } from "node:path";
import { homeDirectory } from "../../infrastructure/environment.ts";
import type { Workspace } from "../workspace.ts";

/**
 * The absolute path that a model means: relative ones start at the working directory, `~/` is the home directory.
 * Links are not followed. Throws for an empty path and for one with a NUL, which no system accepts.
 */
export function resolveFilePath(workspace: Workspace, givenPath: string): string {
  if (givenPath.trim() === "") throw new Error("The path is empty. Give the path of a file.");
  if (givenPath.includes("\0"))
    throw new Error("The path contains a NUL character. Give the path without it.");
  if (givenPath !== "~" && !givenPath.startsWith("~/")) return resolve(workspace.cwd, givenPath);
  const home = homeDirectory(workspace.environment);
  if (home === undefined)
    throw new Error(`There is no home directory to find ${givenPath} in. Give the whole path.`);
  return join(home, givenPath.slice(1));
}
