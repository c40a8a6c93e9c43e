import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { now } from "../clock.ts";
import type { Environment } from "../environment.ts";
import { userStateDirectory } from "../places/user-directories.ts";
import { JsonlWriter } from "./jsonl-writer.ts";

// Many years of prompts; beyond it the older half goes.
const MAX_HISTORY_BYTES = 4 * 1024 * 1024;

/** A prompt somebody has sent. */
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
 * Notes a prompt (directory 0700, file 0600), so that it survives even when the program is killed before there is an
 * answer to save it with. Never throws: a prompt is worth more than its note.
 */
export function appendInputHistory(
  environment: Environment,
  { cwd, text }: Pick<InputHistoryEntry, "cwd" | "text">,
): void {
  const path = inputHistoryPath(environment);
  if (path === undefined) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    dropOlderHalf(path);
    const file = new JsonlWriter(path);
    file.append({ time: new Date(now()).toISOString(), cwd, text } satisfies InputHistoryEntry);
    file.close();
  } catch {
    // A read-only home or a full disk; the session says for itself when it cannot be saved.
  }
}

/** The newest lines stay; another process that appends at this very moment may lose its line. */
function dropOlderHalf(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= MAX_HISTORY_BYTES) return;
  const lines = readFileSync(path, "utf8").split("\n");
  const kept = lines.slice(Math.floor(lines.length / 2)).join("\n");
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, kept, { mode: 0o600 });
  renameSync(temporary, path);
}
