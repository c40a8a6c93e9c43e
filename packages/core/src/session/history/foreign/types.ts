import type { Message } from "../../../types.ts";

/** The other agents whose sessions can be read, by the names that users type. */
export const FOREIGN_AGENTS = ["claude-code", "codex", "pi", "opencode", "gemini"] as const;

/** One of the other agents. */
export type ForeignAgent = (typeof FOREIGN_AGENTS)[number];

/** True for the exact name. */
export function isForeignAgent(name: string): name is ForeignAgent {
  return FOREIGN_AGENTS.some((agent) => agent === name);
}

/** Where a session of another agent is stored; nothing there is ever changed. */
export interface ForeignLocation {
  agent: ForeignAgent;
  /** The file, absolute: a session of its own, or a database of many. */
  path: string;
  /** The session's id, if it is needed to find the session in the file. */
  sessionId?: string | undefined;
  /** The directory in which it worked, if that is known without reading it. */
  directory?: string | undefined;
  /** Bytes, or 0 for a session in a database. Together with the time it tells whether the session has changed. */
  size: number;
  /** Milliseconds since the epoch. */
  modifiedMs: number;
}

/** A part of a conversation, oldest first. `at` is milliseconds since the epoch; 0 if it is unknown. */
export type ForeignItem =
  | { kind: "message"; at: number; message: Message; key?: string | undefined }
  /** Replaces what precedes it, except from the item with the key `keptKey` on. */
  | {
      kind: "compaction";
      at: number;
      summary: string;
      keptKey?: string | undefined;
      tokensBefore: number;
      key?: string | undefined;
      /** The agent also keeps the user's messages, up to this number of tokens. */
      userTokens?: number | undefined;
    }
  | { kind: "branch_summary"; at: number; summary: string; key?: string | undefined }
  | { kind: "model"; at: number; provider: string; modelId: string; key?: string | undefined }
  | { kind: "label"; at: number; targetKey: string; label: string; key?: string | undefined }
  /** Text that the agent itself added: kept, but neither shown as the user's words nor sent. */
  | { kind: "note"; at: number; label: string; text: string; key?: string | undefined };

/** The call in another session that a sub-agent's session works on. */
export interface ForeignParent {
  sessionId: string;
  toolCallId?: string | undefined;
  /** The sub-agent's name. */
  agent: string;
}

/** A session of another agent in our terms: each call is directly followed by exactly one result. */
export interface ForeignSession {
  agent: ForeignAgent;
  id: string;
  path: string;
  size: number;
  /** The agent's version. */
  version?: string | undefined;
  /** The directory in which it worked; empty if it is unknown. */
  cwd: string;
  gitBranch?: string | undefined;
  /** The name that the user or the agent gave it. */
  name?: string | undefined;
  /** Milliseconds since the epoch. */
  createdMs: number;
  parent?: ForeignParent | undefined;
  items: ForeignItem[];
  /** Records without a meaning here, by kind. */
  skipped: Readonly<Record<string, number>>;
  /** The sessions of its sub-agents that are stored with it. */
  children: ForeignSession[];
}

/** How much of a session is read, so that one of a gigabyte needs a bounded amount of memory; in characters. */
export interface ReadLimits {
  maxText: number;
  maxResult: number;
  /** Beyond this total, texts are cut to a short beginning. */
  maxTotal: number;
  maxLineBytes: number;
  /** Lines of a file: each needs memory, however short it is. */
  maxRecords: number;
  withImages: boolean;
  withChildren: boolean;
}

/** For an import: everything, unless a session is larger than memory should be. */
export const IMPORT_LIMITS: ReadLimits = {
  maxText: 16_000_000,
  maxResult: 16_000_000,
  maxTotal: 256_000_000,
  maxLineBytes: 128 * 1024 * 1024,
  maxRecords: 500_000,
  withImages: true,
  withChildren: true,
};
