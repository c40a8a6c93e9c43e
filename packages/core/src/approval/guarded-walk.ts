import { join } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/reading/directory-entries.ts";

export interface WalkOptions {
  /** True when a file of this path may not be read without being asked about. */
  isGuarded(path: string): boolean;
  /** True when names that begin with a dot are passed over. */
  skipsHidden: boolean;
  /** True when links are followed. */
  followsLinks: boolean;
}

/** What stands in the way of reading everything below a directory. */
export type WalkFinding =
  | { kind: "guarded"; path: string }
  | { kind: "link"; path: string }
  | { kind: "too_large" };

// Some ten milliseconds; whoever searches more than that can be asked, or uses the grep tool.
const MAX_ENTRIES = 10_000;

// What packages bring is public, and there is a test key in many of them; Git keeps no files under their names.
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Looks for what a program that reads everything below a directory would read without being asked about. */
export function findGuarded(directory: string, options: WalkOptions): WalkFinding | undefined {
  const waiting = [directory];
  let left = MAX_ENTRIES;
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = listEntries(current);
    left -= entries.length;
    if (left < 0) return { kind: "too_large" };
    for (const entry of entries) {
      if (options.skipsHidden && entry.name.startsWith(".")) continue;
      const path = join(current, entry.name);
      if (entry.kind === "link" && options.followsLinks) return { kind: "link", path };
      if (entry.kind === "directory" && !PASSED_OVER.has(entry.name)) waiting.push(path);
      else if (entry.kind === "file" && options.isGuarded(path)) return { kind: "guarded", path };
    }
  }
  return undefined;
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // A file, nothing, or a directory that nobody of this user may list: there is nothing to find below it.
    return [];
  }
}
