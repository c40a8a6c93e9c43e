import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import { type Environment, homeDirectory, processAccount } from "../infrastructure/runtime.ts";

const SHARED_TEMPORARY: readonly string[] = ["/tmp", "/var/tmp"];

/**
 * The shared temporary directories, which other sessions use too: the system's, and the one configured for this
 * process unless it contains more than temporary files.
 */
export function findSharedTemporary(configured: string, homes: readonly string[]): string[] {
  const own = realPathOf(configured);
  const holdsMore = own === "/" || homes.some((home) => isInside(realPathOf(home), own));
  const isKnown = SHARED_TEMPORARY.some((directory) => isInside(own, directory));
  return [...SHARED_TEMPORARY, ...(holdsMore || isKnown ? [] : [own])];
}

/** The user's home directories: the one in the environment, and the account's if it differs. */
export function findOwnHomes(environment: Environment): string[] {
  const homes = [homeDirectory(environment), processAccount().home];
  return [...new Set(homes.flatMap((home) => (home && home !== "/" ? [home] : [])))];
}

function realPathOf(path: string): string {
  return findRealPath(path, "/") ?? path;
}
