export { ConfigError, type ConfigProblem, type ConfigWarning, type TextPlace } from "./config-error.ts";
export { DEFAULT_CONFIG } from "./default-config.ts";
export { type DescribedSetting, describeConfig } from "./describe-config.ts";
export {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  type DiscoveredInstruction,
  type DiscoverOptions,
  discoverInstructions,
} from "./instructions.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type LoadedConfig, type LoadOptions, loadDiligentConfig } from "./loader.ts";
export { mergeConfig } from "./merge.ts";
export {
  type DiligentConfig,
  DiligentConfigSchema,
  type ModelSetting,
  type PermissionRule,
  type ProviderSettings,
} from "./schema.ts";
export {
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  type EnvironmentFacts,
  type PromptKnowledge,
  type SystemPromptParts,
} from "./system-prompt.ts";
export {
  type ChangedSetting,
  describeTrust,
  type ShownSetting,
  type TrustDescription,
  type TrustOptions,
  type TrustState,
  trustProject,
  untrustProject,
} from "./trust.ts";
export { readTrust, type TrustedItem, type TrustedProject } from "./trust-store.ts";
export { addUserRule, readUserRules, removeUserRule, type UserRules } from "./user-rules.ts";
