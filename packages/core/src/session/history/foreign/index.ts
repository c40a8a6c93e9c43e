import { readClaudeCodeSession } from "./claude-code.ts";
import { readCodexSession } from "./codex.ts";
import { readGeminiSession } from "./gemini.ts";
import { readOpencodeSession } from "./opencode.ts";
import { readPiSession } from "./pi.ts";
import type { ForeignAgent, ForeignLocation, ForeignSession, ReadLimits } from "./types.ts";

type Reader = (
  location: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
) => Promise<ForeignSession | undefined>;

const READERS: Readonly<Record<ForeignAgent, Reader>> = {
  "claude-code": readClaudeCodeSession,
  codex: readCodexSession,
  pi: readPiSession,
  opencode: readOpencodeSession,
  gemini: readGeminiSession,
};

/**
 * Reads a session of another agent, without changing anything there. Damaged parts are counted and skipped. Undefined
 * if the file is not a session.
 * @throws the file system's error, or SQLite's, if it cannot be read at all; StoppedError once `signal` is aborted.
 */
export function readForeignSession(
  location: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  return READERS[location.agent](location, limits, signal);
}
