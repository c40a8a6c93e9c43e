import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { processorName } from "../../infrastructure/environment.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";
import { isOwn } from "../../infrastructure/reading/listing-rights.ts";
import { makeSystemCallFilter } from "./system-call-filter.ts";

/** Where the temporary files of boxed commands are; absolute. */
export interface PrivateTemporary {
  /** Of this session; may be read. */
  directory: string;
  /** In it: what commands write to, and what they see in the place of the system's temporary directories. */
  files: string;
  /** In it: an empty file. */
  emptyFile: string;
  /** In it: see `makeSystemCallFilter`; undefined where there is none for this machine. */
  filterFile: string | undefined;
}

/**
 * Undefined where nothing can be made: what is written there lasts as long as the command then.
 *
 * @param directory absolute and real, and in no place that commands may write to.
 * @throws Error where something that is no directory of this user's has taken the place of the one for files.
 */
export function preparePrivateTemporary(directory: string): PrivateTemporary | undefined {
  const files = `${directory}/tmp`;
  const emptyFile = `${directory}/empty`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    makeDirectory(files);
    closeSync(openSync(emptyFile, "a", 0o600));
    return { directory, files, emptyFile, filterFile: writeFilter(`${directory}/filter`) };
  } catch (error) {
    if (error instanceof TakenPlaceError) throw error;
    return undefined;
  }
}

class TakenPlaceError extends Error {}

/** There, and such that it can be written to, whatever commands did to it. */
function makeDirectory(path: string): void {
  if (findStats(path) === undefined) mkdirSync(path, { mode: 0o700 });
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isDirectory() || !isOwn(stats))
    throw new TakenPlaceError(`${path} is no directory of this session`);
  // Commands can change what lies in it and its mode; it is in a directory where nothing can take its place.
  if ((stats.mode & 0o777n) !== 0o700n) chmodSync(path, 0o700);
}

function writeFilter(path: string): string | undefined {
  const filter = makeSystemCallFilter(processorName());
  if (filter !== undefined) writeFileSync(path, filter, { mode: 0o600 });
  return filter === undefined ? undefined : path;
}
