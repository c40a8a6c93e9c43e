import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import type { Reason } from "./named-places.ts";

/** What is at a path. */
export interface SeenFile {
  /** Absolute. */
  path: string;
  kind: "directory" | "file" | "link";
  /** Which it is, under whatever name: device and inode. */
  identity: string;
  /** That of the directory it lies in. */
  parentIdentity: string;
  /** Of a link: as it is written. */
  target?: string;
  /** A real directory that is this one, or where it leads as a link. */
  leadsTo?: string | undefined;
}

/** What makes something a control file: any of these. Where it says nothing, its own name and place do. */
export interface Mark {
  /** Links, settings and git directories that have a mark themselves: those of any list, together. */
  reasons?: readonly Reason[];
  /** Repositories without a tree, each alone. */
  repositories?: readonly string[];
}

/** A control file or directory that is there. */
export interface ControlFile extends SeenFile, Mark {}

/** Undefined for what is not there. */
export function lookAt(path: string): SeenFile | undefined {
  try {
    const stats = lstatSync(toSystemPath(path), { bigint: true });
    const parentIdentity = identityOf(path.slice(0, path.lastIndexOf("/")) || "/");
    const seen = { path, identity: `${stats.dev}:${stats.ino}`, parentIdentity };
    if (stats.isSymbolicLink())
      return { ...seen, kind: "link", target: readTarget(path), leadsTo: findReal(path) };
    return stats.isDirectory() ? { ...seen, kind: "directory", leadsTo: path } : { ...seen, kind: "file" };
  } catch {
    return undefined; // Missing, or behind something that is none of this user's.
  }
}

function identityOf(directory: string): string {
  const { dev, ino } = lstatSync(toSystemPath(directory), { bigint: true });
  return `${dev}:${ino}`;
}

function readTarget(path: string): string {
  return fromNameBytes(readlinkSync(toSystemPath(path), { encoding: "buffer" }));
}

function findReal(path: string): string | undefined {
  try {
    return fromNameBytes(realpathSync(toSystemPath(path), { encoding: "buffer" }));
  } catch {
    return undefined; // It leads nowhere.
  }
}
