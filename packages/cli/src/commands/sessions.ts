import { findProjectRoot, forgetCheckpoints, homeDirectory } from "@diligent/core/light";
import {
  listSessions,
  listUnreadableSessions,
  removeSession,
  renameSession,
  type SessionInfo,
} from "@diligent/core/sessions";
import { isSubcommandWord } from "../arguments/subcommand-table.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { findSession } from "../find-session.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { formatLocalMinute, formatMessageCount } from "../session-text.ts";
import { sanitizeTerminalText, toSingleLine } from "../terminal-text.ts";
import { orUsageError, UsageError } from "../usage-error.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { formatSessionList, projectSessionsDir } from "./list.ts";
import { showSession } from "./show-session.ts";
import { readSubcommandArguments, unknownAction } from "./subcommand-arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action or session, and for what the file system does not allow.
 */
export async function runSessions(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("sessions", rest);
  const [action = "list", reference, ...more] = words;
  const sessionsDir = projectSessionsDir(resolveDirectory(directory, io.cwd), io);
  const sessions = await listSessions(sessionsDir);
  if (action === "list") {
    return switches.has("json") ? writeJson(io, sessions) : write(io, formatSessionList(sessions));
  }
  if (!isSubcommandWord("sessions", action)) throw unknownAction("sessions", action);
  if (reference === undefined)
    throw new UsageError(`sessions ${action} needs a REF, such as 1 (see diligent --list)`);
  const session = findSession(sessions, reference, () => listUnreadableSessions(sessionsDir));
  if (action === "show")
    return showSession(session, { isFull: switches.has("full"), isJson: switches.has("json") }, io);
  if (action === "compact") {
    const { compactSession } = await import("./compact-session.ts");
    const focus = more.join(" ").trim() || undefined;
    const isJson = switches.has("json");
    return compactSession(
      { reference: session.id, focus, isJson, model: values.get("model"), directory },
      io,
    );
  }
  if (action === "name") return nameSession(session, more.join(" ").trim(), io);
  const root = findProjectRoot(resolveDirectory(directory, io.cwd), homeDirectory(io.environment));
  const isDeleted = await deleteSession(session, switches.has("yes"), io);
  if (isDeleted) await forgetCheckpoints({ root, environment: io.environment, sessionId: session.id });
  return EXIT_SUCCESS;
}

function write(io: CliIo, text: string): number {
  io.stdout.write(sanitizeTerminalText(text));
  return EXIT_SUCCESS;
}

async function nameSession(session: SessionInfo, name: string, io: CliIo): Promise<number> {
  if (name === "") throw new UsageError(`sessions name ${session.id} needs a name`);
  await orUsageError(() => renameSession(session, name));
  return write(io, `${session.id} is now called ${toSingleLine(name, 60)}\n`);
}

/** JSON escapes what a terminal would obey by itself, and stays what it is. */
function writeJson(io: CliIo, value: unknown): number {
  io.stdout.write(toJsonText(value));
  return EXIT_SUCCESS;
}

async function deleteSession(session: SessionInfo, isSure: boolean, io: CliIo): Promise<boolean> {
  const preview = toSingleLine(session.name ?? session.firstUserMessage ?? "", 60);
  const what = `session ${session.id} of ${formatLocalMinute(session.modified)}: ${preview} (${formatMessageCount(session.messageCount)})`;
  if (!isSure && !(await askYesNo(`Delete ${what}? This cannot be undone.`, io))) {
    write(io, "Nothing deleted.\n");
    return false;
  }
  await orUsageError(() => removeSession(session));
  write(io, `Deleted ${what}\n`);
  return true;
}
