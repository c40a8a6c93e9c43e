import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

/**
 * The place in the project that a path leads to, links followed, as a path from the project's root on; undefined outside of
 * the project, and for the root itself.
 * @param place `cwd`: where relative paths begin, absolute. `root`: the project, absolute and real.
 */
export function toProjectPath(
  path: string,
  { cwd, root }: { cwd: string; root: string },
): string | undefined {
  const absolute = findRealPlace(resolve(cwd, path));
  const found = absolute === undefined ? "" : relative(root, absolute);
  return found === "" || found.startsWith("..") || isAbsolute(found) ? undefined : found;
}

/** Where a path really leads, as far as it exists. */
function findRealPlace(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    const real = parent === path ? undefined : findRealPlace(parent);
    return real && join(real, basename(path)); // It, or a part of the way to it, is yet to be made.
  }
}
