/**
 * Configuration files, trust in projects, keys and permission rules of the user, and the knowledge of a project.
 */
export { ConfigError } from "./config/errors.ts";
export { addUserRule, readUserRules, removeUserRule, type UserRules } from "./config/jsonc-edit.ts";
export { type DescribedSetting, describeConfig, loadDiligentConfig } from "./config/loader.ts";
export { configJsonSchema, DiligentConfigSchema } from "./config/schema.ts";
export { type ChangedSetting, DEFAULT_CONFIG, mergeConfig } from "./config/settings.ts";
export {
  describeTrust,
  type ShownSetting,
  type TrustDescription,
  type TrustOptions,
  trustProject,
  untrustProject,
} from "./config/trust.ts";
export type {
  TrustFindings,
  TrustItem,
  TrustKind,
  TrustPlace,
  WaitingItem,
} from "./config/trust-items.ts";
export { readTrust, type TrustedItem } from "./config/trust-store.ts";
export { type KeyChange, listUserKeys, removeUserKey, storeUserKey } from "./config/user-keys.ts";
export {
  findSuperseded,
  type RankedKnowledge,
  rankKnowledge,
  rankWithScores,
  scoreKnowledge,
} from "./knowledge/ranker.ts";
export { createStaleCheck } from "./knowledge/stale-files.ts";
export { appendKnowledge, readKnowledge, removeKnowledge } from "./knowledge/store.ts";
export {
  KNOWLEDGE_TYPES,
  type KnowledgeConfig,
  knowledgeFilePath,
  resolveKnowledgeConfig,
} from "./knowledge/types.ts";
