import { readdirSync, type Stats } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import type { ControlEntry } from "../tree-entry.ts";
import { markControl } from "./control-mark.ts";

/** Without one of these a repository is none any more; everything else in it comes and goes. */
const OF_REPOSITORY: ReadonlySet<string> = new Set(["HEAD", "config", "objects", "refs"]);

// What we put there and take away ourselves.
const OURS = /^sessions$|\.lock$|\.tmp$/;

/** For `.git`, `.diligent` and pipes; undefined for other special files, which servers make and remove as they like. */
export function signControl(absolute: string, stats: Stats): ControlEntry | undefined {
  if (stats.isFIFO()) return { kind: "control", parts: ["pipe"] };
  const isFile = stats.isFile() || stats.isSymbolicLink();
  if (!isFile && !stats.isDirectory()) return undefined;
  const mark = markControl(absolute, stats, (name) => OURS.test(name));
  return { kind: "control", parts: isFile ? ["file"] : ["directory", ...listParts(absolute)], mark };
}

/** True when nothing of what was there has gone away. */
export function isWhole(before: ControlEntry, now: ControlEntry): boolean {
  return before.parts.every((part) => now.parts.includes(part));
}

function listParts(absolute: string): string[] {
  try {
    const names = readdirSync(toSystemPath(absolute));
    const isGit = absolute.toLowerCase().endsWith("/.git");
    return names.filter((name) => (isGit ? OF_REPOSITORY.has(name) : !OURS.test(name))).sort();
  } catch {
    return []; // Not to be listed: then only that it is there is known.
  }
}
