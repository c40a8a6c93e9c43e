import { join } from "node:path";

const KNOWLEDGE_FILENAME = "knowledge.jsonl";

/** The file in `knowledgePath`, the directory `.diligent/knowledge` of a project. */
export function knowledgeFilePath(knowledgePath: string): string {
  return join(knowledgePath, KNOWLEDGE_FILENAME);
}
