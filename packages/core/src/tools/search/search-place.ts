import { join, relative } from "node:path";
import { createChildEnvironment } from "../../infrastructure/processes/child-environment.ts";
import type { RipgrepOptions } from "../../infrastructure/processes/ripgrep.ts";
import { HeldDirectory } from "../../infrastructure/reading/held-directory.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { holdRegularFile } from "../../infrastructure/reading/regular-file.ts";
import type { Workspace } from "../workspace.ts";
import type { SearchTarget } from "./search-gate.ts";

/** Said with a result where something may be missing from it; see `ToolContext.isWithheld`. */
export const WITHHELD_NOTE = "[what may not be read without being asked about is left out]";

/** Said with a result where something was left out because it could not be told where it lies. */
export const MOVED_NOTE = "[what was moved by another program during the search is left out; search again]";

/** What is searched, open, so that it stays what was allowed whatever becomes of its path. */
export interface SearchPlace extends Disposable {
  /** Where ripgrep runs, and what it is given to search. */
  cwd: string;
  operand: string;
  /** The path of a name in the searched directory. */
  at(name: string): string;
}

/** @throws MovedPathError when the target leads elsewhere by now. */
export function openSearchPlace({ realPath, isDirectory }: SearchTarget): SearchPlace {
  if (isDirectory) {
    const directory = HeldDirectory.open(realPath);
    return {
      cwd: directory.pathForChildren,
      operand: "./",
      at: (name) => directory.at(name),
      [Symbol.dispose]: () => directory[Symbol.dispose](),
    };
  }
  const file = holdRegularFile(realPath);
  return {
    cwd: "/",
    operand: file.pathForChildren,
    at: () => realPath,
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

/**
 * How a path is shown: relative to the working directory where it lies in it, in quotes where a line break in it would
 * make one path look like two.
 */
export function displayPath({ cwd }: Workspace, path: string): string {
  const shown = isInside(path, cwd) ? relative(cwd, path) || "." : path;
  return /[\n\r]/.test(shown) ? JSON.stringify(shown) : shown;
}

// Hidden files count, what version control keeps for itself does not, and .gitignore counts before `git init` too.
// What cannot be read is passed over without a word: messages are then about the search itself.
const WALK = [
  "--hidden",
  "--no-require-git",
  "--no-messages",
  "--no-ignore-messages",
  ...[".git", ".hg", ".svn", ".jj"].flatMap((directory) => ["--glob", `!${directory}`]),
];

/** What one search asks of ripgrep. */
export interface RipgrepSearch {
  /** What to search for and how; patterns behind `-e`, so that one may begin with a hyphen. */
  flags: readonly string[];
  place: SearchPlace;
  signal: AbortSignal;
}

/** Ripgrep's options, but for what becomes of its output. The paths in that are relative to the searched directory. */
export function toRipgrepOptions(
  workspace: Workspace,
  { flags, place, signal }: RipgrepSearch,
): Omit<RipgrepOptions, "onRecord" | "separator"> {
  return {
    args: [...flags, ...WALK, "--", place.operand],
    cwd: place.cwd,
    signal,
    environment: createChildEnvironment(workspace),
    search: { environment: workspace.environment, outside: workspace.root },
  };
}

/** How a path that ripgrep printed is shown. */
export function displayFound(
  workspace: Workspace,
  { path, isDirectory }: SearchTarget,
  found: string,
): string {
  return displayPath(workspace, isDirectory ? join(path, found) : path);
}
