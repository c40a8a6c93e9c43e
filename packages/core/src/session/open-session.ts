import { join } from "node:path";
import { now } from "../infrastructure/clock.ts";
import { generateSessionId } from "../infrastructure/ids.ts";
import { DeferredWriter } from "./deferred-writer.ts";
import type { SessionFile } from "./read-session-file.ts";
import { SessionLog } from "./session-log.ts";
import { pathTo } from "./session-tree.ts";
import { SESSION_VERSION, type SessionHeader } from "./types.ts";

/** A session that can go on: its header, its entries, and its file where it is saved. */
export interface OpenSession {
  header: SessionHeader;
  log: SessionLog;
  writer: DeferredWriter | undefined;
}

export interface SessionPlace {
  cwd: string;
  /** Absolute; undefined: the session is not saved. */
  sessionsDir: string | undefined;
  onFailure(error: Error): void;
  onForeignWrite(): void;
}

export interface NewSessionOptions {
  /** Made by `generateSessionId` when left out. */
  sessionId?: string | undefined;
  /** The id of the session this one is forked from. */
  parentSession?: string | undefined;
}

export function createSession(place: SessionPlace, options: NewSessionOptions = {}): OpenSession {
  const { sessionId = generateSessionId(), parentSession } = options;
  const header: SessionHeader = {
    type: "session",
    version: SESSION_VERSION,
    id: sessionId,
    timestamp: new Date(now()).toISOString(),
    cwd: place.cwd,
    ...(parentSession !== undefined && { parentSession }),
  };
  const writer = createWriter(place, header);
  return { header, writer, log: new SessionLog(writer) };
}

/** Goes on in a file that was read. */
export function openSession(place: SessionPlace, file: SessionFile): OpenSession {
  const { path, header, entries, size } = file;
  const writer = createWriter(place, header, { path, size });
  return { header, writer, log: new SessionLog(writer, entries) };
}

export interface ForkOptions {
  /** The last entry to copy; the conversation's last when left out. */
  atEntryId?: string | undefined;
  sessionId?: string | undefined;
}

/** A new session with a copy of `source`'s conversation; the copies keep their ids. */
export function forkSession(
  place: SessionPlace,
  source: OpenSession,
  options: ForkOptions = {},
): OpenSession {
  const { atEntryId = source.log.leafId, sessionId } = options;
  const path = pathTo(source.log.entries, atEntryId);
  const fork = createSession(place, { sessionId, parentSession: source.header.id });
  for (const entry of path) fork.writer?.write(entry);
  fork.writer?.flush();
  return { ...fork, log: new SessionLog(fork.writer, path) };
}

function createWriter(
  { sessionsDir, onFailure, onForeignWrite }: SessionPlace,
  header: SessionHeader,
  existing?: { path: string; size: number },
): DeferredWriter | undefined {
  if (sessionsDir === undefined) return undefined;
  const path = existing?.path ?? join(sessionsDir, `${header.id}.jsonl`);
  return new DeferredWriter({ path, header, existingSize: existing?.size, onFailure, onForeignWrite });
}
