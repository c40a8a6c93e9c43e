import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Environment } from "../environment.ts";
import { type InputHistoryEntry, inputHistoryPath } from "../writing/input-history.ts";
import { isInside } from "./real-path.ts";

// Thousands of prompts. Reading and parsing them takes a few milliseconds, before the first key.
const MAX_READ_BYTES = 1024 * 1024;

/**
 * The newest prompts, each once, the newest first: those of a project (sent in its root or below) before all others, and
 * at most `limit` of them together. Only the last megabyte of the file is looked at, and lines that are none are passed
 * over. Empty where there is no history or it cannot be read.
 */
export function readRecentInputs(
  environment: Environment,
  { root, limit }: { root: string; limit: number },
): InputHistoryEntry[] {
  const path = inputHistoryPath(environment);
  if (path === undefined) return [];
  const own = new Map<string, InputHistoryEntry>();
  const others = new Map<string, InputHistoryEntry>();
  const isOwn = createDirectoryTest(root);
  for (const line of linesBackwards(readTail(path))) {
    if (own.size >= limit) break;
    const entry = parseEntry(line);
    if (entry === undefined) continue;
    const entries = isOwn(entry.cwd) ? own : others;
    if (!entries.has(entry.text)) entries.set(entry.text, entry);
  }
  const rest = [...others.values()].filter(({ text }) => !own.has(text));
  return [...own.values(), ...rest].slice(0, limit);
}

/** Most prompts were sent in a handful of places. */
function createDirectoryTest(root: string): (directory: string) => boolean {
  const known = new Map<string, boolean>();
  return (directory) => {
    const isKnown = known.get(directory) ?? isInside(directory, root);
    known.set(directory, isKnown);
    return isKnown;
  };
}

function* linesBackwards(text: string): Generator<string, void> {
  for (let end = text.length; end >= 0; ) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    yield text.slice(start, end);
    end = start - 1;
  }
}

/** The lines at the end of a file; the first of them may be a part. */
function readTail(path: string): string {
  try {
    // Never waits for the other end of a pipe that somebody put there.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return "";
      const bytes = Buffer.alloc(Math.min(stats.size, MAX_READ_BYTES));
      const count = readSync(fd, bytes, 0, bytes.length, stats.size - bytes.length);
      return bytes.toString("utf8", 0, count);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Nothing was ever written, or it is not ours to read: writing goes on without a history.
    return "";
  }
}

function parseEntry(line: string): InputHistoryEntry | undefined {
  if (line === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined; // Cut off where reading began, or where somebody's disk was full.
  }
}

function isEntry(value: unknown): value is InputHistoryEntry {
  if (typeof value !== "object" || value === null) return false;
  if (!("time" in value && "cwd" in value && "text" in value)) return false;
  const { time, cwd, text } = value;
  return (
    typeof time === "string" && typeof cwd === "string" && typeof text === "string" && text.trim() !== ""
  );
}
