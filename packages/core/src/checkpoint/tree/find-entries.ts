import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";
import { readSystemNames } from "../../infrastructure/reading/system-names.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { isMarkedAsCache, signCache } from "./cache-directory.ts";
import { signControl } from "./control-entry.ts";
import { isCacheName, isControlName, isUnfinished } from "./passed-over.ts";

const MODE_BITS = 0o7777;

/** What was found at a path, before anything was read of its content. */
export type Found =
  | { path: string; kind: "file"; stats: Stats }
  | { path: string; kind: "entry"; entry: Exclude<TreeEntry, { kind: "file" }> }
  /** It, or what is below it, may not be looked at: whatever was known of it is still the best guess. */
  | { path: string; kind: "hidden" };

/** What is known beforehand, and what is no part of the tree. */
export interface FindOptions {
  /** What was known of a path: a directory that was kept stays so, and a cache stays one, whatever it is called now. */
  known(path: string): TreeEntry | undefined;
  /** Absolute paths that are passed over, such as the store itself. */
  except: ReadonlySet<string>;
}

/**
 * Everything in a directory tree, each directory before what is in it. Links are not followed; of `.git`, `.diligent` and
 * pipes only that they are there is told, sockets and devices are passed over, and other file systems are looked at as caches are.
 * @param root absolute and real.
 * @throws the file system's error when `root` itself cannot be read.
 */
export function* findEntries(root: string, options: FindOptions): Generator<Found> {
  const top = findStats(root);
  // The project itself is gone, or a link stands in its place: then nothing is left in it.
  if (!top?.isDirectory()) return;
  const waiting = [""];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const names = listNames(root, directory);
    if (names === undefined) {
      yield { path: directory, kind: "hidden" };
      continue;
    }
    for (const name of names) {
      if (isUnfinished(name)) continue;
      const path = directory === "" ? name : `${directory}/${name}`;
      const absolute = `${root}/${path}`;
      if (options.except.has(absolute)) continue;
      const found = lookAt(absolute, { name, path, device: top.dev, options });
      if (found === undefined) continue;
      yield found;
      if (found.kind === "entry" && found.entry.kind === "directory") waiting.push(path);
    }
  }
}

/** Undefined where it may not be listed. */
function listNames(root: string, directory: string): string[] | undefined {
  try {
    return readSystemNames(directory === "" ? root : `${root}/${directory}`);
  } catch (error) {
    if (directory === "") throw error;
    return isGone(error) ? [] : undefined;
  }
}

interface Place {
  name: string;
  /** Relative to the root. */
  path: string;
  device: number;
  options: FindOptions;
}

function lookAt(absolute: string, { name, path, device, options }: Place): Found | undefined {
  try {
    const stats = lstatSync(toSystemPath(absolute));
    if (isControlName(name) || stats.isFIFO()) {
      const entry = signControl(absolute, stats);
      return entry && { path, kind: "entry", entry };
    }
    if (stats.isFile()) return { path, kind: "file", stats };
    if (stats.isSymbolicLink())
      return { path, kind: "entry", entry: { kind: "link", target: readTarget(absolute) } };
    if (!stats.isDirectory()) return undefined;
    const known = options.known(path)?.kind;
    const isCache =
      stats.dev !== device ||
      known === "cache" ||
      (known !== "directory" && (isCacheName(name) || isMarkedAsCache(absolute)));
    if (isCache)
      return { path, kind: "entry", entry: { kind: "cache", signature: signCache(absolute, stats) } };
    const { mode, uid, gid } = stats;
    return { path, kind: "entry", entry: { kind: "directory", mode: mode & MODE_BITS, uid, gid } };
  } catch (error) {
    return isGone(error) ? undefined : { path, kind: "hidden" };
  }
}

/** Where a link points, as it is written in it. Throws the file system's error. */
export function readTarget(path: string | Buffer): string {
  const system = typeof path === "string" ? toSystemPath(path) : path;
  return fromNameBytes(readlinkSync(system, { encoding: "buffer" }));
}

function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "");
}
