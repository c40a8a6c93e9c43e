import { listSessions, listUnreadableSessions, nearestName } from "@diligent/core/light";
import {
  type Message,
  messageText,
  readConversation,
  readSessionFile,
  removeSession,
  renameSession,
  type SessionInfo,
} from "@diligent/core/run";
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
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const HELP = `diligent sessions: find, show, name and delete this project's sessions

  diligent sessions [list] [--json]        the same as diligent --list
  diligent sessions show REF [--json]      the conversation, as --continue would go on with it
  diligent sessions name REF NEW NAME      a name for the list
  diligent sessions rm REF [--yes]         delete its file; asks first

REF is a number of the list, an id, or the beginning of one.
`;

/** @param directory as given with `-C`. */
export async function runSessions(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("sessions", rest, ["json", "yes"]);
  const [action = "list", reference, ...more] = words;
  if (switches.has("help")) return write(io, HELP);
  const sessionsDir = projectSessionsDir(resolveDirectory(directory, io.cwd), io);
  const sessions = await listSessions(sessionsDir);
  if (action === "list") {
    return switches.has("json") ? writeJson(io, sessions) : write(io, formatSessionList(sessions));
  }
  if (!ACTIONS.includes(action)) throw unknownAction(action);
  if (reference === undefined)
    throw new UsageError(`sessions ${action} needs a REF, such as 1 (see diligent --list)`);
  const session = findSession(sessions, reference, () => listUnreadableSessions(sessionsDir));
  if (action === "show") return showSession(session, switches.has("json"), io);
  if (action === "name") return nameSession(session, more.join(" ").trim(), io);
  return deleteSession(session, switches.has("yes"), io);
}

const ACTIONS = ["list", "show", "name", "rm"];

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

function showSession({ path, created }: SessionInfo, isJson: boolean, io: CliIo): number {
  const file = readSessionFile(path);
  const { header } = file;
  const { messages } = readConversation(file);
  if (isJson) return writeJson(io, { header, messages });
  const when = formatLocalMinute(created);
  const title = `Session ${header.id} of ${when} in ${header.cwd}`;
  return write(io, [title, ...messages.map(formatMessage)].join("\n\n").concat("\n"));
}

const SHOWN_OUTPUT_LINES = 10;

function formatMessage(message: Message): string {
  switch (message.role) {
    case "user":
      return `> ${messageText(message).replaceAll("\n", "\n> ")}`;
    case "assistant": {
      const calls = message.content.flatMap((block) =>
        block.type === "tool_call" ? [`[${block.name}] ${JSON.stringify(block.input)}`] : [],
      );
      return [messageText(message), ...calls].filter((part) => part !== "").join("\n");
    }
    case "tool_result": {
      const lines = message.output.split("\n");
      const more =
        lines.length > SHOWN_OUTPUT_LINES ? [`… ${lines.length - SHOWN_OUTPUT_LINES} more lines`] : [];
      return [...lines.slice(0, SHOWN_OUTPUT_LINES), ...more].map((line) => `  ${line}`).join("\n");
    }
  }
}
