import { mkdirSync, rmdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isExistingPath } from "../reading/directory-names.ts";
import { HeldDirectory } from "../reading/held-directory.ts";
import { MovedPathError } from "../reading/opened-path.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";

/**
 * Makes the directories above `path` that are missing, as any program of the user's would (0777 less the umask), and
 * calls `use`. If that throws, the directories made here go again. `path` must be real as far as it exists; nothing is
 * made or removed where another process makes it lead meanwhile.
 * @throws Error that says which directory could not be made, `MovedPathError`, and what `use` throws.
 */
export function withParentDirectories(path: string, use: () => void): void {
  const made = makeDirectories(dirname(path));
  try {
    use();
  } catch (error) {
    removeDirectories(made);
    throw error;
  }
}

/** The directories that were made, the innermost first. */
function makeDirectories(directory: string): string[] {
  const missing: string[] = [];
  let existing = directory;
  for (; !isExistingPath(existing); existing = dirname(existing)) missing.unshift(existing);
  if (missing.length === 0) return [];
  const made: string[] = [];
  try {
    makeBelow(existing, missing, made);
    return made;
  } catch (error) {
    removeDirectories(made);
    if (error instanceof MovedPathError) throw error;
    throw new Error(`Cannot make the directory ${directory}: ${systemErrorText(error)}.`);
  }
}

/** Each of `missing` lies in the one before it, the first in `existing`. What was made is put in front of `made`. */
function makeBelow(existing: string, missing: readonly string[], made: string[]): void {
  let parent = HeldDirectory.open(existing);
  try {
    for (const path of missing) {
      if (makeDirectory(parent, path)) made.unshift(path);
      const child = parent.openChild(basename(path));
      parent[Symbol.dispose]();
      parent = child;
    }
  } finally {
    parent[Symbol.dispose]();
  }
}

/** False when somebody else has just made it. */
function makeDirectory(parent: HeldDirectory, path: string): boolean {
  try {
    mkdirSync(parent.at(basename(path)));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeDirectories(made: readonly string[]): void {
  try {
    for (const directory of made) {
      using parent = HeldDirectory.open(dirname(directory));
      rmdirSync(parent.at(basename(directory)));
    }
  } catch {
    // No longer empty or no longer there: somebody else has begun to use it.
  }
}
