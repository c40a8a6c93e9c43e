import type { Redactor } from "../agent/types.ts";
import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import { type Environment, generateEntryId, randomHex } from "../infrastructure/runtime.ts";
import { CompactionLock } from "./compaction-lock.ts";
import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import { customEntriesOn, SessionLog } from "./log.ts";
import type { SessionFile, SessionReadOptions } from "./read-file.ts";
import { createHeader } from "./session-header.ts";
import { todoEntriesOn } from "./todos.ts";
import { findLastModelId, findLeafId, pathTo } from "./tree.ts";
import type { SessionEntry, SessionHeader, SessionInfo } from "./types.ts";
import { DeferredWriter, type DeferredWriterOptions } from "./writer.ts";

/** An open session: its header, its entries, and its file if it is saved. */
export interface LiveSession {
  header: SessionHeader;
  log: SessionLog;
  writer: DeferredWriter | undefined;
  gate: CompactionLock;
  /**
   * Distinguishes this opening of an earlier session from all others, in other processes too; undefined for a session
   * created here.
   */
  openingId: string | undefined;
}

/** Where a session gets its ids from; random ones by default. */
export interface SessionIds {
  /** See `generateEntryId`. */
  entryId(): string;
  /** See `LiveSession`. */
  openingId(): string | undefined;
}

/** Where sessions are opened and stored, and who receives notices. */
export interface SessionLocation extends Omit<DeferredWriterOptions, "file" | "header"> {
  cwd: string;
  /** Absolute; undefined: the session is not saved. */
  sessionsDir: string | undefined;
  /** See `SessionManagerConfig`. */
  lockLocation?: Environment | undefined;
  /** Redacts secrets in added entries. */
  redactor?: Redactor | undefined;
  ids?: SessionIds | undefined;
}

/** The id and origin of a new session. */
export interface NewSessionOptions {
  /** By default from `generateSessionId`. */
  sessionId?: string | undefined;
  /** See `SessionHeader`. */
  parentSession?: string | undefined;
  parentEntry?: string | undefined;
  agent?: string | undefined;
}

/** Nothing is written yet: see `DeferredWriter`. */
export function createSession(location: SessionLocation, options: NewSessionOptions = {}): LiveSession {
  const header = createHeader({ ...options, cwd: location.cwd });
  const writer = createWriter(location, { header });
  const log = new SessionLog(writer, [], location.redactor, location.ids?.entryId);
  return toLiveSession(location, { header, writer, log, openingId: undefined });
}

// So many that two processes never choose the same.
const OPENING_ID_BYTES = 8;

/** The ids of sessions that nobody repeats. */
export const RANDOM_IDS: SessionIds = {
  entryId: generateEntryId,
  openingId: () => randomHex(OPENING_ID_BYTES),
};

/** Continues a file that was read; entries from before redaction existed are redacted here. */
export function continueSession(location: SessionLocation, file: SessionFile): LiveSession {
  const { redactor, ids = RANDOM_IDS } = location;
  const entries = redactor ? file.entries.map((entry) => redactor.redact(entry)) : file.entries;
  const writer = createWriter(location, { file: { ...file, entries } });
  return toLiveSession(location, {
    header: file.header,
    writer,
    log: new SessionLog(writer, entries, redactor, ids.entryId),
    openingId: ids.openingId(),
  });
}

/** The last entry of a copy, and its id. */
interface ForkOptions {
  /** The last entry to copy; the conversation's last by default. */
  atEntryId?: string | undefined;
  /** By default from `generateSessionId`. */
  sessionId?: string | undefined;
}

/**
 * A new session with a copy of `source`'s conversation; the copies keep their ids and all their fields.
 * @throws Error when there is no such entry.
 */
export function forkSession(
  location: SessionLocation,
  source: LiveSession,
  options: ForkOptions = {},
): LiveSession {
  const { atEntryId, sessionId } = options;
  if (atEntryId !== undefined) source.log.assertHas(atEntryId);
  const { redactor, ids } = location;
  const path = pathTo(source.log.entries, atEntryId ?? source.log.leafId);
  const fork = createSession(location, { sessionId, parentSession: source.header.id });
  const entries = withAttachedEntries(path, source.log.entries);
  const copied = redactor ? entries.map((entry) => redactor.redact(entry)) : entries;
  for (const entry of copied) fork.writer?.write(entry);
  fork.writer?.flush();
  return toLiveSession(location, {
    ...fork,
    log: new SessionLog(fork.writer, copied, redactor, ids?.entryId),
  });
}

/** The branch with the programs' custom entries, its checklists and its pins, in the order of the file. */
function withAttachedEntries(
  path: readonly SessionEntry[],
  entries: readonly SessionEntry[],
): readonly SessionEntry[] {
  if (!entries.some(({ type }) => type === "custom" || type === "pin" || type === "todo")) return path;
  const ids = new Set(path.map(({ id }) => id));
  const pins = entries.filter((entry) => entry.type === "pin" && ids.has(entry.targetId));
  const copied = new Set<SessionEntry>([
    ...path,
    ...customEntriesOn(path, entries),
    ...todoEntriesOn(path, entries),
    ...pins,
  ]);
  return entries.filter((entry) => copied.has(entry));
}

/** Writes everything to disk, including a prompt without an answer; nothing for an empty session. */
export function flushSession({ log, writer }: Pick<LiveSession, "log" | "writer">): void {
  if (log.entries.length === 0) return;
  writer?.flush();
  writer?.sync();
}

function toLiveSession({ lockLocation }: SessionLocation, parts: Omit<LiveSession, "gate">): LiveSession {
  return { ...parts, gate: new CompactionLock({ ...parts, lockLocation }) };
}

function createWriter(
  { sessionsDir, cwd, lockLocation: _, redactor: __, ids: ___, ...options }: SessionLocation,
  from: Pick<DeferredWriterOptions, "file" | "header">,
): DeferredWriter | undefined {
  return sessionsDir === undefined
    ? undefined
    : new DeferredWriter(sessionsDir, cwd, { ...options, ...from });
}

// A new session reads no earlier one: the code for that is loaded on demand.

/** The session to continue: one that was read, else one by its id, else the last one that git does not track. */
export interface ResumeSessionOptions {
  sessionId?: string | undefined;
  mostRecent?: boolean | undefined;
  /** A session that was read already. */
  file?: SessionFile | undefined;
}

/**
 * Finds and reads the session; undefined if there is none.
 * @throws SessionFileError when it cannot be opened.
 */
export async function findAndReadSession(
  paths: DiligentPaths | undefined,
  { sessionId, mostRecent }: ResumeSessionOptions,
): Promise<SessionFile | undefined> {
  if (!paths || (sessionId === undefined && !mostRecent)) return undefined;
  const { findSessionFile } = await import("./list.ts");
  const { readSessionFile } = await import("./read-file.ts");
  const path = await findSessionFile(paths.sessions, sessionId);
  return path === undefined ? undefined : readSessionFile(path);
}

/** The sessions of a project, the last changed first; empty if nothing is saved. */
export async function listProjectSessions(
  paths: DiligentPaths | undefined,
  options: SessionReadOptions,
): Promise<SessionInfo[]> {
  if (!paths) return [];
  const { listSessions } = await import("./list.ts");
  return listSessions(paths.sessions, options);
}

/** The conversation that would be continued. */
export interface Conversation extends SessionContext {
  /** The model used last; undefined before the first answer. */
  lastModelId?: string | undefined;
  /** Its entries from the root on, including summarized ones. */
  path: readonly SessionEntry[];
}

/**
 * The conversation of a file as it would continue. @param leafId the end of its branch; the last message by default.
 */
export function readConversation(
  { entries }: Pick<SessionFile, "entries">,
  leafId = findLeafId(entries),
): Conversation {
  const context = buildSessionContext(entries, leafId);
  const path = pathTo(entries, leafId);
  return { ...context, path, lastModelId: findLastModelId(path) };
}
