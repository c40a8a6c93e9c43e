import {
  type Message,
  messageText,
  readConversation,
  readSessionFile,
  removeSession,
  renameSession,
  type SessionInfo,
} from "@diligent/core";
import { nearestName } from "@diligent/core/light";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { findSession } from "../find-session.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { formatLocalMinute, formatMessageCount } from "../session-text.ts";
import { sanitizeTerminalText, toSingleLine } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { formatSessionList, listProjectSessions } from "./list.ts";
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
  const sessions = await listProjectSessions(resolveDirectory(directory, io.cwd), io);
  if (action === "list") {
    return write(io, switches.has("json") ? toJson(sessions) : formatSessionList(sessions));
  }
  if (!ACTIONS.includes(action)) throw unknownAction(action);
  if (reference === undefined)
    throw new UsageError(`sessions ${action} needs a REF, such as 1 (see diligent --list)`);
  const session = findSession(sessions, reference);
  if (action === "show") return write(io, showSession(session, switches.has("json")));
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
  io.stdout.write(text);
  return EXIT_SUCCESS;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function nameSession(session: SessionInfo, name: string, io: CliIo): number {
  if (name === "") throw new UsageError(`sessions name ${session.id} needs a name`);
  renameSession(session, name);
  return write(io, `${session.id} is now called ${toSingleLine(name, 60)}\n`);
}

async function deleteSession(session: SessionInfo, isSure: boolean, io: CliIo): Promise<number> {
  const preview = toSingleLine(session.name ?? session.firstUserMessage ?? "", 60);
  const what = `session ${session.id} of ${formatLocalMinute(session.modified)}: ${preview} (${formatMessageCount(session.messageCount)})`;
  if (!isSure && !(await askYesNo(`Delete ${what}? This cannot be undone.`, io)))
    return write(io, "Nothing deleted.\n");
  removeSession(session);
  return write(io, `Deleted ${what}\n`);
}

function showSession({ path }: SessionInfo, isJson: boolean): string {
  const file = readSessionFile(path);
  const { header } = file;
  const { messages } = readConversation(file);
  if (isJson) return toJson({ header, messages });
  const when = formatLocalMinute(new Date(header.timestamp));
  const title = `Session ${header.id} of ${when} in ${header.cwd}`;
  return sanitizeTerminalText([title, ...messages.map(formatMessage)].join("\n\n")).concat("\n");
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
