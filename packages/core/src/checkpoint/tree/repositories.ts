import { type Dirent, readdirSync } from "node:fs";
import type { TimeSlicer } from "../../infrastructure/async.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import { toAbsolute } from "../entries.ts";
import { isSkippedDirectory } from "./project-state.ts";

// Repositories beyond so many directories are not recorded; the nearest ones come first.
const MAX_DIRECTORIES = 200_000;

/** The entries of every repository, a bare one included. */
const PARTS: readonly string[] = ["HEAD", "objects", "refs"];

/**
 * The repositories in a project, as paths from its root: each `.git`, also a file that leads to one, and each bare
 * repository. Breadth first, in time slices. Caches and other file systems are not searched.
 * @throws StoppedError
 */
export async function findRepositories(root: string, slices: TimeSlicer): Promise<string[]> {
  const device = findStats(root)?.dev;
  const found: string[] = [];
  const queue = [""];
  for (let index = 0; index < queue.length && index < MAX_DIRECTORIES; index++) {
    if (slices.isDue) await slices.pause();
    const directory = queue[index] ?? "";
    const entries = listEntries(directory === "" ? root : toAbsolute(root, directory));
    const names = new Set(entries.map(({ name }) => name));
    if (directory !== "" && PARTS.every((name) => names.has(name))) {
      found.push(directory);
      continue;
    }
    for (const entry of entries) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (foldName(entry.name) === ".git") found.push(path);
      else if (entry.isDirectory() && !isSkippedDirectory(toAbsolute(root, path), entry.name, device))
        queue.push(path);
    }
  }
  return found;
}

function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(toSystemPath(directory), { withFileTypes: true });
  } catch {
    return []; // Not readable, or gone.
  }
}
