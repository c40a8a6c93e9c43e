import { type ContentBlock, formatTodos, type UserMessage } from "../types.ts";
import { formatFileOperations, formatPinnedMessages } from "./compaction/cut-point.ts";
import { formatPins } from "./compaction/pins.ts";
import { CHARACTERS_PER_TOKEN } from "./compaction/tokens.ts";
import type { PinnedMessage } from "./context-builder.ts";
import type { BranchSummaryEntry, CompactionDetails, CompactionEntry, SessionEntry } from "./types.ts";

interface MadeSummary {
  compaction: CompactionEntry;
  /** The entries before the same entry are the same, if their number and last entry are equal. */
  length: number;
  last: SessionEntry | undefined;
  message: UserMessage;
}

// The context is built before every request, and user messages may be long. For each conversation, by its first
// entry, only the newest message is cached: older ones must not stay in memory as long as the session.
const newestSummaries = new WeakMap<SessionEntry, MadeSummary>();
const branchSummaries = new WeakMap<BranchSummaryEntry, UserMessage>();

/**
 * The message that replaces the summarized entries for the model: the summary, the user's messages verbatim, and
 * the files. Calling it again for the newest compaction returns the same object.
 */
export function toSummaryMessage(
  compaction: CompactionEntry,
  summarized: readonly SessionEntry[],
  pins: readonly PinnedMessage[] = [],
): UserMessage {
  const [first = compaction] = summarized;
  const { length } = summarized;
  const last = summarized.at(-1);
  const made = newestSummaries.get(first);
  if (made?.compaction === compaction && made.length === length && made.last === last) return made.message;
  const pinned = compaction.pinnedTokens === undefined ? [] : userMessagesOf(summarized, pins);
  const message = createMessage(`[Session Summary]\n${summaryText(compaction, pinned, pins)}`, compaction);
  newestSummaries.set(first, { compaction, length, last, message });
  return message;
}

/** The message about an abandoned branch. The same entry gives the same object again. */
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

function summaryText(
  compaction: CompactionEntry,
  pinned: readonly UserMessage[],
  pins: readonly PinnedMessage[],
): string {
  const { summary, details, pinnedTokens = 0, todos = [] } = compaction;
  const words = pinned.length > 0 ? formatPinnedMessages(pinned, pinnedTokens) : "";
  return [
    details ? withoutFileLists(summary, details) : summary,
    ...(words === "" ? [] : ["\n\n", words]),
    ...(pins.length === 0 ? [] : ["\n\n", formatPins(pins)]),
    ...(todos.length === 0 ? [] : [`\n\nThe checklist at that time:\n${formatTodos(todos)}`]),
    ...(details
      ? [
          ...(compaction.recall === false ? [] : [RECALL]),
          formatFileOperations(details, { maxCharacters: maxFileCharacters(compaction) }),
        ]
      : []),
  ].join("");
}

const RECALL = "\n\nThe recall tool searches and reads the messages that this summary replaces.";

/** File lists only grow: they get half as much space as the user's messages. */
function maxFileCharacters({ pinnedTokens = Number.POSITIVE_INFINITY }: CompactionEntry): number {
  return (pinnedTokens * CHARACTERS_PER_TOKEN) / 2;
}

const LIST_START = /^(?:## Files (?:Read|Modified)|<(?:read|modified)-files>)$/;
const LIST_END = /^<\/(?:read|modified)-files>$/;

/**
 * An older or foreign summary may contain the file lists itself: removes those at its end that are covered by
 * `details`.
 */
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

function userMessagesOf(entries: readonly SessionEntry[], pins: readonly PinnedMessage[]): UserMessage[] {
  const pinnedIds = new Set(pins.map(({ entry }) => entry.id));
  const messages: UserMessage[] = [];
  for (const entry of entries)
    if (entry.type === "message" && entry.message.role === "user" && !pinnedIds.has(entry.id))
      messages.push(entry.message);
  return messages;
}

/** A command that the user ran, and its outcome. */
export interface ShellNote {
  command: string;
  /**
   * The output in the form of the model's own commands: long output is truncated in the middle, the exit status is at
   * the end.
   */
  output: string;
  /** Null if it was ended by a signal. */
  exitCode: number | null;
}

const MARK = "!";
const LEAD = "The user ran this command in their own shell, not through you.";
const NOTE_PATTERN =
  /^The user ran this command in their own shell, not through you\.(?: Exit code: (\d{1,10})\.)? Its output:\n\n/;

/** The note as a message: first the line as the user entered it, then the outcome for the model. */
export function toShellNote({ command, output, exitCode }: ShellNote): ContentBlock[] {
  const end = exitCode === null ? "" : ` Exit code: ${exitCode}.`;
  return [
    { type: "text", text: MARK + command },
    { type: "text", text: `${LEAD}${end} Its output:\n\n${output}` },
  ];
}

/** The note in a message; undefined for an ordinary user message. */
export function readShellNote({ content }: Pick<UserMessage, "content">): ShellNote | undefined {
  if (typeof content === "string" || content.length !== 2) return undefined;
  const [typed, outcome] = content;
  if (typed?.type !== "text" || outcome?.type !== "text" || !typed.text.startsWith(MARK)) return undefined;
  const lead = NOTE_PATTERN.exec(outcome.text);
  if (!lead) return undefined;
  const [all, exitCode] = lead;
  return {
    command: typed.text.slice(MARK.length),
    output: outcome.text.slice(all.length),
    exitCode: exitCode === undefined ? null : Number(exitCode),
  };
}
