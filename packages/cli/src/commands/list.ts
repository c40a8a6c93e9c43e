import {
  findProjectRoot,
  homeDirectory,
  resolvePaths,
  withArchivedLast,
  withoutArchived,
} from "@diligent/core/light";
import { readSessionDirectory, type SessionInfo, type UnreadableSession } from "@diligent/core/sessions";
import { EXIT_SUCCESS } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { LazyRedactor } from "../session/saved-secrets.ts";
import { sessionMarks } from "../session/session-formatter.ts";
import { formatLocalMinute, formatMessageCount, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";

const PREVIEW_COLUMNS = 60;

interface ListOptions {
  directory?: string | undefined;
  isJson: boolean;
  /** Lists archived sessions too, after the others. */
  areArchivedShown?: boolean;
}

/**
 * Lists this project's sessions, the most recently changed first. It reads no configuration, except to mask a key where
 * the list may contain one.
 */
export async function runList(
  { directory, isJson, areArchivedShown = false }: ListOptions,
  io: CliIo,
): Promise<number> {
  const cwd = resolveDirectory(directory, io.cwd);
  const redactor = new LazyRedactor(cwd, io.environment);
  const { sessions: all, unreadable } = readSessionDirectory(projectSessionsDir(cwd, io), { redactor });
  const sessions = areArchivedShown ? withArchivedLast(all) : withoutArchived(all);
  if (!isJson && all.length === 0 && unreadable.length > 0) {
    io.stdout.write(formatUnreadable(unreadable));
    return EXIT_SUCCESS;
  }
  io.stdout.write(isJson ? toJsonText(sessions) : formatSessionList(sessions));
  for (const { reason } of unreadable) writeLine(io.stderr, `warning: ${reason}`);
  return EXIT_SUCCESS;
}

/** Where the sessions of the project of `cwd` are. */
export function projectSessionsDir(cwd: string, { environment }: Pick<CliIo, "environment">): string {
  return resolvePaths(findProjectRoot(cwd, homeDirectory(environment))).sessions;
}

/** The list for people; its numbers work with `--continue`. */
function formatSessionList(sessions: readonly SessionInfo[]): string {
  if (sessions.length === 0) return "No sessions found.\n";
  const width = String(sessions.length).length + 2;
  const lines = sessions.map(
    (session, index) => `${String(index + 1).padStart(width)}. ${formatSession(session)}\n`,
  );
  return `Sessions:\n${lines.join("")}`;
}

/** Why no session can be opened. */
function formatUnreadable(sessions: readonly UnreadableSession[]): string {
  const lines = sessions.map(({ reason }) => `  ${sanitizeTerminalText(reason)}\n`);
  return `No readable sessions:\n${lines.join("")}`;
}

function formatSession(session: SessionInfo): string {
  const { modified, name, firstUserMessage, messageCount } = session;
  const preview = toSingleLine(name ?? firstUserMessage ?? "(no messages)", PREVIEW_COLUMNS);
  const facts = `[${formatLocalMinute(modified)}] ${preview} (${formatMessageCount(messageCount)})`;
  return [facts, ...sessionMarks(session)].join(" ");
}
