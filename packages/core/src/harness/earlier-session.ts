import { readSessionSettings } from "../session/custom-entries.ts";
import { type Conversation, readConversation } from "../session/find-session.ts";
import { listUnreadableSessions } from "../session/list.ts";
import { listSessions, readSessionFile, type SessionFile, SessionFileError } from "../session/persistence.ts";
import { pathTo } from "../session/tree.ts";
import type { SessionInfo, SettingsEntry } from "../session/types.ts";
import { UsageError } from "./errors.ts";
import { findSession, type SessionWording, splitEntry, withoutArchived } from "./find-session.ts";

/** An earlier session, read and ready to continue. */
export interface EarlierSession extends Pick<Conversation, "lastModelId" | "path"> {
  how: "continue" | "fork";
  /** Absent for a session of this process. */
  info?: SessionInfo;
  file: SessionFile;
  /** Where it continues, unless after its last message. */
  leafId?: string | null;
  /** The settings last chosen in it; absent if none were. */
  settings?: Pick<SettingsEntry, "effort"> | undefined;
}

/** A session of this process that is being replaced or copied; it may not be saved anywhere. */
export interface HeldSession {
  file: SessionFile;
  leafId: string | null;
}

/**
 * Which earlier session is meant: what a person calls it (a number of the list, an id or the beginning of one, a name; for a
 * copy, `@` and the id of its last entry may follow), the most recent one, or one of this process.
 */
export type SessionReference = string | { latest: true } | HeldSession;

/**
 * Where a session begins: anew, behind the last message of an earlier one, in a copy of one, or with the most recent one
 * where the setting `session.autoResume` says so.
 */
export type SessionStart =
  | { fresh: true }
  | { resume: SessionReference }
  | { fork: SessionReference }
  | { automatic: true };

/**
 * The session to continue; undefined for a new one.
 * @throws UsageError when the reference means no session, or one that cannot be opened.
 */
export async function findEarlierSession(
  sessionsDir: string,
  start: SessionStart,
  wording?: SessionWording,
): Promise<EarlierSession | undefined> {
  if ("fresh" in start) return undefined;
  if ("automatic" in start) {
    const [mostRecent] = withoutArchived(await listSessions(sessionsDir));
    return mostRecent && readEarlierSession(mostRecent, "continue");
  }
  const [how, wanted] =
    "fork" in start ? (["fork", start.fork] as const) : (["continue", start.resume] as const);
  if (typeof wanted === "object" && "file" in wanted) {
    const { entries } = wanted.file;
    const path = pathTo(entries, wanted.leafId);
    return { ...wanted, how, path, settings: readSessionSettings(entries) };
  }
  const sessions = await listSessions(sessionsDir);
  const { reference, entryId } = typeof wanted === "string" ? splitReference(how, wanted) : {};
  const listUnreadable = () => listUnreadableSessions(sessionsDir);
  return readEarlierSession(findSession(sessions, reference, { listUnreadable, wording }), how, entryId);
}

function splitReference(how: EarlierSession["how"], reference: string): ReturnType<typeof splitEntry> {
  const split = splitEntry(reference);
  if (how === "fork" || split.entryId === undefined) return split;
  throw new UsageError(
    `${reference} names an entry: use --fork ${reference} to continue in a copy that ends there`,
  );
}

function readEarlierSession(
  info: SessionInfo,
  how: EarlierSession["how"],
  entryId?: string | undefined,
): EarlierSession {
  try {
    const file = readSessionFile(info.path);
    if (entryId !== undefined && !file.entries.some(({ id }) => id === entryId))
      throw new UsageError(
        `session ${info.id} has no entry ${entryId} (see diligent sessions show ${info.id} --entries)`,
      );
    const { lastModelId, path } = readConversation(file, entryId);
    const settings = readSessionSettings(file.entries);
    return {
      how,
      info,
      file,
      lastModelId,
      path,
      settings,
      ...(entryId !== undefined && { leafId: entryId }),
    };
  } catch (error) {
    if (error instanceof SessionFileError) throw new UsageError(error.message);
    throw error;
  }
}
