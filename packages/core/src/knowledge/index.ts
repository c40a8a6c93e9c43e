export { buildKnowledgeSection, type KnowledgeSectionOptions } from "./injector.ts";
export { resolveKnowledgeConfig } from "./knowledge-config.ts";
export { knowledgeFilePath } from "./knowledge-file.ts";
export { type RankedKnowledge, rankKnowledge, rankWithScores, scoreKnowledge } from "./ranker.ts";
export { createStaleCheck, type FindChangedFile } from "./stale-files.ts";
export {
  appendKnowledge,
  readKnowledge,
  removeKnowledge,
} from "./store.ts";
export { findSuperseded } from "./superseded.ts";
export {
  KNOWLEDGE_TYPES,
  type KnowledgeConfig,
  type KnowledgeEntry,
  type KnowledgeFile,
  type KnowledgeRemoval,
  type KnowledgeType,
} from "./types.ts";
