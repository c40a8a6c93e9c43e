import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths } from "../diligent-dir.ts";
import { type FileTail, readOwnHead, readOwnTail } from "../fs/read.ts";
import type { Environment } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { findTrackedState } from "./git-index.ts";
import { userStateDirectory } from "./user.ts";

/**
 * Where the knowledge file of a project comes from. `own`: this user's diligent began it on this machine. `tracked`: git
 * tracks it, so it came or may come from others. `foreign`: nothing says that it was written here. `none`: no file.
 */
export type KnowledgeOrigin = "none" | "own" | "tracked" | "foreign";

// More than any entry has; the beginning tells files apart.
const MAX_FIRST_LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Never throws: a file that cannot be read, or is no regular file, is `foreign`. */
export function findKnowledgeOrigin(projectRoot: string, environment: Environment): KnowledgeOrigin {
  const path = knowledgeFilePath(resolvePaths(projectRoot).knowledge);
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined || (stats.isFile() && stats.size === 0)) return "none";
    if (findTrackedState(projectRoot, KNOWLEDGE_PATH_IN_PROJECT) === "tracked") return "tracked";
    const head = readOwnHead(path, MAX_FIRST_LINE_BYTES);
    const end = head.indexOf(NEWLINE);
    const marker = findMarker(environment, end < 0 ? head : head.subarray(0, end));
    return marker !== undefined && lstatSync(marker, { throwIfNoEntry: false })?.isFile() ? "own" : "foreign";
  } catch (error) {
    return systemErrorCode(error) === "ENOTDIR" ? "none" : "foreign";
  }
}

/** Of a longer file only the newest 32 MB are read. */
export const MAX_KNOWLEDGE_BYTES = 32 * 1024 * 1024;

/** @throws Error where the file may not be read or could have been written by another user; ENOENT as it is. */
export function readKnowledgeTail(path: string): FileTail {
  try {
    return readOwnTail(path, MAX_KNOWLEDGE_BYTES);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") throw error;
    const reason = systemErrorCode(error) === "ELOOP" ? "it is a symbolic link" : systemErrorText(error);
    throw new Error(`${path} is not read: ${reason}`);
  }
}

/** @throws as `readKnowledgeTail` does. */
export function readKnowledgeContent(projectRoot: string): KnowledgeContent {
  const path = knowledgeFilePath(resolvePaths(projectRoot).knowledge);
  const { bytes } = readKnowledgeTail(path);
  const lines = new TextDecoder().decode(bytes).split("\n");
  return {
    sha256: Bun.SHA256.hash(bytes, "hex"),
    lineCount: lines.filter((line) => line.trim() !== "").length,
  };
}

/**
 * Remembers that a knowledge file that begins with this line is the user's own: an empty file in the state directory. The
 * line holds a random id and a time, so no other file begins with it, and the project may be moved. To be called before
 * the line is written: another session that sees the file then knows it.
 * @param line without its line end.
 */
export function markOwnKnowledge(environment: Environment, line: string): void {
  const bytes = new TextEncoder().encode(line).subarray(0, MAX_FIRST_LINE_BYTES);
  const marker = findMarker(environment, bytes);
  if (marker === undefined) return;
  mkdirSync(join(marker, ".."), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(marker, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

function findMarker(environment: Environment, line: Uint8Array): string | undefined {
  const state = userStateDirectory(environment);
  return state && join(state, "knowledge", Bun.SHA256.hash(line, "hex"));
}

// Public declarations reach this file, so nothing here names a type of Node.

const KNOWLEDGE_FILENAME = "knowledge.jsonl";

/** From the project root, as git and the trust record name it. */
export const KNOWLEDGE_PATH_IN_PROJECT = `.diligent/knowledge/${KNOWLEDGE_FILENAME}`;

/** The file in `knowledgePath`, the directory `.diligent/knowledge` of a project. */
export function knowledgeFilePath(knowledgePath: string): string {
  return join(knowledgePath, KNOWLEDGE_FILENAME);
}

/** A knowledge file as it is now. */
export interface KnowledgeContent {
  /** Hexadecimal, of what is read of it. */
  sha256: string;
  /** Lines that are not empty; each is at most one entry. */
  lineCount: number;
}
