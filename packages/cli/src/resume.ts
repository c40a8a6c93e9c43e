import {
  type Conversation,
  type Model,
  now,
  readConversation,
  readSessionFile,
  type SessionFile,
  SessionFileError,
  type SessionInfo,
} from "@diligent/core";
import type { Resumption } from "./arguments/command.ts";
import { findSession } from "./find-session.ts";
import type { Notice } from "./output/run-output.ts";
import { formatAge, formatLocalSecond, formatMessageCount, formatSize } from "./session-text.ts";
import { UsageError } from "./usage-error.ts";

/** A session from before, read and ready to go on. */
export interface EarlierSession extends Pick<Conversation, "lastModelId"> {
  how: Resumption["how"];
  info: SessionInfo;
  file: SessionFile;
}

/** @throws UsageError when the REF means no session, or one that cannot be opened. */
export function readEarlierSession(
  sessions: readonly SessionInfo[],
  { how, reference }: Resumption,
): EarlierSession {
  const info = findSession(sessions, reference);
  try {
    const file = readSessionFile(info.path);
    return { how, info, file, lastModelId: readConversation(file).lastModelId };
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
  if (file.header.cwd !== cwd) {
    const message = `That session was held in ${file.header.cwd}; this one works in ${cwd}.`;
    notices.push({ level: "info", code: "other_directory", message });
  }
  if (fallback !== undefined) {
    const message = `It was held with ${lastModelId}: ${fallback} Going on with ${model.id}.`;
    notices.push({ level: "warning", code: "other_model", message });
  }
  return notices;
}
