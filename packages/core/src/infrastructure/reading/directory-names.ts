import { lstatSync, readdirSync } from "node:fs";

/** The names in a directory, sorted; undefined where there is no directory or it cannot be read. */
export function listNames(directory: string): string[] | undefined {
  try {
    return readdirSync(directory).sort();
  } catch {
    return undefined; // Only used for hints: why it is not readable makes no difference to them.
  }
}

/** True for anything of that name, also a link that leads nowhere; false for what may not be looked at. */
export function isExistingPath(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // For instance a file in place of a directory: nothing can be there.
  }
}
