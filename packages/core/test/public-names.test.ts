import { expect, test } from "bun:test";
import * as config from "../src/config.ts";
import * as core from "../src/index.ts";
import * as providers from "../src/providers.ts";
import * as sessions from "../src/sessions.ts";
import * as testing from "../src/testing.ts";
import * as tools from "../src/tools.ts";

/** What programs can rely on. A name that goes, or one more that comes, is decided here. */
const NAMES: Readonly<Record<string, [exported: object, names: string]>> = {
  "@diligent/core": [
    core,
    `
    BASE_SYSTEM_PROMPT ConfigError DEFAULT_CONFIG DEFAULT_MODEL DeferredWriter DiligentConfigSchema
    EventStream FileTracker KNOWN_MODELS ProviderError SESSION_VERSION SessionFileError SessionManager
    UsageError agentLoop appendEntry appendKnowledge buildKnowledgeSection buildSessionContext
    buildSystemPrompt buildSystemPromptWithKnowledge classifyOpenAIError composeSystemPrompt computeCost
    createAddKnowledgeTool createAgent createAnthropicStream createCompatibleStream createHarness
    createOpenAIStream createSessionFile createTools decideApproval discoverInstructions ensureDiligentDir
    estimateTokens extractFileOperations findCutPoint findProjectRoot formatFileOperations generateEntryId
    generateSessionId generateSummary listSessions loadDiligentConfig mergeConfig messageText promptText
    rankKnowledge readKnowledge readSessionFile resolveModel resolvePaths shouldCompact toolCallsOf
    withIdleWatchdog withRetry
  `,
  ],
  "@diligent/core/config": [
    config,
    `
    ConfigError DEFAULT_CONFIG DiligentConfigSchema KNOWLEDGE_TYPES addUserRule appendKnowledge
    configJsonSchema createStaleCheck describeConfig describeTrust findSuperseded knowledgeFilePath listUserKeys
    loadDiligentConfig mergeConfig rankKnowledge rankWithScores readKnowledge readTrust readUserRules
    removeKnowledge removeUserKey removeUserRule resolveKnowledgeConfig scoreKnowledge storeUserKey
    trustProject untrustProject
  `,
  ],
  "@diligent/core/providers": [
    providers,
    `
    DEFAULT_MODEL EMPTY_USAGE EventStream IDLE_TIMEOUT_MS KNOWN_MODELS LOCAL_IDLE_TIMEOUT_MS
    ModelSettingError ProviderError SecretRedactor addUsage classifyOpenAIError computeCost
    createAnthropicStream createCompatibleStream createModelCatalog createOpenAIStream createProviderStream
    findKnownModel inferProvider isRefusal openRequestLog preloadAnthropic preloadOpenAI resolveModel
    unknownStopReason withIdleWatchdog withRedaction withRequestLog withRetry
  `,
  ],
  "@diligent/core/sessions": [
    sessions,
    `
    DeferredWriter SESSION_VERSION SessionFileError appendEntry archiveSession buildSessionContext
    createSessionFile findEntryId findInSession findLeafId generateEntryId generateSessionId
    labelSessionEntry listSessions listUnreadableSessions notifySession pathTo readConversation
    readCustomEntries readLabels readSessionDirectory readSessionFile readSessionSettings readSessionText
    removeSession renameSession
  `,
  ],
  "@diligent/core/testing": [
    testing,
    `
    createScriptedStream findStart parseScript readScript scriptJsonSchema scriptedModel startRecording
  `,
  ],
  "@diligent/core/tools": [
    tools,
    `
    FileTracker GrantStore SessionSandbox SessionTempDir createAddKnowledgeTool createTools decideApproval
    describeSandbox endAllProcesses selectOfferedTools
  `,
  ],
};

test.each(Object.entries(NAMES))("%s exports these values and no others", (_, [exported, names]) => {
  expect(Object.keys(exported).sort()).toEqual(names.trim().split(/\s+/));
});

test("@diligent/core exports at most 60 values: more belong in a subpath", () => {
  expect(Object.keys(core).length).toBeLessThanOrEqual(60);
});
