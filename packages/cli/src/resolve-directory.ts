import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "./usage-error.ts";

/**
 * The directory to work in, absolute and real.
 * @param directory as given with `-C`.
 * @throws UsageError when it is none.
 */
export function resolveDirectory(directory: string | undefined, cwd: string): string {
  try {
    const path = realpathSync(resolve(cwd, directory ?? "."));
    if (statSync(path).isDirectory()) return path;
  } catch {
    // Missing, or in a directory that may not be searched: the same to whoever named it.
  }
  const label = directory === undefined ? `the working directory ${cwd}` : `-C ${directory}`;
  throw new UsageError(`${label}: not a directory that can be used`);
}
