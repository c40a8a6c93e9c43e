import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** What a regular file of at most `maxBytes` says; undefined for anything else, a link included. Never waits. */
export function readSmallText(path: string, maxBytes: number): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(descriptor, "utf8") : undefined;
  } catch {
    return undefined; // Gone, or not for this user: the caller makes the worst of it.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
