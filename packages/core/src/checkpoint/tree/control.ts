import { readdirSync, type Stats } from "node:fs";
import { readSystemNames } from "../../infrastructure/fs/directory.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import type { ProtectedEntry } from "../entries.ts";

// What we put there and take away ourselves.
const OURS = /^sessions$|\.lock$|\.tmp$/;

/** For `.diligent` and pipes; undefined for other special files, which servers make and remove as they like. */
export function signProtectedEntry(absolute: string, stats: Stats): ProtectedEntry | undefined {
  if (stats.isFIFO()) return { kind: "control", parts: ["pipe"] };
  const isFile = stats.isFile() || stats.isSymbolicLink();
  if (!isFile && !stats.isDirectory()) return undefined;
  const mark = markProtectedEntry(absolute, stats, (name) => OURS.test(name));
  return { kind: "control", parts: isFile ? ["file"] : ["directory", ...listParts(absolute)], mark };
}

/** True when nothing of what was there has gone away. */
export function isWhole(before: ProtectedEntry, now: ProtectedEntry): boolean {
  return before.parts.every((part) => now.parts.includes(part));
}

function listParts(absolute: string): string[] {
  try {
    const names = readdirSync(toSystemPath(absolute));
    return names.filter((name) => !OURS.test(name)).sort();
  } catch {
    return []; // Not to be listed: then only that it is there is known.
  }
}

// 48 bits, which a number holds exactly.
const MARK_DIGITS = 12;

/**
 * A number that changes when a person would say that something was changed in our directory, such as a piece of knowledge.
 * A few files are looked at by their times and sizes, nothing is read.
 * @param isOurs true for names that come and go by themselves.
 */
function markProtectedEntry(absolute: string, stats: Stats, isOurs: (name: string) => boolean): number {
  const lines = stats.isDirectory() ? lookInto(absolute, isOurs) : [`${stats.mtimeMs} ${stats.size}`];
  return Number.parseInt(Bun.SHA256.hash(lines.join("\n"), "hex").slice(0, MARK_DIGITS), 16);
}

function lookInto(directory: string, isOurs: (name: string) => boolean): string[] {
  return listNames(directory)
    .filter((name) => !isOurs(name))
    .flatMap((name) => describeWithInner(`${directory}/${name}`));
}

/** It, and what is right in it; links that lead to directories included. */
function describeWithInner(path: string): string[] {
  const stats = look(path);
  const inner = stats === undefined || stats.isFile() ? [] : listNames(path);
  return [toLine(path, stats), ...inner.map((name) => describe(`${path}/${name}`))];
}

function listNames(directory: string): string[] {
  try {
    return readSystemNames(directory).sort();
  } catch {
    return []; // None, or not to be listed: then its own times have to do.
  }
}

function describe(path: string): string {
  return toLine(path, look(path));
}

function toLine(path: string, stats: Stats | undefined): string {
  return stats ? `${path} ${stats.mtimeMs} ${stats.size}` : path;
}

function look(path: string): Stats | undefined {
  try {
    return findStats(toSystemPath(path));
  } catch {
    return undefined; // Not to be looked at.
  }
}
