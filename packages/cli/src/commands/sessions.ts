import { nearestName } from "@diligent/core/light";
import {
  listSessions,
  listUnreadableSessions,
  removeSession,
  renameSession,
  type SessionInfo,
} from "@diligent/core/sessions";
import type { RunOptions } from "../arguments/command.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { findSession } from "../find-session.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { formatLocalMinute, formatMessageCount } from "../session-text.ts";
import { sanitizeTerminalText, toSingleLine } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { formatSessionList, projectSessionsDir } from "./list.ts";
import { showSession } from "./show-session.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const HELP = `diligent sessions: find, show, name and delete this project's sessions

  diligent sessions [list] [--json]        the same as diligent --list
  diligent sessions show REF [--json]      the conversation as the model sees it when it goes on
  diligent sessions show REF --full        every entry of it, what was summarised or shortened included
  diligent sessions compact REF [FOCUS]    summarise its older part now; FOCUS says what matters,
                                           -m ID who writes the summary
  diligent sessions name REF NEW NAME      a name for the list
  diligent sessions rm REF [--yes]         delete its file; asks first

REF is a number of the list, an id, or the beginning of one.
`;

export async function runSessions(rest: readonly string[], io: CliIo, options: RunOptions): Promise<number> {
  const known = ["json", "yes", "full", "model="];
  const { words, switches, values } = readSubcommandArguments("sessions", rest, known);
  const [action = "list", reference, ...more] = words;
  if (switches.has("help")) return write(io, HELP);
  const sessionsDir = projectSessionsDir(resolveDirectory(options.directory, io.cwd), io);
  const sessions = await listSessions(sessionsDir);
  if (action === "list") {
    return switches.has("json") ? writeJson(io, sessions) : write(io, formatSessionList(sessions));
  }
  if (!ACTIONS.includes(action)) throw unknownAction(action);
  if (reference === undefined)
    throw new UsageError(`sessions ${action} needs a REF, such as 1 (see diligent --list)`);
  const session = findSession(sessions, reference, () => listUnreadableSessions(sessionsDir));
  if (action === "show")
    return showSession(session, { isFull: switches.has("full"), isJson: switches.has("json") }, io);
  if (action === "compact") {
    const { compactSession } = await import("./compact-session.ts");
    const model = values.get("model") ?? options.model;
    const focus = more.join(" ").trim() || undefined;
    const isJson = switches.has("json");
    return compactSession(
      { reference: session.id, focus, isJson, options: { ...options, ...(model && { model }) } },
      io,
    );
  }
  if (action === "name") return nameSession(session, more.join(" ").trim(), io);
  return deleteSession(session, switches.has("yes"), io);
}

const ACTIONS = ["list", "show", "compact", "name", "rm"];

function unknownAction(action: string): UsageError {
  const nearest = nearestName(action, ACTIONS);
  const hint = nearest === undefined ? "see diligent sessions --help" : `did you mean ${nearest}?`;
  return new UsageError(`sessions: unknown action ${action} (${hint})`);
}

function write(io: CliIo, text: string): number {
  io.stdout.write(sanitizeTerminalText(text));
  return EXIT_SUCCESS;
}

function nameSession(session: SessionInfo, name: string, io: CliIo): number {
  if (name === "") throw new UsageError(`sessions name ${session.id} needs a name`);
  change(() => renameSession(session, name));
  return write(io, `${session.id} is now called ${toSingleLine(name, 60)}\n`);
}

/** JSON escapes what a terminal would obey by itself, and stays what it is. */
function writeJson(io: CliIo, value: unknown): number {
  io.stdout.write(toJsonText(value));
  return EXIT_SUCCESS;
}

async function deleteSession(session: SessionInfo, isSure: boolean, io: CliIo): Promise<number> {
  const preview = toSingleLine(session.name ?? session.firstUserMessage ?? "", 60);
  const what = `session ${session.id} of ${formatLocalMinute(session.modified)}: ${preview} (${formatMessageCount(session.messageCount)})`;
  if (!isSure && !(await askYesNo(`Delete ${what}? This cannot be undone.`, io)))
    return write(io, "Nothing deleted.\n");
  change(() => removeSession(session));
  return write(io, `Deleted ${what}\n`);
}

/** @throws UsageError for what the file system does not allow. */
function change(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
