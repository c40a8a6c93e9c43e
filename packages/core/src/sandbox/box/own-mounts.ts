import { dirname } from "node:path";
import { findRealPath, isInside } from "../../infrastructure/reading/real-path.ts";
import { findHeldGitDirectories } from "../control/held-git-directories.ts";

export interface OwnMountsInput {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Git directories elsewhere that they may write to as well. */
  linkedGitDirectories: readonly string[];
  /** All git directories. */
  gitDirectories: readonly string[];
  /** Of these, those that were there when nothing ran, and have been held in place for everything that ran since. */
  settledGitDirectories: ReadonlySet<string>;
}

/**
 * What is mounted over itself, so that it can be written to and not be exchanged. Bubblewrap is told paths, and follows them
 * some time after they were looked at. So nothing is among these that lies behind a directory which something boxed could
 * put a link in the place of: what lies right in a root, or leads to a root in another one from the first command on.
 */
export function findFixed(input: OwnMountsInput): string[] {
  const { roots, linkedGitDirectories, gitDirectories, settledGitDirectories } = input;
  const settled = gitDirectories.filter((path) => settledGitDirectories.has(path));
  const right = findHeldGitDirectories(settled, roots);
  const ways = roots.flatMap((root) => roots.flatMap((outer) => findWay(root, outer)));
  return [...right, ...ways, ...findOutermost(linkedGitDirectories, roots)];
}

/** From one root to another in which it lies: that one left out, itself included. */
function findWay(root: string, outer: string): string[] {
  return root === outer || !isInside(root, outer) ? [] : [root, ...findWay(dirname(root), outer)];
}

/** In a root they are reached through that, and what lies in one of them through it. */
function findOutermost(directories: readonly string[], roots: readonly string[]): string[] {
  const isHeldBy = (path: string, others: readonly string[]) =>
    others.some((other) => other !== path && isInside(path, other));
  return directories.filter(
    (path) => !roots.includes(path) && !isHeldBy(path, roots) && !isHeldBy(path, directories),
  );
}

/** @throws Error where a link leads to one of the directories: what is mounted there would be another place. */
export function assertReal(directories: readonly string[]): void {
  for (const path of directories)
    if (findRealPath(path, "/") !== path) throw new Error(`${path} is a link now, or lies behind one`);
}

/**
 * Directories of the shared temporary ones that lie on the way to what is mounted there. What a command has in its own
 * temporary directory would be mounted through otherwise: each box gets others, which are empty.
 */
export function findCovers(mounted: readonly string[], sharedTemporary: readonly string[]): string[] {
  const covers = sharedTemporary.flatMap((shared) =>
    mounted.flatMap((path) => {
      const [first] = path.startsWith(`${shared}/`) ? path.slice(shared.length + 1).split("/") : [];
      return first === undefined ? [] : [`${shared}/${first}`];
    }),
  );
  return [...new Set(covers)].filter((path) => !mounted.includes(path)).sort();
}
