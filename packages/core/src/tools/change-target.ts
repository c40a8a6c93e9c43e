import { dirname } from "node:path";
import { withDirectoryLock } from "../infrastructure/fs/directory-lock.ts";
import type { ApprovedTarget } from "./target.ts";

/** Where a change will be made, and whether it is still wanted. */
export interface TargetLocation {
  /** See `TargetGate.locate`. */
  locate(): ApprovedTarget;
  signal: AbortSignal;
}

/**
 * Calls `change` with the file as it is now, while no other diligent changes a file beside it: what `change` reads
 * is what it replaces. @throws whatever `locate` and `change` throw, and the abort reason if nothing was changed
 * yet.
 */
export async function changeTarget<T>(
  { locate, signal }: TargetLocation,
  change: (target: ApprovedTarget) => T,
): Promise<T> {
  signal.throwIfAborted();
  // Resolved again under the lock: another process may have put a new file there meanwhile.
  return withDirectoryLock(dirname(locate().realPath), () => {
    signal.throwIfAborted();
    return change(locate());
  });
}
