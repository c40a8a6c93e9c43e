import { readdirSync, type Stats } from "node:fs";
import { readSystemNames } from "../../infrastructure/fs/directory.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import type { ProtectedEntry } from "../entries.ts";

// Files that diligent creates and removes itself.
const OURS = /^sessions$|\.lock$|\.tmp$/;

/** For `.diligent` and pipes; undefined for other special files, which servers create and remove as they like. */
export function signProtectedEntry(absolute: string, stats: Stats): ProtectedEntry | undefined {
  if (stats.isFIFO()) return { kind: "control", parts: ["pipe"] };
  const isFile = stats.isFile() || stats.isSymbolicLink();
  if (!isFile && !stats.isDirectory()) return undefined;
  const mark = markProtectedEntry(absolute, stats, (name) => OURS.test(name));
  return { kind: "control", parts: isFile ? ["file"] : ["directory", ...listParts(absolute)], mark };
}

/** True when no part of the earlier entry has been removed. */
export function isWhole(before: ProtectedEntry, now: ProtectedEntry): boolean {
  return before.parts.every((part) => now.parts.includes(part));
}

function listParts(absolute: string): string[] {
  try {
    const names = readdirSync(toSystemPath(absolute));
    return names.filter((name) => !OURS.test(name)).sort();
  } catch {
    return []; // The directory is not readable: only its existence is known.
  }
}

// 48 bits, which a number holds exactly.
const MARK_DIGITS = 12;

/**
 * A number that changes with any edit of diligent's directory that the user would regard as a change, such as a
 * knowledge entry. Only times and sizes of a few files are compared; nothing is read.
 * @param isOurs true for names that diligent creates and removes.
 */
function markProtectedEntry(absolute: string, stats: Stats, isOurs: (name: string) => boolean): number {
  const lines = stats.isDirectory() ? describeChildren(absolute, isOurs) : [`${stats.mtimeMs} ${stats.size}`];
  return Number.parseInt(Bun.SHA256.hash(lines.join("\n"), "hex").slice(0, MARK_DIGITS), 16);
}

function describeChildren(directory: string, isOurs: (name: string) => boolean): string[] {
  return listNames(directory)
    .filter((name) => !isOurs(name))
    .flatMap((name) => describeWithInner(`${directory}/${name}`));
}

/** The path and its direct children, including links to directories. */
function describeWithInner(path: string): string[] {
  const stats = readStats(path);
  const inner = stats === undefined || stats.isFile() ? [] : listNames(path);
  return [toLine(path, stats), ...inner.map((name) => describe(`${path}/${name}`))];
}

function listNames(directory: string): string[] {
  try {
    return readSystemNames(directory).sort();
  } catch {
    return []; // Missing or not readable: its own times are used.
  }
}

function describe(path: string): string {
  return toLine(path, readStats(path));
}

function toLine(path: string, stats: Stats | undefined): string {
  return stats ? `${path} ${stats.mtimeMs} ${stats.size}` : path;
}

function readStats(path: string): Stats | undefined {
  try {
    return findStats(toSystemPath(path));
  } catch {
    return undefined; // It is not accessible.
  }
}
