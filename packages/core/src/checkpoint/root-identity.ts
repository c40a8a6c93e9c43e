import { findStats } from "../infrastructure/reading/find-stats.ts";

/**
 * Which directory stands at the project's path: `INODE` and, where the file system tells, `INODE:BIRTH` (milliseconds).
 * Undefined where there is none. The number of the device does not count: some systems give another one at each start.
 */
export function readRootIdentity(root: string): string | undefined {
  const stats = findStats(root);
  if (!stats?.isDirectory()) return undefined;
  const { ino, birthtimeMs, ctimeMs } = stats;
  // Where no birth is kept, the time of the last change stands in for it.
  const isKnown = birthtimeMs > 0 && birthtimeMs < ctimeMs;
  return isKnown ? `${ino}:${birthtimeMs}` : String(ino);
}

/** False when these are certainly two directories. */
export function isSameRoot(left: string, right: string): boolean {
  const [leftInode, leftBirth] = left.split(":");
  const [rightInode, rightBirth] = right.split(":");
  if (leftInode !== rightInode) return false;
  return leftBirth === undefined || rightBirth === undefined || leftBirth === rightBirth;
}
