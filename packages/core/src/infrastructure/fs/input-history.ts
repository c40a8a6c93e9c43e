import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { userStateDirectory } from "../paths/user.ts";
import { type Environment, now } from "../runtime.ts";
import { JsonlWriter } from "./jsonl-writer.ts";
import { isInside } from "./real-path.ts";

// Thousands of prompts. They are read in a few milliseconds, before the first key press.
const MAX_READ_BYTES = 1024 * 1024;

/**
 * The newest prompts without duplicates, the newest first: prompts of a project (sent in its root or below) before all
 * others, at most `limit` in total. Only the last megabyte of the file is read, and invalid lines are skipped. Empty
 * without a readable history.
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

/** All directories in which prompts were sent, as far as the input history goes back; the latest first. */
export function readInputDirectories(environment: Environment): string[] {
  const path = inputHistoryPath(environment);
  if (path === undefined) return [];
  const lines = [...linesBackwards(readTail(path, Number.POSITIVE_INFINITY))];
  return [...new Set(lines.flatMap((line) => parseEntry(line)?.cwd ?? []))];
}

/** Caches its results: most prompts were sent in a few directories. */
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

/** The lines at the end of a file; the first one may be incomplete. */
function readTail(path: string, maxBytes = MAX_READ_BYTES): string {
  try {
    // Does not block on a pipe in place of the file.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return "";
      const bytes = Buffer.alloc(Math.min(stats.size, maxBytes));
      const count = readSync(fd, bytes, 0, bytes.length, stats.size - bytes.length);
      return bytes.toString("utf8", 0, count);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file is missing or not readable: input continues without a history.
    return "";
  }
}

function parseEntry(line: string): InputHistoryEntry | undefined {
  if (line === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined; // The line was truncated, at the start of the read range or by a full disk.
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

// Many years of prompts; above this size the older half is deleted.
const MAX_HISTORY_BYTES = 4 * 1024 * 1024;

/** A prompt that the user has sent. */
export interface InputHistoryEntry {
  /** ISO 8601. */
  time: string;
  cwd: string;
  text: string;
}

/** `history.jsonl` in the user's state directory; undefined without one. */
export function inputHistoryPath(environment: Environment): string | undefined {
  const state = userStateDirectory(environment);
  return state && join(state, "history.jsonl");
}

/**
 * Appends a prompt (directory 0700, file 0600), so that it is kept even if the program is killed before the first
 * answer saves the session. Never throws: sending the prompt matters more.
 * @param beforeDrop called before old prompts are dropped; if it throws, they stay.
 */
export function appendInputHistory(
  environment: Environment,
  { cwd, text }: Pick<InputHistoryEntry, "cwd" | "text">,
  beforeDrop?: () => void,
): void {
  const path = inputHistoryPath(environment);
  if (path === undefined) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = new JsonlWriter(path);
    file.append({ time: new Date(now()).toISOString(), cwd, text } satisfies InputHistoryEntry);
    file.close();
    dropOlderHalf(path, beforeDrop);
  } catch {
    // A read-only home directory or a full disk; the session reports its own write errors.
  }
}

/** Keeps the newer lines; another process that appends at this moment may lose its line. */
function dropOlderHalf(path: string, beforeDrop: (() => void) | undefined): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= MAX_HISTORY_BYTES) return;
  beforeDrop?.();
  const lines = readFileSync(path, "utf8").split("\n");
  const kept = lines.slice(Math.floor(lines.length / 2)).join("\n");
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, kept, { mode: 0o600 });
  renameSync(temporary, path);
}
