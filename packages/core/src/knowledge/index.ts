export { buildKnowledgeSection, type KnowledgeSectionOptions, selectKnowledge } from "./injector.ts";
export {
  findSuperseded,
  type RankedKnowledge,
  rankKnowledge,
  rankWithScores,
  scoreKnowledge,
} from "./ranker.ts";
export { editKnowledge, keepKnowledge, listReviewItems, type ReviewItem } from "./review.ts";
export { createStaleCheck, type FindChangedFile } from "./stale-files.ts";
export {
  appendKnowledge,
  readKnowledge,
  removeKnowledge,
} from "./store.ts";
export {
  type GuardAppend,
  KNOWLEDGE_TYPES,
  type KnowledgeConfig,
  type KnowledgeEntry,
  type KnowledgeFile,
  type KnowledgeRemoval,
  type KnowledgeType,
  knowledgeFilePath,
  resolveKnowledgeConfig,
} from "./types.ts";
export { type KnowledgeUse, noteKnowledgeUse, readKnowledgeUses } from "./uses.ts";
