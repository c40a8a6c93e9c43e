import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { UsageError } from "./usage-error.ts";

/**
 * The directory to work in, absolute and real.
 * @param directory as given with `-C`.
 * @param cwd empty where it was removed and nobody knows what it was called.
 * @throws UsageError when it is none.
 */
export function resolveDirectory(directory: string | undefined, cwd: string): string {
  const named = isAbsolute(cwd) ? resolve(cwd, directory ?? ".") : (directory ?? "");
  try {
    const path = realpathSync(named);
    if (isAbsolute(named) && statSync(path).isDirectory()) return path;
  } catch {
    // Missing, or in a directory that may not be searched: the same to whoever named it.
  }
  const workingDirectory = cwd === "" ? "the working directory" : `the working directory ${cwd}`;
  const label = directory === undefined ? workingDirectory : `-C ${directory}`;
  throw new UsageError(`${label}: not a directory that can be used`);
}
