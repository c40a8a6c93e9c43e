import type { Stats } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";
import { readSystemNames } from "../../infrastructure/reading/system-names.ts";

/** Where git writes when somebody commits, branches, stashes or sets something. Looking at the state writes none of them. */
const OF_GIT: readonly string[] = ["HEAD", "config", "packed-refs", "logs/HEAD", "refs/heads", "refs/tags"];

/** Every look at the state may write it anew: of its times nothing follows. */
const INDEX = "index";

// 48 bits, which a number holds exactly.
const MARK_DIGITS = 12;

/**
 * A number that changes when a person would say that something was changed in git's directory, or in ours: a commit, a
 * setting, a hook; a piece of knowledge. A few files are looked at by their times and sizes, nothing is read.
 * @param isOurs true for names that come and go by themselves.
 */
export function markControl(absolute: string, stats: Stats, isOurs: (name: string) => boolean): number {
  const lines = stats.isDirectory() ? lookInto(absolute, isOurs) : [`${stats.mtimeMs} ${stats.size}`];
  return Number.parseInt(Bun.SHA256.hash(lines.join("\n"), "hex").slice(0, MARK_DIGITS), 16);
}

function lookInto(directory: string, isOurs: (name: string) => boolean): string[] {
  if (directory.toLowerCase().endsWith("/.git")) {
    const index = look(`${directory}/${INDEX}`)?.size ?? 0;
    const named = [...OF_GIT, "refs/stash"].map((name) => describe(`${directory}/${name}`));
    return [...named, ...describeWithInner(`${directory}/hooks`), `${INDEX} ${index}`];
  }
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
