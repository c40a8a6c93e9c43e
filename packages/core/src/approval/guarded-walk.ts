import { join } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/reading/directory-entries.ts";
import { pathKind } from "../infrastructure/reading/path-kind.ts";
import { isReadable } from "../infrastructure/reading/real-path.ts";
import type { Looks } from "./looks.ts";

/** What a search through a directory comes by; `path` begins with that directory. */
export type WalkStep =
  | { kind: "file" | "link" | "special"; path: string }
  /** A name that is no valid Unicode: nothing can be said about it, or what lies below it. */
  | { kind: "unreadable"; path: string }
  /** There is more than can be looked at. */
  | { kind: "too_large" };

// Some ten milliseconds; whoever searches more than that can be asked, or uses the grep tool.
const MAX_ENTRIES = 10_000;

// What packages bring is public, and there is a test key in many of them.
const PACKAGES = "node_modules";

// Of what Git keeps, that which has no settings in it, and many files.
const GIT_DIRECTORIES: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** How far a walk goes; `looks` is counted down by what it lists. */
export interface WalkOptions {
  /** False passes over what is public or made by Git. */
  isThorough: boolean;
  looks: Looks;
}

/** Goes through everything below a directory. Links are named, not followed. */
export function* walkFiles(directory: string, { isThorough, looks }: WalkOptions): Generator<WalkStep, void> {
  const waiting = [directory];
  let left = MAX_ENTRIES;
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = listEntries(current);
    left -= entries.length;
    looks.left -= entries.length + 1;
    if (Math.min(left, looks.left) < 0) {
      yield { kind: "too_large" };
      return;
    }
    for (const { name, kind } of entries) {
      const path = join(current, name);
      const known = kind === "other" ? kindOfOther(path) : kind;
      if (!isReadable(name)) yield { kind: "unreadable", path };
      else if (known !== "directory") yield { kind: known, path };
      else if (isThorough || !isPassedOver(name, current)) waiting.push(path);
    }
  }
}

function isPassedOver(name: string, parent: string): boolean {
  return name === PACKAGES || (GIT_DIRECTORIES.has(name) && /\/\.git(?:\/|$)/.test(parent));
}

/** Some file systems do not say what an entry is until it is looked at. */
function kindOfOther(path: string): "directory" | "file" | "link" | "special" {
  const kind = pathKind(path);
  return kind === "missing" || kind === "unknown" ? "special" : kind;
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // A file, nothing, or a directory that nobody of this user may list: there is nothing to find below it.
    return [];
  }
}
