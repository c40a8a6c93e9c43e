import { realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";

/**
 * An absolute directory in which the running Bun is called `bun`, for the `PATH` of a child. It may differ
 * from the directory of the executable: npm installs that as `bun.exe` and adds a directory of links to
 * `PATH`.
 */
export const BUN_DIRECTORY = findBunDirectory(process.execPath, process.env.PATH ?? "");

/** @throws Error if neither the directory of `executable` nor an absolute one in `path` has it as `bun`. */
export function findBunDirectory(executable: string, path: string): string {
  const directories = [dirname(executable), ...path.split(delimiter).filter(isAbsolute)];
  const found = directories.find((directory) => isSameFile(join(directory, "bun"), executable));
  if (found === undefined) {
    throw new Error(`No directory in PATH has ${executable} as "bun". Add one, for instance a link to it.`);
  }
  return found;
}

function isSameFile(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other);
  } catch {
    // There is no such file.
    return false;
  }
}
