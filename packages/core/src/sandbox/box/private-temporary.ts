import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { processorName } from "../../infrastructure/environment.ts";
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

/** Undefined where nothing can be made: what is written there lasts as long as the command then. */
export function preparePrivateTemporary(directory: string): PrivateTemporary | undefined {
  const files = `${directory}/tmp`;
  const emptyFile = `${directory}/empty`;
  try {
    mkdirSync(files, { recursive: true, mode: 0o700 });
    closeSync(openSync(emptyFile, "a", 0o600));
    return { directory, files, emptyFile, filterFile: writeFilter(`${directory}/filter`) };
  } catch {
    return undefined;
  }
}

function writeFilter(path: string): string | undefined {
  const filter = makeSystemCallFilter(processorName());
  if (filter !== undefined) writeFileSync(path, filter, { mode: 0o600 });
  return filter === undefined ? undefined : path;
}
