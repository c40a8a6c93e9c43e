import { basename } from "node:path";
import { generateSessionId, now } from "../infrastructure/runtime.ts";
import { SESSION_VERSION, type SessionEntry, type SessionHeader, type SessionSource } from "./types.ts";

/** A session file that cannot be opened at all. The file is never changed. */
export class SessionFileError extends Error {
  override readonly name = "SessionFileError";
}

/** A file without a session in its first lines is not read any further. */
export const MAX_LINES_OF_NO_SESSION = 100;

const OLDEST_VERSION = 1;

/** The data of a new session's first line; `cwd` is absolute. */
interface HeaderOptions {
  cwd: string;
  /** By default from `generateSessionId`. */
  sessionId?: string | undefined;
  /** See `SessionHeader`. */
  parentSession?: string | undefined;
  parentEntry?: string | undefined;
  agent?: string | undefined;
}

/** Creates the header of a new session; nothing is written. */
export function createHeader({ cwd, sessionId, ...origin }: HeaderOptions): SessionHeader {
  const { parentSession, parentEntry, agent } = origin;
  return {
    type: "session",
    version: SESSION_VERSION,
    id: sessionId ?? generateSessionId(),
    timestamp: new Date(now()).toISOString(),
    cwd,
    ...(parentSession !== undefined && { parentSession }),
    ...(parentEntry !== undefined && { parentEntry }),
    ...(agent !== undefined && { agent }),
  };
}

/**
 * Parses the header in a line. Missing fields are filled in: the id from the file's name, the rest empty.
 * @throws SessionFileError for a version that this program does not read.
 */
export function readHeader(value: Readonly<Record<string, unknown>>, path: string): SessionHeader {
  const text = (key: string) => (typeof value[key] === "string" ? value[key] : undefined);
  const parentSession = text("parentSession");
  const parentEntry = text("parentEntry");
  const agent = text("agent");
  const source = readSource(value.source);
  return {
    type: "session",
    version: checkVersion(value.version ?? OLDEST_VERSION, path),
    id: toId(text("id")) ?? idFromPath(path),
    timestamp: text("timestamp") ?? "",
    cwd: text("cwd") ?? "",
    ...(parentSession !== undefined && { parentSession }),
    ...(parentEntry !== undefined && { parentEntry }),
    ...(agent !== undefined && { agent }),
    ...(source && { source }),
  };
}

/** Undefined without the agent and the id. */
function readSource(value: unknown): SessionSource | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = (key: string) => {
    const field = fields.get(key);
    return typeof field === "string" ? field : undefined;
  };
  const [agent, id, version, gitBranch] = ["agent", "id", "version", "gitBranch"].map(text);
  if (agent === undefined || id === undefined) return undefined;
  const size = fields.get("size");
  return {
    agent,
    id,
    path: text("path") ?? "",
    size: typeof size === "number" ? size : 0,
    ...(version !== undefined && { version }),
    ...(gitBranch !== undefined && { gitBranch }),
  };
}

/** A header for a file whose own is damaged; undefined if there is no conversation either. */
export function recoverHeader(entries: readonly SessionEntry[], path: string): SessionHeader | undefined {
  const first = entries.find(({ type }) => type === "message");
  if (!first) return undefined;
  return {
    type: "session",
    version: SESSION_VERSION,
    id: idFromPath(path),
    timestamp: first.timestamp,
    cwd: "",
  };
}

/** An id is passed to child processes and shown: an invalid id is ignored. */
function toId(id: string | undefined): string | undefined {
  return id !== undefined && /^[\w.-]{1,100}$/.test(id) ? id : undefined;
}

function idFromPath(path: string): string {
  return basename(path, ".jsonl");
}

function checkVersion(version: unknown, path: string): number {
  if (typeof version === "number" && version <= SESSION_VERSION) return version;
  throw new SessionFileError(
    `${path} has version ${String(version)} of the session format, and this diligent reads up to ${SESSION_VERSION}. Update diligent.`,
  );
}
