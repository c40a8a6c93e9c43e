import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as core from "../src/index.ts";
import { declareFaces } from "./support/declare-faces.ts";
import { DeclaredSurface } from "./support/declared-surface.ts";
import { makeTempDir } from "./support/temp-dir.ts";

const LIBRARY = "index.ts";

/** The types that each of the other faces has beyond those of the library's main one. */
const FACES: Readonly<Record<string, readonly string[]>> = {
  "config.ts": [
    "ChangedSetting",
    "DescribedSetting",
    "KeyChange",
    "KnowledgeConfig",
    "RankedKnowledge",
    "ShownSetting",
    "TrustDescription",
    "TrustFindings",
    "TrustItem",
    "TrustKind",
    "TrustOptions",
    "TrustPlace",
    "TrustedItem",
    "UserRules",
    "WaitingItem",
  ],
  "providers.ts": ["CatalogSettings", "ModelCatalog", "ModelFigures", "RequestLogEntry", "RequestLogFile"],
  "sessions.ts": ["Conversation", "SessionMatch", "SessionTextOptions", "UnreadableSession"],
  "testing.ts": ["Recording", "Script", "ScriptStart", "ScriptTurn", "ScriptedOptions"],
  "tools.ts": ["GrantLocation", "NeededAnswer", "NetworkOptions", "SandboxOptions", "ScopedGrant"],
};

describe("the declarations of the library", () => {
  const directory = makeTempDir();
  const surface = new DeclaredSurface(directory);

  beforeAll(() => declareFaces(directory, [LIBRARY, ...Object.keys(FACES)]), 60_000);

  test("name no type that cannot be imported from it", () => {
    expect(surface.exportsOf(LIBRARY).size).toBeGreaterThan(150);
    expect(surface.findUnnamed(LIBRARY)).toEqual([]);
  });

  test.each(Object.entries(FACES))(
    "of %s name only its own types and those of the library",
    async (face, own) => {
      const values: object = await import(`../src/${face}`);
      const types = [...surface.exportsOf(face).keys()].filter((name) => !(name in values));
      expect(types.filter((name) => !surface.exportsOf(LIBRARY).has(name)).sort()).toEqual([...own]);
      expect(surface.findUnnamed(face, LIBRARY)).toEqual([]);
    },
  );

  test.each([LIBRARY, ...Object.keys(FACES)])(
    "of %s have a docstring for everything that they export",
    (face) => {
      expect(surface.findUndocumented(face)).toEqual([]);
    },
  );

  test("export these types, and none that only the library itself needs", () => {
    const types = [...surface.exportsOf(LIBRARY).keys()].filter((name) => !(name in core));
    expect(types.sort()).toEqual(TYPES.trim().split(/\s+/));
  });
});

function surfaceOf(files: Record<string, string>): DeclaredSurface {
  const directory = makeTempDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return new DeclaredSurface(directory);
}

describe("the search for types in declarations", () => {
  test("finds a type that is named beside the entry point, or imported, also inline and under another name", () => {
    const surface = surfaceOf({
      "index.d.ts": `export { make, type Made as Thing } from "./rooms/make.ts";\nexport * from "./parts.ts";\n`,
      "parts.d.ts": `interface Base {\n    id: string;\n}\nexport interface Part extends Base {\n    whole: Part;\n}\nexport {};\n`,
      "rooms/make.d.ts": [
        `import type { Hidden, Deep as Renamed } from "../hidden.ts";`,
        `export interface Made {\n    hidden?: Hidden[];\n}`,
        `/** {@link Unseen} makes. */`,
        `export declare function make(way: Renamed): Promise<import("../hidden.ts").Inline<Made>>;`,
        `export interface Unseen {\n    other: Hidden;\n}\n`,
      ].join("\n"),
      "hidden.d.ts": `export interface Hidden {\n}\nexport * from "./deep.ts";\nexport type Inline<T> = T;\n`,
      "deep.d.ts": `export type Deep = "a";\n`,
    });
    expect(surface.findUnnamed("index.ts")).toEqual([
      "Part names Base",
      "Thing names Hidden",
      "make names Deep",
      "make names Inline",
    ]);
  });

  test("ignores comments, texts, private members, names of members and types of values", () => {
    const surface = surfaceOf({
      "index.d.ts": [
        `import { type Hidden, LIMITS } from "./hidden.ts";`,
        `/** See Hidden. */`,
        `export declare class Open {`,
        `    #private;`,
        `    private readonly Hidden;`,
        `    constructor(limits: typeof LIMITS);`,
        `    /** A Hidden one. */`,
        `    say(text: "Hidden", Hidden?: string): void;`,
        `}\n`,
      ].join("\n"),
      "hidden.d.ts": `export type Hidden = 1;\nexport declare const LIMITS: readonly number[];\n`,
    });
    expect(surface.findUnnamed("index.ts")).toEqual([]);
  });

  test("no longer reports a type once it can be imported, also from another entry point", () => {
    const files = {
      "index.d.ts": `export type { Hidden } from "./hidden.ts";\n`,
      "face.d.ts": `import type { Hidden } from "./hidden.ts";\nexport declare const made: Hidden;\n`,
      "hidden.d.ts": `export type Hidden = 1;\n`,
    };
    expect(surfaceOf(files).findUnnamed("face.ts")).toEqual(["made names Hidden"]);
    expect(surfaceOf(files).findUnnamed("face.ts", "index.ts")).toEqual([]);
  });
});

/** A type that goes, or one more that comes, is decided here; for values see `public-names.test.ts`. */
const TYPES = `
  ActionCommand AddKnowledgeOptions Agent AgentEvent AgentLoopConfig AgentOptions AgentReply ApprovalContext
  ApprovalDecision ApprovalGate ApprovalHandle ApprovalMode ApprovalRequest ApprovalResponse ApprovalVerdict Approve
  ArchiveEntry AskForHost AskPerson AskUser AskedVerdict AssistantMessage BashToolOptions BranchSummaryEntry
  CallAdvice ChangeContext ChangeObserver ChangeTracker CheckKind CheckRecord CommandEdit CommandListing CommandRest CommandReturn CommandTemporary
  CompactOptions CompactionDetails CompactionEntry CompactionOutcome CompactionPreview CompactionRung
  CompactionSettings CompactionTrigger CompactionUndoEntry CompactionUndoOutcome ConfigProblem ConfigWarning
  ConnectionPurpose ContentBlock ContextCause ContextOptions ContextSnapshot ContextUsage CustomEntry CutPointResult
  DeferredWriterOptions DiligentConfig DiligentPaths DiscoverOptions DiscoveredInstruction EarlierJob EditorFiles Effort EntryBase
  Environment EnvironmentFacts ExtensionApi ExtensionCommand ExtensionHooks ExtensionModule ExtensionPromptAdvice ExtensionProvider ExtensionRenderer ExtensionTool FileBase FileChange FileFingerprint FileState FindChangedFile FinishedCall
  GateDecision GenerateSummaryOptions Grant GuardAppend Harness HarnessExtension HarnessOptions HarnessOverrides
  HarnessSession HookEntry HostAndPort IdleWatchdogOptions ImageBlock Job JobOutput JobStart JobState JobToolOptions
  JobUpdate KeepOutput KnowledgeEntry KnowledgeFile KnowledgeSectionOptions KnowledgeTrust KnowledgeType LabelEntry
  LeaveOptions LoadOptions LoadedConfig MaskedPart Message MessageDelta Model ModelChange ModelChangeEntry ModelChoice
  ModelDefinition ModelFacts ModelLimit ModelPrice NeededApproval NetworkConnection NetworkSetting NewSessionOptions
  Notice NoticeLevel OfferedChoice OpaqueBlock OutputPiece PermissionRule PersonAnswer PinEntry PinOutcome
  PinnedMessages PlaceholderLists PrefixBreak PrefixBreakCause PrepareContext PreparedContext Preview PreviewPart ProcessExit PromptCheck PromptCommand
  PromptExpansion PromptKnowledge ProtectedAccess ProviderErrorOptions ProviderErrorType ProviderEvent ProviderReplay
  ProviderResult PruneEntry PruningConditions QuestionSource RecallMatches RecallQuery RecalledEntry Redactor RenderedCall RequestAnswer
  RequestEntry RequestPrefix RequestPurpose ResumeSessionOptions RetryOptions Revise RevisedCall RuleViolationEntry RunBudget RunConditions RunNote RunOptions
  RunStopReason SandboxState SecretFinder SecretRedactor SecretValue SerializableError SessionAddition
  SessionBranches SessionChoices SessionContext SessionEnding SessionEntry SessionFile SessionGrants SessionHeader SessionIds
  SessionInfo SessionInfoEntry
  SessionJobs SessionManagerConfig SessionMessageEntry SessionReadOptions SessionReference SessionScope SessionSource
  SessionStart SessionTreeNode SettingsEntry SharedRun ShellCommand ShellView ShellWrapper SteeredMessage StopReason
  StreamContext StreamFunction StreamOptions Summarizer SummaryValidation SystemPromptSections TaskLinkEntry
  TestCounts TextBlock TextContent TextEncoding TextLocation ThinkingBlock ThinkingSupport TodoEntry TodoItem Tool
  ToolCallBlock ToolCallOutcome ToolContext ToolDefinition ToolOptions ToolResult ToolResultMessage TrafficWatcher TrustState
  TrustedProject UnknownEntry UnseenProcess UpcomingRequest Usage UsagePurpose UserMessage UserQuestion WatchConnection WidenableGrant Workspace
  WrappedCommand
`;
