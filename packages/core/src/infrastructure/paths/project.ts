import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The nearest directory upwards with `.git`, else `cwd` itself. A `.git` in the home directory or above does not count:
 * a repository of dotfiles would make everything one project. The result is a real path.
 */
export function findProjectRoot(cwd: string, home: string | undefined): string {
  const start = realpathSync(cwd);
  const limits = home === undefined ? new Set<string>() : ancestorsOf(realPathOr(home));
  for (let directory = start; !limits.has(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (dirname(directory) === directory) break;
  }
  return start;
}

/** The directory and everything above it. */
function ancestorsOf(directory: string): Set<string> {
  const ancestors = new Set<string>();
  for (let current = directory; !ancestors.has(current); current = dirname(current)) ancestors.add(current);
  return ancestors;
}

function realPathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A missing home directory cannot contain a repository.
    return path;
  }
}
