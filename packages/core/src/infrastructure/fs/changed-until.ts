import { lstatSync } from "node:fs";
import { namesIn } from "./seen-file.ts";
import { toSystemPath } from "./stat.ts";

// The limit of remembered new paths; a repository that somebody has created since contains thousands of files.
const MAX_ENTRIES = 5_000;

/** Distinguishes files that existed at a moment from later ones, by the times that only the system sets. */
export class ChangedUntil {
  private entriesLeft = MAX_ENTRIES;
  /** The directories that this program itself has changed since. */
  private readonly kept = new Set<string>();

  /** @param lastMs the moment, in milliseconds since the epoch. */
  constructor(private readonly lastMs: number) {}

  /** Call it before something is moved out of a directory, which changes its times. */
  keep(directory: string): void {
    if (this.isOld(directory)) this.kept.add(directory);
  }

  /** True for what was not changed since. */
  isOld(path: string): boolean {
    if (this.kept.has(path)) return true;
    try {
      return lstatSync(toSystemPath(path)).ctimeMs <= this.lastMs;
    } catch {
      return false; // The path does not exist.
    }
  }

  /** The outermost paths of a file or directory that were created until then. */
  findOld(path: string): string[] {
    if (this.isOld(path)) return [path];
    this.entriesLeft -= 1;
    return this.entriesLeft < 0
      ? []
      : (namesIn(path) ?? []).flatMap((name) => this.findOld(`${path}/${name}`));
  }
}
