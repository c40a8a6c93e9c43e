import { dirname, join, relative } from "node:path";
import { holdRegularFile } from "../../infrastructure/fs/read.ts";
import { HeldDirectory, isInside } from "../../infrastructure/fs/real-path.ts";
import { type NameStamp, readNameStamp } from "../../infrastructure/fs/stat.ts";
import { createChildEnvironment } from "../../infrastructure/process/environment.ts";
import { ignoreOption, type RipgrepOptions } from "../../infrastructure/process/ripgrep.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { Workspace } from "../workspace.ts";
import type { SearchTarget } from "./search-gate.ts";

/** Added to a result if something may be missing from it; see `ToolContext.isWithheld`. */
export const WITHHELD_NOTE = "[files that need approval to be read are left out]";

/** Added to a result if something was left out because its location could not be verified. */
export const MOVED_NOTE = "[files moved by another program during the search are left out; search again]";

/** The search target, held open so that it stays the approved one even if its path changes. */
export interface SearchLocation extends Disposable {
  /** The directory in which ripgrep runs, and its target. */
  cwd: string;
  operand: string;
  /** The path of a name in the searched directory. */
  at(name: string): string;
}

/** @throws MovedPathError when the target leads elsewhere now. */
export function openSearchLocation({ realPath, isDirectory }: SearchTarget): SearchLocation {
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
 * The displayed form of a path: relative to the working directory if it is inside, quoted if a line break in it would
 * make it look like two paths.
 */
export function displaySearchPath({ cwd }: Workspace, path: string): string {
  const shown = isInside(path, cwd) ? relative(cwd, path) || "." : path;
  return /[\n\r]/.test(shown) ? JSON.stringify(shown) : shown;
}

// Hidden files are searched, version control directories are not.
// Unreadable files are skipped silently: messages are then about the search itself.
const WALK = [
  "--hidden",
  "--no-messages",
  "--no-ignore-messages",
  ...[".git", ".hg", ".svn", ".jj"].flatMap((directory) => ["--glob", `!${directory}`]),
];

/** The input of one ripgrep search. */
interface RipgrepSearch {
  /** The target and options of the search; patterns follow `-e`, so that one may begin with a hyphen. */
  flags: readonly string[];
  location: SearchLocation;
  signal: AbortSignal;
}

/** Ripgrep's options, except those for the output. Its paths are relative to the searched directory. */
export function toRipgrepOptions(
  workspace: Workspace,
  { flags, location, signal }: RipgrepSearch,
): Omit<RipgrepOptions, "onRecord" | "separator"> {
  return {
    args: [...flags, ...WALK, ignoreOption(workspace.root), "--", location.operand],
    cwd: location.cwd,
    signal,
    environment: createChildEnvironment(workspace),
    search: { environment: workspace.environment, outside: workspace.root },
  };
}

/** The display form of a path that ripgrep printed. */
export function displayFound(
  workspace: Workspace,
  { path, isDirectory }: SearchTarget,
  found: string,
): string {
  return displaySearchPath(workspace, isDirectory ? join(path, found) : path);
}

// The clock of a file system may lag by some milliseconds.
const CLOCK_LAG_MS = 50;
const MAX_ATTEMPTS = 3;

/** `run` may be called several times; only the results of the last call are used. */
interface Search<T> {
  run(): Promise<T>;
  /** The files that would be reported, relative to the searched directory. */
  filesOf(found: T): readonly string[];
}

/**
 * Searches a directory, and repeats the search if a directory with matches was changed meanwhile: ripgrep finds a
 * directory and then opens it by name, so another process could replace it by a link in between. `isSteady` is
 * false for files whose location could not be verified in the end.
 */
export async function searchSteadily<T>(
  location: SearchLocation,
  { run, filesOf }: Search<T>,
): Promise<{ found: T; isSteady(file: string): boolean }> {
  const begin = now() - CLOCK_LAG_MS;
  let found = await run();
  let stamps = readStamps(location, filesOf(found));
  let isSame = (name: string) => (stamps.get(name)?.changedMs ?? begin) < begin;
  for (let attempt = 1; attempt < MAX_ATTEMPTS && !filesOf(found).every(isFound); attempt++) {
    const before = stamps;
    found = await run();
    stamps = readStamps(location, filesOf(found));
    isSame = (name) => before.get(name)?.identity === (stamps.get(name)?.identity ?? "");
  }
  return { found, isSteady: isFound };

  /** The searched directory is held, so its own name does not matter; the names in it do. */
  function isFound(file: string): boolean {
    const directories = directoriesAbove(file);
    const isThere = directories.every((directory) => directory === "." || isSame(directory));
    return isThere && (isSame(dirname(file)) || isSame(file));
  }
}

type Stamps = ReadonlyMap<string, NameStamp | undefined>;

/** The state of the files and all directories above them; undefined for those that changed between two checks. */
function readStamps(location: SearchLocation, files: readonly string[]): Stamps {
  const names = [...new Set(files.flatMap((file) => [...directoriesAbove(file), file]))];
  const readAll = () => names.map((name) => readNameStamp(location.at(name)));
  // A file is accessed through the directories above it: if they had been replaced meanwhile, the second check would
  // show it.
  const [first, second] = [readAll(), readAll()];
  return new Map(
    names.map((name, index) => {
      const stamp = second[index];
      return [name, stamp?.identity === first[index]?.identity ? stamp : undefined];
    }),
  );
}

/** From the directory of the file up to the searched one, `.`. */
function directoriesAbove(file: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    directories.push(directory);
    if (directory === "." || directory === "/") return directories;
  }
}
