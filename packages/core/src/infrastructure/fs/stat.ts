import { accessSync, constants, existsSync, lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { systemErrorCode } from "../system-error.ts";

/**
 * The stats of a path; a link at its end is not followed. Undefined when it is missing, also when a parent is a file,
 * for which `throwIfNoEntry: false` alone throws. @throws the file system's error for an inaccessible path.
 */
export function findStats(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** `special` is a pipe, a socket or a device: reading one may block forever. `unknown` is not accessible. */
export type PathKind = "file" | "directory" | "link" | "special" | "missing" | "unknown";

/** The kind of entry at a path; a link at its end is not followed. */
export function pathKind(path: string): PathKind {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : kindOf(stats);
  } catch (error) {
    return systemErrorCode(error) === "ENOTDIR" ? "missing" : "unknown";
  }
}

function kindOf(stats: Stats): PathKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "special";
}

/** True for a directory, not a link to one, that can be this user's working directory. */
export function isEnterableDirectory(path: string): boolean {
  // Most of the paths that are looked for are missing, and an exception takes longer.
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return lstatSync(path).isDirectory();
  } catch {
    return false; // Missing or not accessible.
  }
}

/** The names in a directory; empty if it is missing or not readable, which means the same to the callers. */
export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** True for an entry of any kind, including a dangling link; false for an inaccessible path. */
export function isExistingPath(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // For instance a file in place of a directory.
  }
}

/** Identifies the file or directory behind a name. */
export interface NameStamp {
  /** Differs for another file, after a move, even if it was moved back, and after a change of content. */
  identity: string;
  /** The last move or change, in milliseconds since the epoch, by the clock of its file system. */
  changedMs: number;
}

/**
 * Undefined for an entry that is neither a regular file nor a directory (links included), and for an inaccessible path.
 * The time is the inode's change time, which the file systems of Linux and macOS update on a rename, and which cannot
 * be set back.
 */
export function readNameStamp(path: string): NameStamp | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isDirectory() && !stats?.isFile()) return undefined;
    const { dev, ino, ctimeNs } = stats;
    return { identity: `${dev} ${ino} ${ctimeNs}`, changedMs: Number(ctimeNs / 1_000_000n) };
  } catch {
    return undefined; // A part of the path is no longer a directory.
  }
}

/**
 * File names are bytes, and not always valid Unicode. A name is a string in which each byte that is not part of a UTF-8
 * character is a lone surrogate, U+DC80 to U+DCFF (as in Python's PEP 383): so every name has exactly one string, which
 * JSON preserves too.
 */

const FIRST_ESCAPE = 0xdc00;
const LAST_ESCAPE = 0xdcff;
const LONGEST_CHARACTER = 4;
/** Replaces invalid bytes when names are decoded, but may also occur in a name. */
export const REPLACEMENT = "\ufffd";

/** Converts a name or path from the system. */
export function fromNameBytes(bytes: Buffer): string {
  const text = bytes.toString();
  // The replacement character may be part of the name.
  return !text.includes(REPLACEMENT) || Buffer.from(text).equals(bytes) ? text : escapeBytes(bytes);
}

/** Converts a path for a system call: bytes if a string cannot represent it. */
export function toSystemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.concat([...path].map(toBytes));
}

function escapeBytes(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    text += character ?? String.fromCharCode(FIRST_ESCAPE + (bytes[at] ?? 0));
    at += character === undefined ? 1 : Buffer.byteLength(character);
  }
  return text;
}

function characterAt(bytes: Buffer, at: number): string | undefined {
  for (let length = 1; length <= LONGEST_CHARACTER; length++) {
    const part = bytes.subarray(at, at + length);
    const text = part.toString();
    if ([...text].length === 1 && Buffer.from(text).equals(part)) return text;
  }
  return undefined;
}

function toBytes(character: string): Buffer {
  const code = character.charCodeAt(0);
  const isEscape = character.length === 1 && code > FIRST_ESCAPE && code <= LAST_ESCAPE;
  return isEscape ? Buffer.of(code - FIRST_ESCAPE) : Buffer.from(character);
}

/** Where a link leads, as it is written in it. @throws system errors. */
export function readLinkTarget(path: string | Buffer): string {
  const system = typeof path === "string" ? toSystemPath(path) : path;
  return fromNameBytes(readlinkSync(system, { encoding: "buffer" }));
}
