import { messageText } from "../../types.ts";
import { createFallbackSummary } from "../compaction/fallback-summary.ts";
import { messagesOf } from "../context-builder.ts";
import { lastOfType } from "../entries-by-type.ts";
import { findLeafId, pathTo } from "../tree.ts";
import type { SessionEntry } from "../types.ts";
import type { HistorySession } from "./search/history.ts";

const MAX_CHARACTERS = 12_000;
const MAX_USER_CHARACTERS = 8_000;

/**
 * What a new session tells the model about an earlier one that it continues: where that is, and a summary of it. The
 * summary is made without a model, so that nothing is sent or paid before the user's next prompt.
 */
export function describeEarlierSession(session: HistorySession, entries: readonly SessionEntry[]): string {
  const { ref, agent, modifiedMs } = session;
  const changed = new Date(modifiedMs).toISOString();
  return describe(
    `This session continues an earlier one of ${agent}: ${ref}, last changed ${changed}.`,
    session,
    entries,
  );
}

/** The same for a model that looks something up in an earlier session. */
export function summarizeEarlierSession(session: HistorySession, entries: readonly SessionEntry[]): string {
  const { ref, agent, modifiedMs } = session;
  return describe(
    `Session ${ref} of ${agent}, last changed ${new Date(modifiedMs).toISOString()}.`,
    session,
    entries,
  );
}

function describe(
  introduction: string,
  { project, title, path }: HistorySession,
  entries: readonly SessionEntry[],
): string {
  const branch = pathTo(entries, findLeafId(entries));
  const previousSummary = lastOfType(branch, "compaction")?.summary;
  const summary = createFallbackSummary(messagesOf(branch), {
    previousSummary,
    maxCharacters: MAX_CHARACTERS,
  });
  const facts = [
    introduction,
    ...(title === "" ? [] : [`Its subject: ${title}`]),
    ...(project === "" ? [] : [`It worked in ${project}.`]),
    `The whole session is in ${path}. Files may have changed since.`,
  ];
  const words = userWords(branch);
  const said = words.length === 0 ? "" : `\n\nThe user's own messages, the newest last:\n${words.join("\n")}`;
  return `[Summary of an earlier session]\n${facts.join("\n")}\n\n${summary}${said}`;
}

/** The newest messages of the user that fit, in order. */
function userWords(branch: readonly SessionEntry[]): string[] {
  const words: string[] = [];
  let room = MAX_USER_CHARACTERS;
  for (const entry of branch.toReversed()) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const text = messageText(entry.message).trim();
    room -= text.length;
    if (room < 0) break;
    if (text !== "") words.unshift(`- ${text.replaceAll("\n", "\n  ")}`);
  }
  return words;
}
