import { findSession } from "@diligent/core/light";
import type { SessionInfo } from "@diligent/core/run";
import { listSessions, listUnreadableSessions } from "@diligent/core/sessions";
import { projectSessionsDir } from "../commands/list.ts";
import type { CliIo } from "../io/io.ts";
import { openSavedRedactor } from "./saved-secrets.ts";
import { SESSION_FORMATTER } from "./session-formatter.ts";

/**
 * The session that a command reports about: the one of a REF, else the most recent one that is not archived; undefined
 * if there is none.
 * @throws UsageError for a REF without a session.
 */
export async function findShownSession(
  reference: string | undefined,
  cwd: string,
  io: Pick<CliIo, "environment">,
): Promise<SessionInfo | undefined> {
  const sessionsDir = projectSessionsDir(cwd, io);
  const redactor = openSavedRedactor(cwd, io.environment);
  const sessions = await listSessions(sessionsDir, { redactor });
  if (reference === undefined)
    return sessions.find(({ archived, agent }) => !archived && agent === undefined);
  return findSession(sessions, redactor.redact(reference), {
    listUnreadable: () => listUnreadableSessions(sessionsDir),
    areArchivedNumbered: true,
    formatter: SESSION_FORMATTER,
  });
}
