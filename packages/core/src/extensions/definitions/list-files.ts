import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { type DirectoryEntry, readDirectory } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import type { DefinitionDirectory } from "./directories.ts";

/** The files of a directory with definitions. */
interface DefinitionFiles {
  /** Absolute and sorted, those in the directory itself first. */
  files: string[];
  /** Links that lead out of the project, which are not followed. */
  links: string[];
  /** True if there are more than are read. */
  isCut: boolean;
}

const MAX_DEPTH = 6;
const MAX_FILES = 2_000;
const MAX_DIRECTORIES = 2_000;
const SKIPPED = new Set(["node_modules"]);

/** The files with this extension, six levels down, at most 2,000; hidden ones are left out. Never throws. */
export function listDefinitionFiles(
  { path: root, boundary, only }: DefinitionDirectory,
  extension: string,
): DefinitionFiles {
  const found: DefinitionFiles = { files: [], links: [], isCut: false };
  let level = [root];
  let budget = MAX_DIRECTORIES;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      if (budget-- === 0) return { ...found, isCut: true };
      for (const { name, kind } of listEntries(directory)) {
        if (only !== undefined && depth === 0 && name !== only) continue;
        const path = join(directory, name);
        const isFile = kind === "file" && name.endsWith(extension);
        if (kind === "link" && boundary !== undefined && !leadsInside(path, boundary)) found.links.push(path);
        else if (kind === "directory" || (kind === "link" && isDirectory(path))) next.push(path);
        else if (isFile || (kind === "link" && name.endsWith(extension))) found.files.push(path);
        if (found.files.length > MAX_FILES)
          return { ...found, files: found.files.slice(0, MAX_FILES), isCut: true };
      }
    }
    level = next;
  }
  return found;
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory)
      .filter(({ name, kind }) => kind !== "other" && !name.startsWith(".") && !SKIPPED.has(name))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return []; // Not readable: nothing in it can be used.
  }
}

/** True for a path inside, and for a link that leads nowhere. */
export function leadsInside(path: string, boundary: string): boolean {
  try {
    return isInside(realpathSync(path), boundary);
  } catch {
    return true; // A dangling link has nothing to read.
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
