export { ConfigError, type ConfigProblem, type ConfigWarning, type TextLocation } from "./errors.ts";
export {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  type DiscoverOptions,
  discoverInstructions,
} from "./instructions.ts";
export { addUserRule, readUserRules, removeUserRule, type UserRules } from "./jsonc-edit.ts";
export {
  type DescribedSetting,
  describeConfig,
  type LoadedConfig,
  type LoadOptions,
  loadDiligentConfig,
} from "./loader.ts";
export {
  configJsonSchema,
  type DiligentConfig,
  DiligentConfigSchema,
  type ModelSetting,
  type PermissionRule,
  type ProviderSettings,
} from "./schema.ts";
export { DEFAULT_CONFIG, mergeConfig } from "./settings.ts";
export {
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  type EnvironmentFacts,
  type PromptKnowledge,
  type SystemPromptSections,
} from "./system-prompt.ts";
export type { KnowledgeTrust } from "./trust.ts";
export {
  type ChangedSetting,
  describeTrust,
  readTrust,
  type ShownSetting,
  type TrustDescription,
  type TrustedItem,
  type TrustedProject,
  type TrustOptions,
  type TrustState,
  trustProject,
  untrustProject,
} from "./trust.ts";
export { type KeyChange, listUserKeys, removeUserKey, storeUserKey } from "./user-keys.ts";
