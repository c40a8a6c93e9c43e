import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorText } from "../system-error.ts";

/**
 * Makes the directories above `path` that are missing, as any program of the user's would (0777 less the umask), and
 * calls `use`. If that throws, the directories made here go again.
 */
export function withParentDirectories(path: string, use: () => void): void {
  const parent = dirname(path);
  const firstMade = makeDirectories(parent);
  try {
    use();
  } catch (error) {
    if (firstMade !== undefined) removeUpTo(parent, firstMade);
    throw error;
  }
}

function makeDirectories(directory: string): string | undefined {
  try {
    return mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new Error(`Cannot make the directory ${directory}: ${systemErrorText(error)}.`);
  }
}

function removeUpTo(directory: string, last: string): void {
  try {
    for (let current = directory; ; current = dirname(current)) {
      rmdirSync(current);
      if (current === last) return;
    }
  } catch {
    // No longer empty: somebody else has begun to use it.
  }
}
