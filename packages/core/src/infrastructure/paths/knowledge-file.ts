import { join } from "node:path";

// Public declarations reach this file, so no type of Node may be used here.

const KNOWLEDGE_FILENAME = "knowledge.jsonl";

/** Relative to the project root, as in git and in the trust record. */
export const KNOWLEDGE_PATH_IN_PROJECT = `.diligent/knowledge/${KNOWLEDGE_FILENAME}`;

/** The file in `knowledgePath`, the directory `.diligent/knowledge` of a project. */
export function knowledgeFilePath(knowledgePath: string): string {
  return join(knowledgePath, KNOWLEDGE_FILENAME);
}

/** The current knowledge file. */
export interface KnowledgeContent {
  /** Hexadecimal, of the part that is read. */
  sha256: string;
  /** The number of lines that are not empty; each contains at most one entry. */
  lineCount: number;
}
