import { expect, test } from "bun:test";
import * as core from "../src/index.ts";

/** What programs can rely on. A name that goes, or one more that comes, is decided here. */
const NAMES = `
  BASE_SYSTEM_PROMPT ConfigError DEFAULT_CONFIG DEFAULT_MODEL DeferredWriter DiligentConfigSchema
  EMPTY_USAGE EventStream FileTracker GrantStore IDLE_TIMEOUT_MS KNOWLEDGE_TYPES KNOWN_MODELS
  LOCAL_IDLE_TIMEOUT_MS ModelSettingError ProviderError SESSION_VERSION SecretRedactor SessionFileError
  SessionManager SessionSandbox SessionTempDir UsageError addUsage addUserRule agentLoop appendEntry appendKnowledge
  archiveSession assertNever buildKnowledgeSection buildSessionContext buildSystemPrompt
  buildSystemPromptWithKnowledge classifyOpenAIError composeSystemPrompt computeCost configJsonSchema
  createAddKnowledgeTool createAgent createAnthropicStream createCompatibleStream createHarness createModelCatalog createOpenAIStream
  createScriptedStream createSessionFile createStaleCheck createTools decideApproval describeConfig
  describeSandbox describeTrust discoverInstructions endAllProcesses ensureDiligentDir estimateTokens
  extractFileOperations findCutPoint findEntryId findInSession findKnownModel findLeafId findProjectRoot findSuperseded
  formatFileOperations generateEntryId generateSessionId generateSummary inferProvider isRefusal
  knowledgeFilePath labelSessionEntry listSessions listUnreadableSessions listUserKeys loadDiligentConfig mergeConfig
  messageText notifySession openRequestLog parseScript pathTo promptText rankKnowledge rankWithScores
  readConversation readCustomEntries readKnowledge readLabels readScript readSessionDirectory
  readSessionFile readSessionSettings readSessionText readTrust readUserRules removeKnowledge removeSession
  removeUserKey removeUserRule renameSession resolveKnowledgeConfig resolveModel resolvePaths scoreKnowledge
  scriptJsonSchema scriptedModel selectOfferedTools shouldCompact startRecording storeUserKey toolCallsOf
  trustProject unknownStopReason untrustProject withIdleWatchdog withRedaction withRequestLog withRetry
`;

test("the library exports these values, and nothing that only the program needs", () => {
  expect(Object.keys(core).sort()).toEqual(NAMES.trim().split(/\s+/));
});
