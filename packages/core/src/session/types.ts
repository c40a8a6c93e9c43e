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

interface EntryBase {
  /** 8 hexadecimal digits, unique in the file. */
  id: string;
  /** The entry before this one on its branch; null for the first. */
  parentId: string | null;
  timestamp: string;
}

export interface SessionMessageEntry extends EntryBase {
  type: "message";
  message: Message;
}

export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

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
  | UnknownEntry;

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
