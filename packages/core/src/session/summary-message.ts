import type { UserMessage } from "../types.ts";
import { CHARACTERS_PER_TOKEN } from "./compaction/estimate-tokens.ts";
import { formatFileOperations } from "./compaction/file-operations.ts";
import { formatPinnedMessages } from "./compaction/pinned-messages.ts";
import type { BranchSummaryEntry, CompactionDetails, CompactionEntry, SessionEntry } from "./types.ts";

interface MadeSummary {
  compaction: CompactionEntry;
  /** Behind the same entry stands the same path, as long as it is as long and ends alike. */
  length: number;
  last: SessionEntry | undefined;
  message: UserMessage;
}

// A conversation is put together before every request, and one user may have said a great deal. For each conversation, by
// its first entry, only the newest is kept: those before it must not stay in memory as long as the session does.
const newestSummaries = new WeakMap<SessionEntry, MadeSummary>();
const branchSummaries = new WeakMap<BranchSummaryEntry, UserMessage>();

/**
 * What a compaction tells the model in place of the entries that it summarised: the summary, what the user said word for
 * word, and the files. Asked again for the newest one, it gives the same object.
 */
export function toSummaryMessage(
  compaction: CompactionEntry,
  summarized: readonly SessionEntry[],
): UserMessage {
  const [first = compaction] = summarized;
  const { length } = summarized;
  const last = summarized.at(-1);
  const made = newestSummaries.get(first);
  if (made?.compaction === compaction && made.length === length && made.last === last) return made.message;
  const pinned = compaction.pinnedTokens === undefined ? [] : userMessagesOf(summarized);
  const message = createMessage(`[Session Summary]\n${summaryText(compaction, pinned)}`, compaction);
  newestSummaries.set(first, { compaction, length, last, message });
  return message;
}

/** What is told about a branch that was left. The same entry gives the same object again. */
export function toBranchSummaryMessage(entry: BranchSummaryEntry): UserMessage {
  const made = branchSummaries.get(entry);
  if (made) return made;
  const message = createMessage(`[Branch Summary]\n${entry.summary}`, entry);
  branchSummaries.set(entry, message);
  return message;
}

function createMessage(content: string, { timestamp }: SessionEntry): UserMessage {
  const time = Date.parse(timestamp);
  return { role: "user", content, timestamp: Number.isNaN(time) ? 0 : time };
}

function summaryText(compaction: CompactionEntry, pinned: readonly UserMessage[]): string {
  const { summary, details, pinnedTokens = 0 } = compaction;
  const words = pinned.length > 0 ? formatPinnedMessages(pinned, pinnedTokens) : "";
  return [
    details ? withoutFileLists(summary, details) : summary,
    ...(words === "" ? [] : ["\n\n", words]),
    ...(details ? [formatFileOperations(details, { maxCharacters: maxFileCharacters(compaction) })] : []),
  ].join("");
}

/** File lists only ever grow: they get half as much room as what the user said. */
function maxFileCharacters({ pinnedTokens = Number.POSITIVE_INFINITY }: CompactionEntry): number {
  return (pinnedTokens * CHARACTERS_PER_TOKEN) / 2;
}

const LIST_START = /^(?:## Files (?:Read|Modified)|<(?:read|modified)-files>)$/;
const LIST_END = /^<\/(?:read|modified)-files>$/;

/** An older or foreign summary may hold the file lists itself: without those at its end that say no more than `details`. */
function withoutFileLists(summary: string, { readFiles, modifiedFiles }: CompactionDetails): string {
  const files = new Set([...readFiles, ...modifiedFiles]);
  const lines = summary.split("\n");
  let end = lines.length;
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index]?.trim() ?? "";
    if (LIST_START.test(line)) end = index;
    else if (line !== "" && !LIST_END.test(line) && !files.has(line.replace(/^- /, ""))) break;
  }
  return end === lines.length ? summary : lines.slice(0, end).join("\n").trimEnd();
}

function userMessagesOf(entries: readonly SessionEntry[]): UserMessage[] {
  return entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [entry.message] : [],
  );
}
