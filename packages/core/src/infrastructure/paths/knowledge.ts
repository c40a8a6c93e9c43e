import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths } from "../diligent-dir.ts";
import { type FileTail, readOwnHead, readOwnTail } from "../fs/read.ts";
import type { Environment } from "../runtime.ts";
import { systemErrorCode, systemErrorText } from "../system-error.ts";
import { findTrackedState } from "./git-index.ts";
import { KNOWLEDGE_PATH_IN_PROJECT, type KnowledgeContent, knowledgeFilePath } from "./knowledge-file.ts";
import { userStateDirectory } from "./user.ts";

/**
 * The origin of a project's knowledge file. `own`: this user's diligent created it on this machine. `tracked`: git
 * tracks it, so others may have written it. `foreign`: there is no proof that it was written here. `none`: no file.
 */
export type KnowledgeOrigin = "none" | "own" | "tracked" | "foreign";

// Longer than any entry; the first line identifies the file.
const MAX_FIRST_LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Never throws: an unreadable or special file is `foreign`. */
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

/** Of a larger file only the newest 32 MB are read. */
export const MAX_KNOWLEDGE_BYTES = 32 * 1024 * 1024;

/** @throws Error if the file is not readable or could have been written by another user; ENOENT is passed on. */
export function readKnowledgeTail(path: string): FileTail {
  try {
    return readOwnTail(path, MAX_KNOWLEDGE_BYTES);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") throw error;
    const reason = systemErrorCode(error) === "ELOOP" ? "it is a symbolic link" : systemErrorText(error);
    throw new Error(`${path} is not read: ${reason}`);
  }
}

/** @throws like `readKnowledgeTail`. */
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
 * Marks knowledge files that start with this line as the user's own, with an empty file in the state directory. The
 * line contains a random id and a time, so no other file starts with it, and the project may be moved. Call it before
 * the line is written, so that other sessions recognize the file.
 * @param line without its line ending.
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
