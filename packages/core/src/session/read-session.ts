import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import type { SessionFile } from "./read-session-file.ts";
import type { SessionInfo } from "./types.ts";

// A session that begins reads none that was before it: what does so is loaded when it is asked for.

/**
 * Which session is gone on with: one that was read, else one by its id, else the last one.
 */
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
  const { findSessionFile } = await import("./list-sessions.ts");
  const { readSessionFile } = await import("./read-session-file.ts");
  const path = await findSessionFile(paths.sessions, sessionId);
  return path === undefined ? undefined : readSessionFile(path);
}

/** The sessions of a project, the last changed first; none where nothing is saved. */
export async function listProjectSessions(paths: DiligentPaths | undefined): Promise<SessionInfo[]> {
  if (!paths) return [];
  const { listSessions } = await import("./list-sessions.ts");
  return listSessions(paths.sessions);
}
