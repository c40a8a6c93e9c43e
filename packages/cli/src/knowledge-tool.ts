import { accessSync, constants, existsSync } from "node:fs";
import { knowledgeFilePath } from "@diligent/core/light";
import { createAddKnowledgeTool, type LoadedConfig, resolvePaths, type Tool } from "@diligent/core/run";

/** The session that records knowledge, and whether it may. */
export interface KnowledgeToolOptions {
  loaded: LoadedConfig;
  sessionId: string;
  /** False: nothing of this session is written to the project. */
  isSaved: boolean;
  /** The entry of the session that the conversation has reached. */
  currentEntryId(): string | undefined;
}

/** The tool that records knowledge; none where it is switched off, and where nothing can be written. */
export function createKnowledgeTools({
  loaded,
  sessionId,
  isSaved,
  currentEntryId,
}: KnowledgeToolOptions): Tool[] {
  const { config, projectRoot: root } = loaded;
  const { knowledge } = resolvePaths(root);
  const isEnabled = config.knowledge?.enabled ?? true;
  if (!isEnabled || !isSaved || !isWritable(knowledge)) return [];
  return [createAddKnowledgeTool(knowledge, sessionId, { root, currentEntryId })];
}

function isWritable(directory: string): boolean {
  const file = knowledgeFilePath(directory);
  try {
    accessSync(directory, constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    return true;
  } catch {
    // Then the model is not offered what could not be done.
    return false;
  }
}
