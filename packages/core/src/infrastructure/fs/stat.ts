import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";
import { systemErrorCode } from "../system-error.ts";

/**
 * What stands at a path, a link at its end not followed. Undefined where nothing does, also where a file stands above it:
 * for that `throwIfNoEntry: false` alone throws. @throws the file system's error for what may not be looked at.
 */
export function findStats(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** `special` is a pipe, a socket or a device: reading one may wait for ever. `unknown` may not be looked at. */
export type PathKind = "file" | "directory" | "link" | "special" | "missing" | "unknown";

/** What is at a path; a link at its end is not followed. */
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

/** True for a directory, not a link to one, that this user can make the working directory. */
export function isEnterableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return lstatSync(path).isDirectory();
  } catch {
    return false; // Gone, or not for this user.
  }
}

/** The names in a directory, sorted; undefined where there is no directory or it cannot be read. */
export function listNames(directory: string): string[] | undefined {
  try {
    return readdirSync(directory).sort();
  } catch {
    return undefined; // Only used for hints: why it is not readable makes no difference to them.
  }
}

/** True for anything of that name, also a link that leads nowhere; false for what may not be looked at. */
export function isExistingPath(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // For instance a file in place of a directory: nothing can be there.
  }
}

/** By which it is known that a name stands for the same file or directory as before. */
export interface NameStamp {
  /** Differs when it is another one, and when it was moved, even if it was moved back; also when its content changed. */
  identity: string;
  /** When it was moved or changed last, in milliseconds since the epoch, by the clock of its file system. */
  changedMs: number;
}

/**
 * Undefined for what is neither a regular file nor a directory (a link is neither), and for what may not be looked at. The
 * time is the inode's, which the file systems of Linux and macOS set when they rename, and which nobody can set back.
 */
export function readNameStamp(path: string): NameStamp | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isDirectory() && !stats?.isFile()) return undefined;
    const { dev, ino, ctimeNs } = stats;
    return { identity: `${dev} ${ino} ${ctimeNs}`, changedMs: Number(ctimeNs / 1_000_000n) };
  } catch {
    return undefined; // A part of the path is no directory any more.
  }
}

/**
 * Names of files are bytes, and not always text. A name is held as a string in which a byte that belongs to no UTF-8
 * character stands as a lone surrogate, U+DC80 to U+DCFF (as Python does it, PEP 383): so every name has exactly one string,
 * which JSON keeps too.
 */

const FIRST_ESCAPE = 0xdc00;
const LAST_ESCAPE = 0xdcff;
const LONGEST_CHARACTER = 4;
/** Stands in a string for bytes that are no text, and may itself be in a name. */
export const REPLACEMENT = "\ufffd";

/** A name, or a path, as the system gave it. */
export function fromNameBytes(bytes: Buffer): string {
  const text = bytes.toString();
  // The replacement character may be in the name itself.
  return !text.includes(REPLACEMENT) || Buffer.from(text).equals(bytes) ? text : escapeBytes(bytes);
}

/** A path for a call of the system: bytes where a string could not say it. */
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

/** What a file was when it was last looked at. `sha256` (hexadecimal) is there when its whole content was seen. */
export interface FileFingerprint {
  /** Bytes. */
  size: bigint;
  /** Nanoseconds since the epoch. */
  modifiedNs: bigint;
  inode: bigint;
  sha256?: string;
}

/** What is looked at of a file's status, as `stat` with `bigint` gives it. */
interface FileStatus {
  size: bigint;
  mtimeNs: bigint;
  ino: bigint;
}

/** `content` is the whole of it; without it, only size, time and inode tell a change. */
export function createFingerprint(stats: FileStatus, content?: Uint8Array): FileFingerprint {
  const base = { size: stats.size, modifiedNs: stats.mtimeNs, inode: stats.ino };
  return content ? { ...base, sha256: Bun.SHA256.hash(content, "hex") } : base;
}

/** Same content where both were seen whole, so that a mere `touch` is no change; else same size, time and inode. */
export function isSameContent(left: FileFingerprint, right: FileFingerprint): boolean {
  if (left.sha256 !== undefined && right.sha256 !== undefined) return left.sha256 === right.sha256;
  return left.size === right.size && left.modifiedNs === right.modifiedNs && left.inode === right.inode;
}
