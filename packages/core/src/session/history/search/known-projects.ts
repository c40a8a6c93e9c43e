import { existsSync } from "node:fs";
import { readInputDirectories } from "../../../infrastructure/fs/input-history.ts";
import { findProjectRoot } from "../../../infrastructure/paths/project.ts";
import { type Environment, homeDirectory } from "../../../infrastructure/runtime.ts";
import { addToList, type HistoryPaths, historyPaths, readList } from "./database.ts";

/**
 * Notes the projects that the input history names, which forgets old ones, and further ones; returns the roots of all
 * that are noted. @throws Error if the list cannot be written.
 */
export function noteProjects(
  { projects }: Pick<HistoryPaths, "projects">,
  environment: Environment,
  further: readonly string[] = [],
): string[] {
  const home = homeDirectory(environment);
  const noted = readList(projects, "root");
  const used = readInputDirectories(environment).flatMap((directory) =>
    existsSync(directory) ? [findProjectRoot(directory, home)] : [],
  );
  const added = [...new Set([...further, ...used])].filter((project) => !noted.has(project));
  if (added.length > 0)
    addToList(
      projects,
      added.map((root) => ({ root })),
    );
  return [...noted, ...added];
}

/** The same before the input history drops what names them. @throws Error if the list cannot be written. */
export function noteUsedProjects(environment: Environment): void {
  const paths = historyPaths(environment);
  if (paths) noteProjects(paths, environment);
}
