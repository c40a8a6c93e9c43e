import { findProjectRoot, homeDirectory, resolvePaths } from "@diligent/core/light";
import { listSessions, type SessionInfo } from "@diligent/core/sessions";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { formatLocalMinute, formatMessageCount } from "../session-text.ts";
import { toSingleLine } from "../terminal-text.ts";

const PREVIEW_COLUMNS = 60;

/** Lists this project's sessions, the last changed first. Reads no configuration. */
export async function runList(
  { directory, isJson }: { directory?: string; isJson: boolean },
  io: CliIo,
): Promise<number> {
  const sessions = await listSessions(projectSessionsDir(resolveDirectory(directory, io.cwd), io));
  io.stdout.write(isJson ? toJsonText(sessions) : formatSessionList(sessions));
  return EXIT_SUCCESS;
}

/** Where the sessions of the project are that `cwd` belongs to. */
export function projectSessionsDir(cwd: string, { environment }: Pick<CliIo, "environment">): string {
  return resolvePaths(findProjectRoot(cwd, homeDirectory(environment))).sessions;
}

/** The list as people read it; its numbers are what `--continue` takes. */
export function formatSessionList(sessions: readonly SessionInfo[]): string {
  if (sessions.length === 0) return "No sessions found.\n";
  const width = String(sessions.length).length + 2;
  const lines = sessions.map(
    (session, index) => `${String(index + 1).padStart(width)}. ${formatSession(session)}\n`,
  );
  return `Sessions:\n${lines.join("")}`;
}

function formatSession({ modified, name, firstUserMessage, messageCount }: SessionInfo): string {
  const preview = toSingleLine(name ?? firstUserMessage ?? "(no messages)", PREVIEW_COLUMNS);
  return `[${formatLocalMinute(modified)}] ${preview} (${formatMessageCount(messageCount)})`;
}
