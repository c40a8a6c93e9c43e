import { fchownSync, fstatSync } from "node:fs";
import type { Owned } from "../tree-entry.ts";

/**
 * Gives what was just made the owner and the group that it had; only an administrator may give something away, others as a
 * rule their own groups at most. False where not both are as they were.
 */
export function giveOwner(descriptor: number, { uid, gid }: Owned): boolean {
  if (uid === undefined || gid === undefined) return true;
  const now = fstatSync(descriptor);
  if (now.uid === uid && now.gid === gid) return true;
  for (const owner of new Set([uid, now.uid])) {
    try {
      fchownSync(descriptor, owner, gid);
      return owner === uid;
    } catch {
      // Not for us to do: then the group alone, or neither.
    }
  }
  return false;
}
