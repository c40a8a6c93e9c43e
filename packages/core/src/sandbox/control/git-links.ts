import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";
import { now } from "../../infrastructure/clock.ts";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { SETTLED_AFTER_MS } from "./known-directory.ts";
import { readSystemEntries } from "./system-entries.ts";

/** A directory that was read, and what tells whether it has to be read again. */
interface ReadDirectory extends Pick<BigIntStats, "dev" | "ino" | "ctimeNs"> {
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  links: readonly string[];
  directories: readonly string[];
}

interface Place {
  path: string;
  /** How far below the git directory from which it was reached: what lies in one may be made to look like another. */
  depth: number;
}

// Only refs, what is logged of them and remembered conflicts can be so many; 40 ms where none has changed.
const MAX_DIRECTORIES = 10_000;

/** What git writes to in the course of its work by opening it, and so through a link, below the git directory itself. */
const WRITTEN: readonly string[] = [
  ...["logs", "refs", "info", "objects"],
  ...["rebase-merge", "rebase-apply", "sequencer", "rr-cache"],
];

/** Of the objects, what is made under names that are known before. */
const WRITTEN_OBJECTS: readonly string[] = ["info", "pack"];

/**
 * Finds the links by which git would write somewhere else, again and again: a directory whose entries have not changed is
 * not read again.
 */
export class GitLinks {
  private known: ReadonlyMap<string, ReadDirectory> = new Map();

  /** @param maxDirectories a search through more than these is not complete. */
  constructor(private readonly maxDirectories = MAX_DIRECTORIES) {}

  /**
   * The links right in git directories, and in what git writes to below; absolute.
   * @param enter called with each directory that is to be read, before it is.
   * @returns also false for `isComplete` where there are more directories than can be looked at for every command.
   */
  find(gitDirectories: Iterable<string>, enter: (directory: string) => void) {
    const seen = new Map<string, ReadDirectory>();
    const links: string[] = [];
    const places: Place[] = Array.from(gitDirectories, (path) => ({ path, depth: 0 }));
    for (const { path, depth } of places) {
      if (seen.size >= this.maxDirectories) return { links, isComplete: false };
      const directory = this.visit(path, enter);
      if (directory === undefined) continue;
      seen.set(path, directory);
      for (const name of directory.links) if (mayLeadAway(path, name)) links.push(`${path}/${name}`);
      for (const name of directory.directories)
        if (isWritten({ path, depth }, name)) places.push({ path: `${path}/${name}`, depth: depth + 1 });
    }
    this.known = seen;
    return { links, isComplete: true };
  }

  /** Undefined for what is no directory, is gone, or may not be looked into. */
  private visit(path: string, enter: (directory: string) => void): ReadDirectory | undefined {
    try {
      const known = this.known.get(path);
      const stats = lstatSync(toSystemPath(path), { bigint: true });
      if (!stats.isDirectory()) return undefined;
      if (known?.isSettled && isUnchanged(known, stats)) return known;
      enter(path);
      return read(path, stats);
    } catch {
      return undefined; // Gone meanwhile, or `enter` has noted that it may not be read.
    }
  }
}

/** Objects come by the thousand, and are made under names of their own: no link to one is written through. */
function isWritten({ path, depth }: Place, name: string): boolean {
  if (depth === 0) return WRITTEN.includes(name);
  return depth > 1 || WRITTEN_OBJECTS.includes(name) || !path.endsWith("/objects");
}

function isUnchanged(known: ReadDirectory, { dev, ino, ctimeNs }: BigIntStats): boolean {
  return known.ino === ino && known.dev === dev && known.ctimeNs === ctimeNs;
}

function read(path: string, { dev, ino, ctimeNs, ctimeMs }: BigIntStats): ReadDirectory {
  const isSettled = now() - Number(ctimeMs) > SETTLED_AFTER_MS;
  const links: string[] = [];
  const directories: string[] = [];
  for (const { name, kind } of readSystemEntries(path)) {
    if (kind === "link") links.push(name);
    if (kind === "directory") directories.push(name);
  }
  return { dev, ino, ctimeNs, isSettled, links, directories };
}

/** False for the mark that an editor leaves beside a file it has open, and for a `HEAD` that names a branch as a link. */
function mayLeadAway(directory: string, name: string): boolean {
  if (name.startsWith(".#")) return false;
  if (name !== "HEAD") return true;
  try {
    const target = readlinkSync(toSystemPath(`${directory}/${name}`));
    return !target.startsWith("refs/") || target.split("/").includes("..");
  } catch {
    return true; // Gone meanwhile.
  }
}
