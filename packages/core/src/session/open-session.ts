import type { Environment } from "../infrastructure/environment.ts";
import { DeferredWriter, type DeferredWriterOptions } from "./deferred-writer.ts";
import type { SessionFile } from "./read-session-file.ts";
import { SessionGate } from "./session-gate.ts";
import { createHeader } from "./session-header.ts";
import { SessionLog } from "./session-log.ts";
import { pathTo } from "./session-tree.ts";
import type { SessionHeader } from "./types.ts";

/** A session that can go on: its header, its entries, and its file where it is saved. */
export interface OpenSession {
  header: SessionHeader;
  log: SessionLog;
  writer: DeferredWriter | undefined;
  gate: SessionGate;
}

/** Where sessions are held and kept, and who is told about it. */
export interface SessionPlace extends Omit<DeferredWriterOptions, "file" | "header"> {
  cwd: string;
  /** Absolute; undefined: the session is not saved. */
  sessionsDir: string | undefined;
  /** See `SessionManagerConfig`. */
  lockPlace?: Environment | undefined;
}

/** What a new session is called, and what it comes from. */
export interface NewSessionOptions {
  /** Made by `generateSessionId` when left out. */
  sessionId?: string | undefined;
  /** The id of the session this one is forked from. */
  parentSession?: string | undefined;
}

/** Nothing is written yet: see `DeferredWriter`. */
export function createSession(place: SessionPlace, options: NewSessionOptions = {}): OpenSession {
  const header = createHeader({ ...options, cwd: place.cwd });
  const writer = createWriter(place, { header });
  return toOpenSession(place, { header, writer, log: new SessionLog(writer) });
}

/** Goes on in a file that was read. */
export function openSession(place: SessionPlace, file: SessionFile): OpenSession {
  const writer = createWriter(place, { file });
  return toOpenSession(place, { header: file.header, writer, log: new SessionLog(writer, file.entries) });
}

/** Where a copy ends and what it is called. */
export interface ForkOptions {
  /** The last entry to copy; the conversation's last when left out. */
  atEntryId?: string | undefined;
  /** Made by `generateSessionId` when left out. */
  sessionId?: string | undefined;
}

/**
 * A new session with a copy of `source`'s conversation; the copies keep their ids and all their fields.
 * @throws Error when there is no such entry.
 */
export function forkSession(
  place: SessionPlace,
  source: OpenSession,
  options: ForkOptions = {},
): OpenSession {
  const { atEntryId, sessionId } = options;
  if (atEntryId !== undefined) source.log.assertHas(atEntryId);
  const path = pathTo(source.log.entries, atEntryId ?? source.log.leafId);
  const fork = createSession(place, { sessionId, parentSession: source.header.id });
  for (const entry of path) fork.writer?.write(entry);
  fork.writer?.flush();
  return toOpenSession(place, { ...fork, log: new SessionLog(fork.writer, path) });
}

/** Puts on disk what there is, a prompt without an answer included; nothing for a session in which nothing was said. */
export function flushSession({ log, writer }: Pick<OpenSession, "log" | "writer">): void {
  if (log.entries.length === 0) return;
  writer?.flush();
  writer?.sync();
}

function toOpenSession({ lockPlace }: SessionPlace, parts: Omit<OpenSession, "gate">): OpenSession {
  return { ...parts, gate: new SessionGate({ ...parts, lockPlace }) };
}

function createWriter(
  { sessionsDir, cwd, lockPlace: _, ...options }: SessionPlace,
  from: Pick<DeferredWriterOptions, "file" | "header">,
): DeferredWriter | undefined {
  return sessionsDir === undefined
    ? undefined
    : new DeferredWriter(sessionsDir, cwd, { ...options, ...from });
}
