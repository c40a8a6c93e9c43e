import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { UsageError } from "../errors.ts";

/**
 * The working directory, absolute and real.
 * @param directory as given with `option`.
 * @param cwd empty if it was removed and its name is unknown.
 * @throws UsageError if it is not a directory.
 */
export function resolveDirectory(directory: string | undefined, cwd: string, option = "-C"): string {
  const named = isAbsolute(cwd) ? resolve(cwd, directory ?? ".") : (directory ?? "");
  try {
    const path = realpathSync(named);
    if (isAbsolute(named) && statSync(path).isDirectory()) return path;
  } catch {
    // Missing, or in a directory that may not be searched: no difference to the user.
  }
  const workingDirectory = cwd === "" ? "the working directory" : `the working directory ${cwd}`;
  const label = directory === undefined ? workingDirectory : `${option} ${directory}`;
  throw new UsageError(`${label}: not a usable directory`);
}
