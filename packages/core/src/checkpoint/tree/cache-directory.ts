import { closeSync, constants, openSync, readSync, type Stats } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";
import { readSystemNames } from "../../infrastructure/reading/system-names.ts";
import { CACHE_TAG, CACHE_TAG_SIGNATURE, ENVIRONMENT_MARK } from "./passed-over.ts";

/** True for a directory whose tool says that all of it can be made again. */
export function isMarkedAsCache(directory: string): boolean {
  if (findStats(toSystemPath(`${directory}/${ENVIRONMENT_MARK}`))?.isFile()) return true;
  const tag = `${directory}/${CACHE_TAG}`;
  const isTagged = findStats(toSystemPath(tag))?.isFile() ?? false;
  return isTagged && readHead(tag, CACHE_TAG_SIGNATURE.length) === CACHE_TAG_SIGNATURE;
}

/**
 * Changes when something comes, goes or is replaced in its first level: what is deeper is not looked at, since there may be
 * hundreds of thousands of files.
 */
export function signCache(directory: string, stats: Stats): string {
  const lines = [describe(".", stats)];
  try {
    for (const name of readSystemNames(directory)) {
      const inner = findStats(toSystemPath(`${directory}/${name}`));
      if (inner) lines.push(describe(name, inner));
    }
  } catch {
    // It may not be listed, or went away: its own times have to do.
  }
  return Bun.SHA256.hash(lines.sort().join("\n"), "hex").slice(0, 32);
}

function describe(name: string, { ino, mode, mtimeMs }: Stats): string {
  return JSON.stringify([name, ino, mode, mtimeMs]);
}

function readHead(path: string, length: number): string | undefined {
  const head = Buffer.alloc(length);
  try {
    const file = openSync(
      toSystemPath(path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      return head.toString("utf8", 0, readSync(file, head, 0, length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // Not to be read: then it marks nothing.
  }
}
