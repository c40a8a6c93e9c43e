import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Environment, homeDirectory } from "../../infrastructure/environment.ts";
import { findProjectRoot } from "../../infrastructure/places/project-root.ts";
import { readRecentInputs } from "../../infrastructure/reading/recent-inputs.ts";
import { isReachable } from "./reachable-place.ts";

// Neighbours and projects that were worked in; the most recent ones where there are more.
const MAX_PROJECTS = 100;
const MAX_NEIGHBOURS = 2_000;
const MAX_INPUTS = 2_000;

/**
 * Finds `.diligent` of other projects: those beside this one, and those that prompts were sent in before. What was sent
 * is read once, what there is of it is looked at each time.
 */
export function createProjectFinder(root: string, environment: Environment): () => string[] {
  let visited: readonly string[] | undefined;
  return () => {
    visited ??= findVisited(environment);
    const neighbours = directoriesIn(dirname(root)).slice(0, MAX_NEIGHBOURS);
    const others = [...new Set([...visited, ...neighbours])].filter((directory) => directory !== root);
    return others
      .map((directory) => join(directory, ".diligent"))
      .filter(isReachable)
      .slice(0, MAX_PROJECTS);
  };
}

function findVisited(environment: Environment): string[] {
  const home = homeDirectory(environment);
  const inputs = readRecentInputs(environment, { root: "/", limit: MAX_INPUTS });
  return [...new Set(inputs.map(({ cwd }) => cwd))].flatMap((cwd) => findRoot(cwd, home));
}

function findRoot(cwd: string, home: string | undefined): string[] {
  try {
    return [findProjectRoot(cwd, home)];
  } catch {
    return []; // A project that is gone has no sessions either.
  }
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(directory, name));
  } catch {
    return []; // Not for this user.
  }
}
