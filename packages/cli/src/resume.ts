import { existsSync } from "node:fs";
import {
  type Conversation,
  type Model,
  now,
  pathTo,
  readConversation,
  type SessionInfo,
} from "@diligent/core/run";
import {
  listSessions,
  listUnreadableSessions,
  readSessionFile,
  type SessionFile,
  SessionFileError,
} from "@diligent/core/sessions";
import type { Resumption } from "./arguments/command.ts";
import { findSession } from "./find-session.ts";
import type { Notice } from "./output/run-output.ts";
import { formatAge, formatLocalSecond, formatMessageCount, formatSize } from "./session-text.ts";
import { UsageError } from "./usage-error.ts";

/** A session from before, read and ready to go on. */
export interface EarlierSession extends Pick<Conversation, "lastModelId" | "path"> {
  how: Resumption["how"];
  /** Left out where it is one of this process. */
  info?: SessionInfo;
  file: SessionFile;
  /** Where it goes on, if not behind its last message. */
  leafId?: string | null;
}

/** A session of this process that another one takes the place of, or is a copy of; it may be saved nowhere. */
export interface HeldSession {
  how: Resumption["how"];
  file: SessionFile;
  leafId: string | null;
}

/** Which earlier session is gone on with; a new one begins where none of them says so. */
export interface ResumptionWishes {
  /** What the command line asks for. */
  resumption?: Resumption | undefined;
  /** Without a wish the most recent session is gone on with, where there is one. */
  isAutomatic?: boolean | undefined;
  /** Stands above both. */
  held?: HeldSession | undefined;
}

/**
 * The session to go on with; undefined for a new one.
 * @throws UsageError when the REF means no session, or one that cannot be opened.
 */
export async function findEarlierSession(
  sessionsDir: string,
  { resumption, isAutomatic = false, held }: ResumptionWishes,
): Promise<EarlierSession | undefined> {
  if (held) return { ...held, path: pathTo(held.file.entries, held.leafId) };
  if (!resumption && !isAutomatic) return undefined;
  const sessions = await listSessions(sessionsDir);
  if (!resumption) return sessions[0] && readEarlierSession(sessions[0], "continue");
  const { how, reference } = resumption;
  const info = findSession(sessions, reference, () => listUnreadableSessions(sessionsDir));
  return readEarlierSession(info, how);
}

function readEarlierSession(info: SessionInfo, how: Resumption["how"]): EarlierSession {
  try {
    const file = readSessionFile(info.path);
    const { lastModelId, path } = readConversation(file);
    return { how, info, file, lastModelId, path };
  } catch (error) {
    if (error instanceof SessionFileError) throw new UsageError(error.message);
    throw error;
  }
}

/** What to say about a session that is gone on with, and about what is no longer as it was. */
export function resumedNotices(
  { how, info, file, lastModelId }: EarlierSession,
  { model, cwd, fallback }: { model: Model; cwd: string; fallback?: string | undefined },
): Notice[] {
  if (!info) return [];
  const verb = how === "fork" ? "Forking" : "Resuming";
  const facts = [
    formatAge(now() - info.modified.getTime()),
    formatMessageCount(info.messageCount),
    formatSize(file.size),
  ];
  const notices: Notice[] = [
    {
      level: "info",
      code: "resumed",
      message: `${verb} session ${formatLocalSecond(info.created)}... (${facts.join(", ")})`,
    },
  ];
  const before = file.header.cwd;
  // A damaged header does not tell.
  if (before !== "" && before !== cwd) {
    const where = existsSync(before) ? before : `${before}, which is gone`;
    const message = `That session was held in ${where}; this one works in ${cwd}.`;
    notices.push({ level: "info", code: "other_directory", message });
  }
  if (fallback !== undefined) {
    const message = `It was held with ${lastModelId}: ${fallback} Going on with ${model.id}.`;
    notices.push({ level: "warning", code: "other_model", message });
  }
  return notices;
}
