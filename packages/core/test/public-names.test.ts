import { expect, test } from "bun:test";
import * as core from "../src/index.ts";

/** What programs can rely on. A name that goes, or one more that comes, is decided here. */
const NAMES = `
  BASE_SYSTEM_PROMPT ConfigError DEFAULT_CONFIG DEFAULT_MODEL DeferredWriter DiligentConfigSchema
  EMPTY_USAGE EventStream FileTracker GrantStore IDLE_TIMEOUT_MS KNOWLEDGE_TYPES KNOWN_MODELS
  LOCAL_IDLE_TIMEOUT_MS ModelSettingError ProviderError SESSION_VERSION SessionFileError SessionManager SessionSandbox
  SessionTempDir addUsage addUserRule agentLoop appendEntry appendKnowledge assertNever buildKnowledgeSection
  buildSessionContext buildSystemPrompt buildSystemPromptWithKnowledge composeSystemPrompt computeCost
  configJsonSchema createAddKnowledgeTool createAnthropicStream createCompatibleStream createModelCatalogue
  createOpenAIStream createScriptedStream createSessionFile createStaleCheck createTools decideApproval
  describeConfig describeSandbox describeTrust discoverInstructions endAllProcesses ensureDiligentDir findKnownModel
  findLeafId findProjectRoot findSuperseded generateEntryId generateSessionId inferProvider isRefusal
  knowledgeFilePath listSessions listUnreadableSessions loadDiligentConfig mergeConfig messageText
  openRequestLog parseScript pathTo promptText rankKnowledge rankWithScores readConversation readKnowledge
  readScript readSessionFile readSessionText readTrust readUserRules removeKnowledge removeSession removeUserRule renameSession
  resolveKnowledgeConfig resolveModel resolvePaths scoreKnowledge scriptJsonSchema scriptedModel
  selectOfferedTools startRecording tellSession toolCallsOf trustProject unknownStopReason untrustProject
  withIdleWatchdog withRequestLog withRetry
`;

test("the library exports these values, and nothing that only the program needs", () => {
  expect(Object.keys(core).sort()).toEqual(NAMES.trim().split(/\s+/));
});
