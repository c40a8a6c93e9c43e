/** The kinds of knowledge. */
export const KNOWLEDGE_TYPES = ["pattern", "decision", "discovery", "preference", "correction"] as const;

/** The kind of a knowledge entry, which determines its weight. */
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

/** A file that a knowledge entry names, with its state at that time. */
export interface KnowledgeFile {
  /** Relative to the project root. */
  path: string;
  /** SHA-256 of its content, hexadecimal; for a large file with a prefix, of its size and parts of it. */
  hash: string;
}

/** Something learned about a project that remains valid beyond its session. */
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
  /** When the user confirmed it, ISO 8601; its files had these hashes then. */
  reviewed?: string;
  /** Ids of similar entries that the user kept beside this one: they do not contradict each other. */
  keptWith?: string[];
}

/** A line that removes an entry. The entry's own line stays in the file. */
export interface KnowledgeRemoval {
  id: string;
  /** ISO 8601. */
  timestamp: string;
  /** The id of the entry that is removed; it precedes this line. */
  removes: string;
}

/**
 * Wraps an append to the knowledge file: calls `append`, or throws the reason why nothing may be written, for the user
 * and the model. `firstLine` is the first of the lines, without its line ending.
 */
export type GuardAppend = (firstLine: string, append: () => void) => Promise<void>;

/** Whether and how much knowledge is included in the prompt. */
export interface KnowledgeConfig {
  enabled: boolean;
  /** Tokens of the section in the system prompt, at four characters each. */
  injectionBudget: number;
}

const MAX_BUDGET_TOKENS = 8_192;

// In a small window, knowledge must leave most of the space for the task.
const BUDGET_SHARE = 10;

/**
 * The knowledge settings for a model: a configured budget, else 8,192 tokens but at most a tenth of the window.
 * @param contextWindow tokens.
 */
export function resolveKnowledgeConfig(
  settings: { enabled?: boolean | undefined; injectionBudget?: number | undefined } = {},
  contextWindow: number,
): KnowledgeConfig {
  return {
    enabled: settings.enabled ?? true,
    injectionBudget:
      settings.injectionBudget ?? Math.min(MAX_BUDGET_TOKENS, Math.floor(contextWindow / BUDGET_SHARE)),
  };
}

export { knowledgeFilePath } from "../infrastructure/paths/knowledge-file.ts";
