import { lstatSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { readSystemEntries } from "./system-entries.ts";

// Of what is new; a repository that somebody has made since holds thousands of files.
const MAX_ENTRIES = 5_000;

/** Tells what was there at a moment from what came later, by the times that only the system sets. */
export class ChangedUntil {
  private entriesLeft = MAX_ENTRIES;
  /** What is changed now by this program itself. */
  private readonly kept = new Set<string>();

  /** @param lastMs the moment, in milliseconds since the epoch. */
  constructor(private readonly lastMs: number) {}

  /** To be called before something is moved out of a directory, which changes that. */
  keep(directory: string): void {
    if (this.isOld(directory)) this.kept.add(directory);
  }

  /** True for what was not changed since. */
  isOld(path: string): boolean {
    if (this.kept.has(path)) return true;
    try {
      return lstatSync(toSystemPath(path)).ctimeMs <= this.lastMs;
    } catch {
      return false; // Not there.
    }
  }

  /** What of a file or directory came about until then: the outermost paths. */
  findOld(path: string): string[] {
    if (this.isOld(path)) return [path];
    this.entriesLeft -= 1;
    return this.entriesLeft < 0 ? [] : namesBelow(path).flatMap((name) => this.findOld(`${path}/${name}`));
  }
}

function namesBelow(path: string): string[] {
  try {
    if (!lstatSync(toSystemPath(path)).isDirectory()) return [];
    return readSystemEntries(path).map(({ name }) => name);
  } catch {
    return []; // Gone meanwhile.
  }
}
