import type { Effort, RequestPurpose } from "../provider/types.ts";
import type { Message, TodoItem, Usage } from "../types.ts";

export { generateEntryId, generateSessionId } from "../infrastructure/runtime.ts";

/** The version of the session file format that this program writes, and the highest it reads. */
export const SESSION_VERSION = 2;

/** Where an imported session comes from. */
export interface SessionSource {
  /** The other agent, such as `claude-code`. */
  agent: string;
  /** Its id there. */
  id: string;
  /** The file, absolute, and its size in bytes when it was read first. */
  path: string;
  size: number;
  /** The agent's version. */
  version?: string;
  gitBranch?: string;
}

/** The first line of a session file. */
export interface SessionHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601, as in every entry. */
  timestamp: string;
  cwd: string;
  /** The id of the session this one was forked from, or whose call it works on. */
  parentSession?: string;
  /** The entry of the parent with that call. */
  parentEntry?: string;
  /** The sub-agent's name, in the session of one. */
  agent?: string;
  /** For an imported session. */
  source?: SessionSource;
}

/** Fields that every entry of a session has. */
export interface EntryBase {
  /** 8 hexadecimal digits, unique in the file. */
  id: string;
  /** The entry before this one on its branch; null for the first. */
  parentId: string | null;
  timestamp: string;
}

/** A message of the conversation. */
export interface SessionMessageEntry extends EntryBase {
  type: "message";
  message: Message;
}

/** Another model answers from here on. */
export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

/** The name of the session; an entry without `name` removes it. */
export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

/** A label on an entry; without `label` it removes the label. */
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

/** Pins a message, or unpins it: summaries of the part that contains it repeat it verbatim. */
export interface PinEntry extends EntryBase {
  type: "pin";
  targetId: string;
  pinned: boolean;
}

/** A choice for the session; the last such entry of the file applies, whatever branch it is on. */
export interface SettingsEntry extends EntryBase {
  type: "settings";
  /** The thinking level; without it, the model's default. */
  effort?: Effort;
}

/** Sets the model's checklist on this branch; an empty one removes it. */
export interface TodoEntry extends EntryBase {
  type: "todo";
  todos: TodoItem[];
}

/** Links a call of this session with the session of the sub-agent that works on it. */
export interface TaskLinkEntry extends EntryBase {
  type: "task_link";
  toolCallId: string;
  sessionId: string;
  /** The sub-agent's name. */
  agent: string;
}

/** A hook that has run. */
export interface HookEntry extends EntryBase {
  type: "hook";
  event: string;
  command: string;
  durationMs: number;
  outcome: string;
}

/** Why a request could not use what the provider had cached of the one before it. */
export type PrefixBreakCause =
  /** Another model answers, or the model thinks differently. */
  | "model"
  | "thinking"
  /** Other tools, or other definitions of them. */
  | "tools"
  /** The system prompt has changed: instructions, knowledge, skills, the date. */
  | "instructions"
  | "compaction"
  | "prune"
  /** The conversation continues after an earlier entry. */
  | "rewind"
  /** Nothing has changed: the provider has dropped it. */
  | "expiry";

/** A request whose beginning the provider had to read again. */
export interface PrefixBreak {
  why: PrefixBreakCause;
  /** The part of the request from which on it differs; `end` if it does not. */
  at: "model" | "tools" | "system" | "messages" | "end";
  /** The number of its messages before that. */
  messagesBefore?: number;
  /** A clause for people: the models, the tools, the time since the last request. */
  detail?: string;
  /** Tokens that were sent before and had to be read again. */
  tokens: number;
  /** What they cost more than from the cache, in US dollars; null if a price is unknown. */
  cost: number | null;
}

/** What a request began with, to recognize it in the next one: digests of its parts. */
export interface RequestPrefix {
  tools: string;
  system: string;
  /** The number of messages, and a digest of all of them. */
  messages: number;
  history: string;
  effort?: string;
}

/**
 * A model request that was answered, or charged. Its parent is the last entry that it sent, and that of the reply. It
 * follows the request, so a session that ended in between has a reply without one.
 */
export interface RequestEntry extends EntryBase {
  type: "request";
  provider: string;
  modelId: string;
  /** For a request outside the conversation. */
  purpose?: RequestPurpose;
  /** When it was sent, ISO 8601. */
  sent: string;
  usage: Usage;
  /** US dollars at the prices of that day; null if they are unknown. */
  cost: number | null;
  /** The tokens of its input by cause; see `countParts`. */
  parts: Record<string, number>;
  /** For a request of the conversation. */
  prefix?: RequestPrefix;
  break?: PrefixBreak;
}

/** A call, or the end of a turn, that a rule has refused. */
export interface RuleViolationEntry extends EntryBase {
  type: "rule_violation";
  rule: string;
  source: string;
  line: number;
  name: string;
}

/** Archives the session, or restores it to lists. A session that continues with a message is restored as well. */
export interface ArchiveEntry extends EntryBase {
  type: "archive";
  archived: boolean;
}

/** Data that a program using this library stores in the session; models never see it. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  /** The owner and kind of the data. */
  customType: string;
  /** Any JSON value. */
  data: unknown;
}

/** Files that the summarized part of a conversation read and changed, as named by its calls, sorted. */
export interface CompactionDetails {
  /** Without changed files. */
  readFiles: string[];
  modifiedFiles: string[];
}

/**
 * Replaces the conversation before `firstKeptEntryId` by a summary in the model's context. The file keeps it. Token
 * counts are estimates of the whole next request.
 */
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  /** Without the file lists and the user's messages, which the context builder adds. */
  summary: string;
  /** The first entry of the branch that is kept verbatim; it precedes this one. */
  firstKeptEntryId: string;
  tokensBefore: number;
  tokensAfter: number;
  details?: CompactionDetails;
  /** Tokens, at four characters each, for the user's messages of the summarized part besides the summary. */
  pinnedTokens?: number;
  /** The pinned messages that follow the summary verbatim; those of the user are not repeated among the others. */
  pinnedEntryIds?: string[];
  /** False if the model had no recall tool: the summary does not name it. */
  recall?: false;
  /** The model's checklist at that time, which follows the summary. */
  todos?: TodoItem[];
}

/** From here on, the conversation is as if the compaction with this id had not been made. */
export interface CompactionUndoEntry extends EntryBase {
  type: "compaction_undo";
  targetId: string;
}

/** The pinned messages of a conversation; tokens are counted at four characters each. */
export interface PinnedMessages {
  /** In the order of the conversation. */
  entries: SessionMessageEntry[];
  tokens: number;
  /** All pinned messages together may take this many tokens. */
  maxTokens: number;
}

/** The outcome of pinning a message; `total` are the tokens of all pinned messages. */
export type PinOutcome =
  | { kind: "pinned"; tokens: number; total: number; maxTokens: number }
  /** It does not fit; nothing was changed, and `total` is without it. */
  | { kind: "too_long"; tokens: number; total: number; maxTokens: number };

/** The outcome of undoing the last compaction; counts are tokens of the next request without its new prompt. */
export type CompactionUndoOutcome =
  | { kind: "undone"; tokensBefore: number; tokensAfter: number }
  /** No compaction of this conversation is in effect. */
  | { kind: "nothing" }
  /** The previous context does not fit; nothing was changed. */
  | { kind: "too_long"; tokens: number; maxTokens: number };

/** The outcome of a compaction. */
export type CompactionOutcome =
  | { kind: "compacted"; entry: CompactionEntry; systemPrompt: string }
  /** There is nothing to summarize. */
  | { kind: "nothing" }
  | { kind: "aborted" };

/** Shortens old tool results in the model's context, by the ids of their entries. The file keeps them. */
export interface PruneEntry extends EntryBase {
  type: "prune";
  /** Replaced by a placeholder. */
  cleared: string[];
  /** Reduced to their head and tail. */
  trimmed: string[];
  /** Characters kept of a trimmed result's head and tail; 1,500 each when left out. */
  trimHead?: number;
  trimTail?: number;
  /** False if the model had no recall tool: the placeholders do not name it. */
  recall?: false;
}

/** A summary of an abandoned branch, for the conversation that continues elsewhere. */
export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  /** The last entry of the abandoned branch. */
  fromId: string;
  summary: string;
}

/** An entry of a type that this program does not know: kept unchanged, skipped, and part of the chain of parents. */
export interface UnknownEntry extends EntryBase {
  type: "unknown";
  /** The complete entry as in the file. */
  raw: Record<string, unknown>;
}

/** The lines after the header: together a tree, whose branches are conversations. */
export type SessionEntry =
  | SessionMessageEntry
  | ModelChangeEntry
  | SessionInfoEntry
  | LabelEntry
  | PinEntry
  | CompactionEntry
  | CompactionUndoEntry
  | PruneEntry
  | BranchSummaryEntry
  | SettingsEntry
  | TodoEntry
  | TaskLinkEntry
  | HookEntry
  | RuleViolationEntry
  | RequestEntry
  | ArchiveEntry
  | CustomEntry
  | UnknownEntry;

/** What is said in a conversation, and what changes its context: the entries that its readers are shown. */
type ConversationEntry = Extract<
  SessionEntry,
  { type: "message" | "model_change" | "compaction" | "compaction_undo" | "prune" | "branch_summary" }
>;

// A new kind of entry does not compile until it is decided here to which group it belongs.
const IS_CONVERSATION: {
  readonly [T in SessionEntry["type"]]: T extends ConversationEntry["type"] ? true : false;
} = {
  message: true,
  model_change: true,
  compaction: true,
  compaction_undo: true,
  prune: true,
  branch_summary: true,
  session_info: false,
  label: false,
  pin: false,
  settings: false,
  todo: false,
  task_link: false,
  hook: false,
  rule_violation: false,
  request: false,
  archive: false,
  custom: false,
  unknown: false,
};

/** False for entries that only describe a session: names, labels, requests, additions of later versions. */
export function isConversationEntry(entry: SessionEntry): entry is ConversationEntry {
  return IS_CONVERSATION[entry.type];
}

/** The contents of a line of a session file; the first one is the header. */
export type SessionFileLine = SessionHeader | SessionEntry;

/** The list data of a session; dates are ISO 8601 when printed as JSON. */
export interface SessionInfo {
  id: string;
  /** Absolute path of the file. */
  path: string;
  cwd: string;
  name?: string;
  created: Date;
  /** When the last entry was added. */
  modified: Date;
  /** Message entries in the file, including those of other branches. */
  messageCount: number;
  /** The text of the first user message with text, truncated to 1,000 characters with `…`. */
  firstUserMessage?: string;
  parentSession?: string;
  /** The sub-agent's name, for the session of one; lists of sessions leave those out. */
  agent?: string;
  /** True if it is archived; left out otherwise. */
  archived?: true;
  /** True if git tracks the file, so it may have come with the repository; left out otherwise. */
  tracked?: true;
}

/** The JSON form of a header or an entry: an unknown entry is written back unchanged. */
export function toFileLine(line: SessionHeader | SessionEntry): object {
  return line.type === "unknown" ? line.raw : line;
}
