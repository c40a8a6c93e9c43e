import type { Message } from "../types.ts";

export { generateEntryId, generateSessionId } from "../infrastructure/ids.ts";

/** The version of the session file format that this program writes, and the highest it reads. */
export const SESSION_VERSION = 2;

/** The first line of a session file. */
export interface SessionHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601, as in every entry. */
  timestamp: string;
  cwd: string;
  /** The id of the session this one was forked from. */
  parentSession?: string;
}

/** What every entry of a session has. */
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

/** From here on another model answered. */
export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

/** The name of the session; without `name` it has none any more. */
export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

/** A mark on an entry, for finding it again; without `label` it takes the mark away. */
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

/** Files that the summarised part of a conversation read and changed, as its calls named them, sorted. */
export interface CompactionDetails {
  /** Without those that were changed too. */
  readFiles: string[];
  modifiedFiles: string[];
}

/**
 * The conversation before `firstKeptEntryId` is replaced by a summary in what the model sees. The file keeps it. Token
 * counts are estimates of the whole next request.
 */
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  /** Without the file lists and the user's messages, which the context builder adds. */
  summary: string;
  /** The first entry of the branch that stays word for word; it stands before this one. */
  firstKeptEntryId: string;
  tokensBefore: number;
  tokensAfter: number;
  details?: CompactionDetails;
  /** Tokens, at four characters each, that the user's messages of the summarised part may take beside the summary. */
  pinnedTokens?: number;
}

/** Old tool results that are shortened in what the model sees, by the ids of their entries. The file keeps them. */
export interface PruneEntry extends EntryBase {
  type: "prune";
  /** Replaced by a placeholder. */
  cleared: string[];
  /** Reduced to their head and tail. */
  trimmed: string[];
  /** Characters kept of a trimmed result's head and tail; 1,500 each when left out. */
  trimHead?: number;
  trimTail?: number;
}

/** What happened on a branch that was left, told to the conversation that goes on elsewhere. */
export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  /** The last entry of the branch that was left. */
  fromId: string;
  summary: string;
}

/** An entry of a type this program does not know: kept as it was, passed over, and part of the chain of parents. */
export interface UnknownEntry extends EntryBase {
  type: "unknown";
  /** The whole entry as it stands in the file. */
  raw: Record<string, unknown>;
}

/** The lines after the header: together a tree, whose branches are conversations. */
export type SessionEntry =
  | SessionMessageEntry
  | ModelChangeEntry
  | SessionInfoEntry
  | LabelEntry
  | CompactionEntry
  | PruneEntry
  | BranchSummaryEntry
  | UnknownEntry;

/** What a line of a session file holds; the first one is the header. */
export type SessionFileLine = SessionHeader | SessionEntry;

/** What a list of sessions shows; dates are ISO 8601 when printed as JSON. */
export interface SessionInfo {
  id: string;
  /** Absolute path of the file. */
  path: string;
  cwd: string;
  name?: string;
  created: Date;
  /** When the last entry was added. */
  modified: Date;
  /** Message entries in the file, those of other branches included. */
  messageCount: number;
  /** The text of the first user message that has any; what is longer than 1,000 characters is cut with `…`. */
  firstUserMessage?: string;
  parentSession?: string;
}
