import { dirname } from "node:path";

/**
 * Of git directories, those that are mounted over themselves in every command, so that no command can exchange them: what
 * lies right in a root.
 */
export function findHeldGitDirectories(directories: Iterable<string>, roots: readonly string[]): string[] {
  return [...directories].filter((path) => !roots.includes(path) && roots.includes(dirname(path)));
}
