import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import { findSessionFile } from "./list-sessions.ts";
import { readSessionFile, type SessionFile } from "./read-session-file.ts";

export interface ResumeSessionOptions {
  sessionId?: string | undefined;
  mostRecent?: boolean | undefined;
  /** One that was read already. */
  file?: SessionFile | undefined;
}

/**
 * The session that is meant, read; undefined when there is none.
 * @throws SessionFileError when it cannot be opened.
 */
export async function findAndReadSession(
  paths: DiligentPaths | undefined,
  { sessionId, mostRecent }: ResumeSessionOptions,
): Promise<SessionFile | undefined> {
  if (!paths || (sessionId === undefined && !mostRecent)) return undefined;
  const path = await findSessionFile(paths.sessions, sessionId);
  return path === undefined ? undefined : readSessionFile(path);
}
