/** The kinds of knowledge there are. */
export const KNOWLEDGE_TYPES = ["pattern", "decision", "discovery", "preference", "correction"] as const;

/** The kind of a piece of knowledge, which decides how much it counts. */
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

/** A file that a piece of knowledge speaks of, as it was then. */
export interface KnowledgeFile {
  /** From the project root. */
  path: string;
  /** SHA-256 of its content, hexadecimal. */
  hash: string;
}

/** Something that was learned about a project and holds beyond the session it was learned in. */
export interface KnowledgeEntry {
  /** 8 hexadecimal digits, unique in the file. */
  id: string;
  /** ISO 8601. */
  timestamp: string;
  /** The session it was learned in. */
  sessionId?: string;
  /** The entry of that session whose call recorded it. */
  entryId?: string;
  type: KnowledgeType;
  content: string;
  /** From 0 to 1. */
  confidence: number;
  /** The id of the entry this one replaces. */
  supersedes?: string;
  tags?: string[];
  files?: KnowledgeFile[];
}

/** A line that takes an entry away again. The entry's own line stays in the file. */
export interface KnowledgeRemoval {
  id: string;
  /** ISO 8601. */
  timestamp: string;
  /** The id of the entry that is removed; it stands before this line. */
  removes: string;
}

/** Whether and how much of what was learned is told to the model. */
export interface KnowledgeConfig {
  enabled: boolean;
  /** Tokens of the section in the system prompt, at four characters each. */
  injectionBudget: number;
}
