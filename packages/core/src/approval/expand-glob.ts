import { isAbsolute } from "node:path";
import { type DirectoryEntry, readDirectory } from "../infrastructure/reading/directory-entries.ts";
import { isExistingPath } from "../infrastructure/reading/directory-names.ts";
import { matchesText } from "./text-pattern.ts";

const MAX_ENTRIES = 5_000;

/**
 * The names a shell may put in the place of a pattern, relative to `cwd` as the pattern is; none where it stays as it
 * is written. A `[` counts as anything, so there may be more than the shell finds, never less. Undefined when there are
 * too many to look at. Quotes are gone from `pattern`: what was quoted in it counts as a pattern too.
 */
export function expandGlob(pattern: string, cwd: string): string[] | undefined {
  const budget = { entries: MAX_ENTRIES };
  let found = [isAbsolute(pattern) ? "/" : ""];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    const next: string[] = [];
    for (const directory of found) {
      const names = /[*?[]/.test(part) ? findNames(part, directory || ".", { cwd, budget }) : [part];
      next.push(
        ...names.map((name) =>
          directory === "" || directory === "/" ? directory + name : `${directory}/${name}`,
        ),
      );
      if (budget.entries < 0 || next.length > MAX_ENTRIES) return undefined;
    }
    found = next;
  }
  return found.filter((path) => isExistingPath(isAbsolute(path) ? path : `${cwd}/${path}`));
}

function findNames(
  part: string,
  directory: string,
  { cwd, budget }: { cwd: string; budget: { entries: number } },
): string[] {
  const entries = listEntries(isAbsolute(directory) ? directory : `${cwd}/${directory}`);
  budget.entries -= entries.length;
  const matches = toMatcher(part);
  // Older shells find these two as well.
  return [".", "..", ...entries.map(({ name }) => name)].filter(matches);
}

/** Names that begin with a dot are found by patterns that do, or by a `[`. */
function toMatcher(part: string): (name: string) => boolean {
  const at = part.indexOf("[");
  const pattern = at < 0 ? part : `${part.slice(0, at)}*`;
  const findsHidden = part.startsWith(".") || at === 0;
  return (name) => (findsHidden || !name.startsWith(".")) && matchesText(pattern, name);
}

function listEntries(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    // Not a directory or not ours to read: nothing in it can be meant.
    return [];
  }
}
