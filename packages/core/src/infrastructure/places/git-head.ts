import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

// Real ones are below a hundred bytes; the limit keeps a planted file from being read whole.
const MAX_HEAD_BYTES = 4_096;
const BRANCH = /^ref: refs\/heads\/([^\s~^:?*[\\\p{Cc}\p{Cf}]{1,200})$/u;

/**
 * The branch that is checked out in `projectRoot`, or undefined. Read from the files: running git would run what the
 * repository configures.
 */
export function readGitBranch(projectRoot: string): string | undefined {
  try {
    const gitDirectory = findGitDirectory(join(projectRoot, ".git"), projectRoot);
    const head = gitDirectory && readSmallFile(join(gitDirectory, "HEAD"));
    return head === undefined ? undefined : BRANCH.exec(head.trimEnd())?.[1];
  } catch {
    // Whatever a repository put there that cannot be read: the branch is only a hint for the model.
    return undefined;
  }
}

/** True where `.git` is a file that names the repository, as in a worktree of `git worktree add`. */
export function isGitWorktree(projectRoot: string): boolean {
  try {
    const text = readSmallFile(join(projectRoot, ".git"));
    return text !== undefined && /^gitdir: .*\/worktrees\/[^/\n]+\/?$/m.test(text);
  } catch {
    // What cannot be read is told by whoever needs it.
    return false;
  }
}

/** In a worktree `.git` is a file that names the directory. */
function findGitDirectory(path: string, projectRoot: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return path;
  const target = stats?.isFile() ? /^gitdir: (.+)$/m.exec(readSmallFile(path) ?? "")?.[1] : undefined;
  return target && resolve(projectRoot, target);
}

function readSmallFile(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= MAX_HEAD_BYTES ? readFileSync(path, "utf8") : undefined;
}
