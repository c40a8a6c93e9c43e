import { type BigIntStats, statSync } from "node:fs";
import { dirname } from "node:path";

const WRITABLE_BY_ALL = 0o002n;
const OPEN_TO_OTHERS = 0o077n;

/** A file that was found: under which path, where it really lies, and what it is. */
export interface FoundFile {
  path: string;
  realPath: string;
  stats: BigIntStats;
}

/**
 * Why the content of a file could be somebody else's, in words that fit behind "it is not loaded:", or undefined when
 * only this user and the superuser can have written it. The directories count as well: who may write there may put
 * another file in its place. A group's rights do not count.
 */
export function findOwnershipConcern({ path, realPath, stats }: FoundFile): string | undefined {
  const ofFile = describeConcern(stats, "it");
  if (ofFile !== undefined) return ofFile;
  for (const directory of new Set([dirname(path), dirname(realPath)])) {
    const concern = describeConcern(statSync(directory, { bigint: true }), `its directory ${directory}`);
    if (concern !== undefined) return concern;
  }
  return undefined;
}

/** True when its group or everybody may read or write it. */
export function isOpenToOthers(stats: BigIntStats): boolean {
  return (stats.mode & OPEN_TO_OTHERS) !== 0n;
}

function describeConcern({ uid, mode }: BigIntStats, subject: string): string | undefined {
  const own = process.getuid?.();
  // Without user ids there is nothing to compare.
  if (own === undefined) return undefined;
  if (uid !== BigInt(own) && uid !== 0n) return `${subject} belongs to another user (uid ${uid})`;
  return (mode & WRITABLE_BY_ALL) === 0n ? undefined : `anybody may write to ${subject}`;
}
