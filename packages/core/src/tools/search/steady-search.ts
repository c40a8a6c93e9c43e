import { dirname } from "node:path";
import { now } from "../../infrastructure/clock.ts";
import { type NameStamp, readNameStamp } from "../../infrastructure/reading/name-stamp.ts";
import type { SearchPlace } from "./search-place.ts";

// File systems stamp with a clock that lags some milliseconds behind.
const CLOCK_LAG_MS = 50;
const MAX_ATTEMPTS = 3;

/** `run` may be called several times; what it finds then counts alone. */
export interface Search<T> {
  run(): Promise<T>;
  /** The files that would be told of, relative to the searched directory. */
  filesOf(found: T): readonly string[];
}

/**
 * Searches a directory, and again where what something was found in was touched meanwhile: ripgrep finds a directory and
 * then opens it by its name, so another process can let it search what a link leads to that was put there in between.
 * `isSteady` is false for files of which it could not be told in the end that they lie where they seem to.
 */
export async function searchSteadily<T>(
  place: SearchPlace,
  { run, filesOf }: Search<T>,
): Promise<{ found: T; isSteady(file: string): boolean }> {
  const begin = now() - CLOCK_LAG_MS;
  let found = await run();
  let stamps = readStamps(place, filesOf(found));
  let isSame = (name: string) => (stamps.get(name)?.changedMs ?? begin) < begin;
  for (let attempt = 1; attempt < MAX_ATTEMPTS && !filesOf(found).every(isFound); attempt++) {
    const before = stamps;
    found = await run();
    stamps = readStamps(place, filesOf(found));
    isSame = (name) => before.get(name)?.identity === (stamps.get(name)?.identity ?? "");
  }
  return { found, isSteady: isFound };

  /** The searched directory is held, so its own name is of no concern; the names in it are. */
  function isFound(file: string): boolean {
    const directories = directoriesAbove(file);
    const isThere = directories.every((directory) => directory === "." || isSame(directory));
    return isThere && (isSame(dirname(file)) || isSame(file));
  }
}

type Stamps = ReadonlyMap<string, NameStamp | undefined>;

/** Of the files and all above them; undefined for what was not the same long enough to be looked at twice. */
function readStamps(place: SearchPlace, files: readonly string[]): Stamps {
  const names = [...new Set(files.flatMap((file) => [...directoriesAbove(file), file]))];
  const look = () => names.map((name) => readNameStamp(place.at(name)));
  // One is reached through those above it: had they been others meanwhile, the second look would tell.
  const [first, second] = [look(), look()];
  return new Map(
    names.map((name, index) => {
      const stamp = second[index];
      return [name, stamp?.identity === first[index]?.identity ? stamp : undefined];
    }),
  );
}

/** From the one it lies in to the searched one, `.`. */
function directoriesAbove(file: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    directories.push(directory);
    if (directory === "." || directory === "/") return directories;
  }
}
