import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import type { SessionFile, SessionReadOptions } from "./read-file.ts";
import { findLastModelId, findLeafId, pathTo } from "./tree.ts";
import type { SessionEntry, SessionInfo } from "./types.ts";

// A new session reads no earlier one: the code for that is loaded on demand.

/**
 * Which session to continue: one that was read, else one by its id, else the last one that git does not track.
 */
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

/** The sessions of a project, the last changed first; none if nothing is saved. */
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
