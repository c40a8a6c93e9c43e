import { type BigIntStats, lstatSync } from "node:fs";
import { listSystemNames } from "../../infrastructure/fs/directory.ts";
import { readLinkTarget, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";

/** What is at a path; links are not followed. */
export interface EntryState {
  kind: "file" | "directory" | "link" | "pipe" | "socket" | "device";
  /** Permission bits. */
  mode: number;
  /** In bytes; of a file. */
  size: number;
  /** Where a link leads, as it is written in it. */
  target?: string;
  /** How many names the file has. */
  names: number;
  /** Differs for another entry, and after any change of this one. */
  identity: string;
  /** The same for all names of one file. */
  inode: string;
}

/** Undefined if there is nothing, or nothing that this user can see. */
export function readEntryStats(path: string): BigIntStats | undefined {
  try {
    return lstatSync(toSystemPath(path), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (["ENOTDIR", "EACCES"].includes(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Undefined if there is nothing, or nothing that this user can see. */
export function readEntryState(path: string): EntryState | undefined {
  const stats = readEntryStats(path);
  if (stats === undefined) return undefined;
  const kind = kindOf(stats);
  return {
    kind,
    mode: Number(stats.mode & 0o7777n),
    size: Number(stats.size),
    ...(kind === "link" && { target: readLinkTarget(path) }),
    names: Number(stats.nlink),
    identity: `${stats.dev}:${stats.ino}:${stats.ctimeNs}`,
    inode: `${stats.dev}:${stats.ino}`,
  };
}

function kindOf(stats: BigIntStats): EntryState["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "pipe";
  return stats.isSocket() ? "socket" : "device";
}

/** The identities of everything below a directory, by absolute path. */
export function listIdentities(directory: string, found = new Map<string, string>()): Map<string, string> {
  for (const name of listSystemNames(directory)) {
    const path = `${directory}/${name}`;
    const state = readEntryState(path);
    if (state === undefined) continue;
    found.set(path, state.identity);
    if (state.kind === "directory") listIdentities(path, found);
  }
  return found;
}
