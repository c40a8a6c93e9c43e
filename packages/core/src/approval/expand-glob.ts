import { isAbsolute } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/reading/directory-entries.ts";
import { isExistingPath } from "../infrastructure/reading/directory-names.ts";
import { isReadable } from "../infrastructure/reading/real-path.ts";
import type { Looks } from "./looks.ts";
import { showWord } from "./show-word.ts";
import { matchesText } from "./text-pattern.ts";

const MAX_ENTRIES = 5_000;

/** `names` are relative as the pattern is; none where it stays as it is written. */
export type GlobExpansion = { names: string[] } | { obstacle: string; isTooLarge: boolean };

/**
 * The names a shell may put in the place of a pattern. A `[` counts as anything, so there may be more than the shell
 * finds, never less. Quotes are gone from `pattern`: what was quoted in it counts as a pattern too.
 */
export function expandGlob(pattern: string, cwd: string, looks: Looks): GlobExpansion {
  const search: Search = { cwd, left: MAX_ENTRIES, looks };
  let found = [isAbsolute(pattern) ? "/" : ""];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    const next: string[] = [];
    for (const directory of found) {
      const names = /[*?[]/.test(part) ? findNames(part, directory || ".", search) : [part];
      if (names === undefined) {
        const obstacle = `${showWord(pattern)} may stand for a file whose name is no valid Unicode`;
        return { obstacle, isTooLarge: false };
      }
      next.push(...names.map((name) => joinName(directory, name)));
      if (Math.min(search.left, looks.left) < 0 || next.length > MAX_ENTRIES) {
        return { obstacle: `${showWord(pattern)} stands for too many files to look at`, isTooLarge: true };
      }
    }
    found = next;
  }
  return { names: found.filter((path) => isExistingPath(isAbsolute(path) ? path : `${cwd}/${path}`)) };
}

function joinName(directory: string, name: string): string {
  return directory === "" || directory === "/" ? directory + name : `${directory}/${name}`;
}

interface Search {
  cwd: string;
  /** How many entries may still be looked at for this pattern. */
  left: number;
  looks: Looks;
}

/** Undefined where a name cannot be told: what it was is lost, and with it what the shell puts there. */
function findNames(part: string, directory: string, search: Search): string[] | undefined {
  const entries = listEntries(isAbsolute(directory) ? directory : `${search.cwd}/${directory}`);
  // A directory costs something when it is empty, too.
  search.left -= entries.length;
  search.looks.left -= entries.length + 1;
  const names = entries.map(({ name }) => name);
  if (!names.every(isReadable)) return undefined;
  // Older shells find these two as well.
  return [".", "..", ...names].filter(toMatcher(part));
}

/** Names that begin with a dot are found by patterns that do, or by a `[`. */
function toMatcher(part: string): (name: string) => boolean {
  const at = part.indexOf("[");
  const pattern = at < 0 ? part : `${part.slice(0, at)}*`;
  // A `?` is one character, one byte or what else the language of the shell takes for one: beyond ASCII these differ.
  const anyLength = pattern.replaceAll("?", "*");
  const findsHidden = part.startsWith(".") || at === 0;
  return (name) =>
    (findsHidden || !name.startsWith(".")) && matchesText(isAscii(name) ? pattern : anyLength, name);
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // Not a directory or not ours to read: nothing in it can be meant.
    return [];
  }
}
