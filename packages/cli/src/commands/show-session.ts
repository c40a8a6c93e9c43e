import { findLeafId, pathTo, readConversation, type SessionInfo } from "@diligent/core/run";
import { readSessionFile, type SessionFile } from "@diligent/core/sessions";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { toJsonText } from "../output/json-line.ts";
import { formatLocalMinute } from "../session-text.ts";
import { sanitizeTerminalText } from "../terminal-text.ts";
import { formatEntry, formatMessage } from "./format-entry.ts";

/** How much of the session is written, and in which form. */
export interface ShowOptions {
  /** All of the branch, as the file has it, instead of what the model sees. */
  isFull: boolean;
  isJson: boolean;
}

/** Writes the conversation that `--continue` would go on with. */
export function showSession(
  { path, created }: SessionInfo,
  { isFull, isJson }: ShowOptions,
  io: CliIo,
): number {
  const file = readSessionFile(path);
  // JSON escapes what a terminal would obey by itself, and stays what it is.
  if (isJson) io.stdout.write(toJsonText(isFull ? fullEntries(file) : seenMessages(file)));
  else {
    const title = `Session ${file.header.id} of ${formatLocalMinute(created)} in ${file.header.cwd}`;
    io.stdout.write(sanitizeTerminalText(`${title}\n`));
    const parts = isFull ? branchOf(file).map(formatEntry) : seenMessages(file).messages.map(formatMessage);
    // One by one: a long session in one text would be held several times over.
    for (const part of parts) io.stdout.write(sanitizeTerminalText(`\n${part}\n`));
  }
  return EXIT_SUCCESS;
}

function seenMessages(file: SessionFile) {
  return { header: file.header, messages: readConversation(file).messages };
}

/** The entries of the branch as they stand in the file. */
function fullEntries(file: SessionFile): object[] {
  return branchOf(file).map((entry) => (entry.type === "unknown" ? entry.raw : entry));
}

function branchOf({ entries }: SessionFile) {
  return pathTo(entries, findLeafId(entries));
}
