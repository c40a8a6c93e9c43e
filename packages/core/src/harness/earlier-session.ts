import type { Redactor } from "../agent/types.ts";
import { listUnreadableSessions } from "../session/list.ts";
import { findEntryId, readSessionSettings } from "../session/log.ts";
import { type Conversation, readConversation } from "../session/open.ts";
import { listSessions, readSessionFile, type SessionFile, SessionFileError } from "../session/persistence.ts";
import { pathTo } from "../session/tree.ts";
import type { SessionInfo, SettingsEntry } from "../session/types.ts";
import { orUsageError, UsageError } from "./errors.ts";
import {
  findMostRecent,
  findSession,
  type SessionFormatter,
  splitEntry,
  withoutArchived,
} from "./find-session.ts";
import type { SessionReference, SessionStart } from "./types.ts";

/** An earlier session, read and ready to continue. */
export interface EarlierSession extends Pick<Conversation, "lastModelId" | "path"> {
  how: "continue" | "fork";
  /** Absent for a session of this process. */
  info?: SessionInfo;
  /** The session changed last, if it was skipped because git tracks it. */
  skipped?: SessionInfo | undefined;
  file: SessionFile;
  /** The entry to continue after; by default its last message. */
  leafId?: string | null;
  /** The settings last chosen in it; absent if none were. */
  settings?: Pick<SettingsEntry, "effort"> | undefined;
}

/** A session of this process that is being replaced or copied; it need not be saved. */
export interface HeldSession {
  file: SessionFile;
  leafId: string | null;
}

/** See `SessionReference`; or a session of this process. */
export type ProjectReference = SessionReference | HeldSession;

/** See `SessionStart`; or after the most recent session if the setting `session.autoResume` is on. */
export type ProjectStart =
  | SessionStart
  | { resume: ProjectReference }
  | { fork: ProjectReference }
  | { automatic: true };

interface SearchOptions {
  /** How messages show sessions. */
  formatter?: SessionFormatter | undefined;
  /** Redacts secrets in lists of sessions and in messages. */
  redactor?: Redactor | undefined;
}

/**
 * The session to continue; undefined for a new one.
 * @throws UsageError when the reference matches no session, or one that cannot be opened.
 */
export async function findEarlierSession(
  sessionsDir: string,
  start: ProjectStart,
  { formatter, redactor }: SearchOptions = {},
): Promise<EarlierSession | undefined> {
  if ("fresh" in start) return undefined;
  if ("automatic" in start) {
    const sessions = await listSessions(sessionsDir, { redactor });
    const mostRecent = findMostRecent(sessions);
    if (!mostRecent) return undefined;
    const earlier = await readEarlierSession(mostRecent, "continue");
    return { ...earlier, skipped: findSkipped(sessions, mostRecent) };
  }
  const [how, wanted] =
    "fork" in start ? (["fork", start.fork] as const) : (["continue", start.resume] as const);
  if (typeof wanted === "object" && "file" in wanted) {
    const { entries } = wanted.file;
    const path = pathTo(entries, wanted.leafId);
    return { ...wanted, how, path, settings: readSessionSettings(entries) };
  }
  const sessions = await listSessions(sessionsDir, { redactor });
  const { reference, entry } = typeof wanted === "string" ? splitReference(how, wanted, sessions) : {};
  const listUnreadable = () => listUnreadableSessions(sessionsDir);
  const info = findSession(sessions, reference, { listUnreadable, formatter });
  const skipped = reference === undefined ? findSkipped(sessions, info) : undefined;
  return { ...(await readEarlierSession(info, how, entry)), skipped };
}

function splitReference(
  how: EarlierSession["how"],
  reference: string,
  sessions: readonly SessionInfo[],
): ReturnType<typeof splitEntry> {
  const split = splitEntry(reference, sessions);
  if (how === "fork" || split.entry === undefined) return split;
  throw new UsageError(
    `${reference} names an entry: use --fork ${reference} to fork the session at that entry`,
  );
}

/** The session that would have been chosen if git did not track it. */
function findSkipped(sessions: readonly SessionInfo[], taken: SessionInfo): SessionInfo | undefined {
  const [first] = withoutArchived(sessions);
  return first === taken ? undefined : first;
}

/** @param entry the id or label of the entry at which it ends. */
async function readEarlierSession(
  info: SessionInfo,
  how: EarlierSession["how"],
  entry?: string | undefined,
): Promise<EarlierSession> {
  const file = await orUsageError(() => readSessionFile(info.path), SessionFileError);
  const leafId = entry === undefined ? undefined : await orUsageError(() => findEntryId(file, entry));
  const { lastModelId, path } = readConversation(file, leafId);
  const settings = readSessionSettings(file.entries);
  return { how, info, file, lastModelId, path, settings, ...(leafId !== undefined && { leafId }) };
}
