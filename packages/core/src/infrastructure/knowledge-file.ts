// Public declarations reach this file, so nothing here names a type of Node.
import { join } from "node:path";

const KNOWLEDGE_FILENAME = "knowledge.jsonl";

/** From the project root, as git and the trust record name it. */
export const KNOWLEDGE_PATH_IN_PROJECT = `.diligent/knowledge/${KNOWLEDGE_FILENAME}`;

/** The file in `knowledgePath`, the directory `.diligent/knowledge` of a project. */
export function knowledgeFilePath(knowledgePath: string): string {
  return join(knowledgePath, KNOWLEDGE_FILENAME);
}

/** A knowledge file as it is now. */
export interface KnowledgeContent {
  /** Hexadecimal, of what is read of it. */
  sha256: string;
  /** Lines that are not empty; each is at most one entry. */
  lineCount: number;
}
