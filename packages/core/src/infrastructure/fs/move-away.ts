import { chmodSync, cpSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { generateEntryId } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { readSystemNames } from "./directory.ts";
import { HeldDirectory } from "./real-path.ts";
import { findStats, toSystemPath } from "./stat.ts";

const OWNER_MAY_ALL = 0o700;
const MODE_BITS = 0o7777;

// Larger files stay beside their original path: copying gigabytes takes too long and could fill a disk.
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
const MAX_COPIED_ENTRIES = 10_000;

/** How much may still be copied to another disk if a file cannot be moved there. */
export class CopyAllowance {
  private bytes = MAX_COPIED_BYTES;
  private entries = MAX_COPIED_ENTRIES;

  /** False if a file or directory exceeds the allowance. */
  take(path: string): boolean {
    const stats = lstatSync(toSystemPath(path));
    this.entries -= 1;
    this.bytes -= stats.size;
    if (this.entries < 0 || this.bytes < 0) return false;
    return !stats.isDirectory() || readSystemNames(path).every((name) => this.take(`${path}/${name}`));
  }
}

/**
 * Moves a file or directory to `target`, unchanged, links included, whatever else is at work in the directory around it.
 * @param allowance for all that is moved in one go.
 * @returns where it is now, for people: beside where it was, under a name that means nothing, where it cannot be moved
 * further, or in both places; undefined when it is gone already.
 * @throws Error that says why it could not be moved; it is where it was then.
 */
export function moveAway(
  path: string,
  target: string,
  allowance: CopyAllowance = new CopyAllowance(),
): string | undefined {
  const meaningless = `moved-by-diligent-${generateEntryId()}`;
  const end = path.lastIndexOf("/");
  try {
    // Another process may replace a parent directory by a link.
    using parent = HeldDirectory.open(path.slice(0, end) || "/");
    // First renamed in place, which is immediate, then moved elsewhere, which may be slow or impossible.
    using _ = renameIn(parent, path.slice(end + 1), meaningless);
    return bring(parent, meaningless, { target, allowance });
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw new Error(`${path} could not be moved away: ${systemErrorText(error)}`);
  }
}

/** @returns a function that restores the directory's mode if it had to be changed. */
function renameIn(parent: HeldDirectory, from: string, to: string): Disposable {
  const rename = () => renameSync(toSystemPath(parent.at(from)), parent.at(to));
  try {
    rename();
    return { [Symbol.dispose]: () => {} };
  } catch (error) {
    if (systemErrorCode(error) !== "EACCES") throw error;
  }
  // A command may have made its directory read-only, or the user may have done so before.
  const place = parent.pathForChildren;
  const mode = statSync(place).mode & MODE_BITS;
  chmodSync(place, mode | OWNER_MAY_ALL);
  const restore = { [Symbol.dispose]: () => chmodSync(place, mode) };
  try {
    rename();
    return restore;
  } catch (error) {
    restore[Symbol.dispose]();
    throw error;
  }
}

/** @returns where it is now: at `target`, where it was if it could not be moved there, or in both places. */
function bring(
  parent: HeldDirectory,
  name: string,
  { target, allowance }: { target: string; allowance: CopyAllowance },
): string {
  const path = `${parent.realPath}/${name}`;
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    // Files that were moved there before stay.
    if (findStats(target) !== undefined) return path;
    makeMovable(parent, name);
    const isWhole = moveOver(parent.at(name), target, allowance);
    return isWhole ? target : `${target}; what could not be removed of it is still in ${path}`;
  } catch {
    // Another disk without enough space, a file that is too large, or a pipe: it only matters that the original path
    // is free.
    tryToRemove(target);
    return path;
  }
}

/** False if it was copied but could not be removed. */
function moveOver(from: string, target: string, allowance: CopyAllowance): boolean {
  try {
    renameSync(from, target);
    return true;
  } catch (error) {
    if (systemErrorCode(error) !== "EXDEV" || !allowance.take(from)) throw error;
    cpSync(from, target, { recursive: true, dereference: false, verbatimSymlinks: true });
    return tryToRemove(from);
  }
}

function tryToRemove(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false; // A directory inside it is not writable.
  }
}

/** A directory that may not be written to cannot be moved into another one. */
function makeMovable(parent: HeldDirectory, name: string): void {
  try {
    using child = parent.openChild(name);
    chmodSync(child.pathForChildren, OWNER_MAY_ALL);
  } catch {
    // No directory: the mode of a file makes no difference.
  }
}
