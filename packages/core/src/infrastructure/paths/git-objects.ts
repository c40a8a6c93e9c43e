import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readSmallText } from "../fs/read.ts";
import { findRealPath } from "../fs/real-path.ts";

/**
 * Larger packs of the project's own repository are not copied before a command: the sandbox mounts them so that commands
 * can neither change nor remove them. `git gc` leaves one pack for most of a history, so there are few of these.
 */
export const MAX_COPIED_OBJECT_BYTES = 16 * 1024 * 1024;

const MAX_CONFIG_BYTES = 256 * 1024;

/** The git directory of a worktree or submodule, and the one it shares objects, branches and settings with. */
interface LinkedRepository {
  gitDirectory: string;
  commonDirectory: string;
}

/**
 * Where `.git` of a project is a file that names a git directory elsewhere: that one, if it names the project in turn. One
 * that does not may be anybody's.
 */
export function findLinkedRepository(root: string): LinkedRepository | undefined {
  const named = firstLine(`${root}/.git`, /^gitdir: (.+)$/m);
  if (named === undefined) return undefined;
  const gitDirectory = realPathOf(resolve(root, named));
  if (!isDirectory(gitDirectory)) return undefined;
  const common = firstLine(`${gitDirectory}/commondir`, /^(.+)$/m);
  if (common !== undefined) {
    const commonDirectory = realPathOf(resolve(gitDirectory, common));
    const back = firstLine(`${gitDirectory}/gitdir`, /^(.+)$/m);
    const isOurs = back !== undefined && realPathOf(resolve(gitDirectory, back)) === `${root}/.git`;
    return isOurs && dirname(gitDirectory) === `${commonDirectory}/worktrees`
      ? { gitDirectory, commonDirectory }
      : undefined;
  }
  const worktree = firstLine(`${gitDirectory}/config`, /^[ \t]*worktree[ \t]*=[ \t]*(.+)$/m);
  const isOurs = worktree !== undefined && realPathOf(resolve(gitDirectory, worktree)) === root;
  return isOurs ? { gitDirectory, commonDirectory: gitDirectory } : undefined;
}

function firstLine(path: string, pattern: RegExp): string | undefined {
  return pattern.exec(readSmallText(path, MAX_CONFIG_BYTES) ?? "")?.[1]?.trimEnd();
}

function realPathOf(path: string): string {
  return findRealPath(path, "/") ?? path;
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
