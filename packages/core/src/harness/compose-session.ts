import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { computeCost } from "../agent/cost.ts";

import type { AgentEvent, AgentLoopConfig, Approve, CallAdvice, ChangeTracker } from "../agent/types.ts";
import { isDeniedOutright, selectOfferedTools, withPlanMode } from "../approval/policy.ts";
import type { ToolLists } from "../approval/tool-lists.ts";
import type { ApprovalMode, PermissionRule } from "../approval/types.ts";
import { findMissingHistory } from "../checkpoint/load.ts";
import type { LoadedConfig } from "../config/loader.ts";
import type { SystemPromptSections } from "../config/system-prompt.ts";
import type { AgentDefinition } from "../extensions/agents/definition.ts";
import { type SessionRole, toSessionRole } from "../extensions/agents/session-role.ts";
import type { SessionRecorder } from "../extensions/replay/recorder.ts";
import {
  MASKED_ENTRY_TYPE,
  MaskReporter,
  readPlaceholderLists,
} from "../extensions/secrets/mask-reporter.ts";
import {
  type DiligentPaths,
  ensureDiligentDir,
  resolvePaths,
  sessionRecordPath,
} from "../infrastructure/diligent-dir.ts";
import {
  openRequestLog,
  type RequestLogFile,
  type SessionTempDir,
} from "../infrastructure/fs/state-files.ts";
import { nearestName } from "../infrastructure/nearest-name.ts";
import type { UnseenProcess, WatchConnection } from "../infrastructure/network/connection.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import type { GuardAppend } from "../knowledge/types.ts";
import { knowledgeFilePath } from "../knowledge/types.ts";
import { inferProvider } from "../provider/models.ts";
import { withRedaction } from "../provider/redacted-stream.ts";
import { withRequestLog } from "../provider/request-log.ts";
import { withRetry } from "../provider/retry.ts";
import type { Recording } from "../provider/scripted.ts";
import type { Effort, Model, RunConditions, StreamFunction } from "../provider/types.ts";
import type { ContextOptions } from "../session/compaction/context-window.ts";
import type { ProjectRecall } from "../session/history/project-recall.ts";
import { SessionManager, type SessionManagerConfig } from "../session/manager.ts";
import { generateSessionId } from "../session/types.ts";
import type { SharedRun, Tool, ToolResult } from "../tool/types.ts";
import { createFormatting } from "../tools/formatters.ts";
import {
  type AskUser,
  createAddKnowledgeTool,
  createAskUserTool,
  createRecallTool,
  createTodoTool,
  createTools,
  createWebFetchTool,
  type EarlierSessions,
  type RecallSource,
} from "../tools/index.ts";
import { type ChangeObserver, observeChanges } from "../tools/observe-changes.ts";
import { resolveFilePath } from "../tools/target.ts";
import { type EditorFiles, FileTracker, type Workspace } from "../tools/workspace.ts";
import {
  findAbilities,
  findCommandOffers,
  notePermissionChange,
  type PermissionView,
  toSandboxView,
} from "./describe-permissions.ts";
import { findEarlierJobs } from "./earlier-jobs.ts";
import type { EarlierSession, ProjectStart } from "./earlier-session.ts";
import { describeError, UsageError } from "./errors.ts";
import { openAdditions } from "./extensions.ts";
import type { SessionFormatter } from "./find-session.ts";
import {
  assertPriced,
  changeModel,
  chooseModel,
  chooseSummarizer,
  type WrapSessionStream,
} from "./models.ts";
import type { createCommandRunner, TriedCommandOptions } from "./run-command.ts";
import { SessionCheckpoints } from "./session-checkpoints.ts";
import type { SessionCommands } from "./session-commands.ts";
import { SessionInstructions } from "./session-instructions.ts";
import { openPrompt, type SessionPrompt, toNotice } from "./session-prompt.ts";
import type {
  ExtensionProvider,
  HarnessOverrides,
  ModelChange,
  ModelChoice,
  Notice,
  SessionAddition,
  SessionEnding,
  SessionScope,
} from "./types.ts";

/** Wraps every request of a session; `note` writes to the request log, if there is one. */
export type WrapStream = (
  stream: StreamFunction,
  context: {
    config: LoadedConfig["config"];
    note?: ((entry: object) => void) | undefined;
    watchConnection?: WatchConnection | undefined;
  },
) => StreamFunction;

/** The settings of the program's own front ends for all their sessions, besides the configuration. */
export interface SessionSettings extends Omit<HarnessOverrides, "warn"> {
  wrapStream?: WrapStream | undefined;
  /** The sessions work as this agent does: with its system prompt and no tools but its own. */
  agentDefinition?: AgentDefinition | undefined;
  /** How messages show sessions. */
  formatter?: SessionFormatter | undefined;
}

/** The location, its configuration, and the settings of the front end. */
interface SessionOptions extends SessionSettings {
  cwd: string;
  environment: Environment;
  /** The configuration of this project; see `loadConfig`. */
  loaded: LoadedConfig;
  start: ProjectStart;
  /** Redacts what the session shows, saves and sends; shared with its sub-agents. */
  redactor: SecretRedactor;
  /** Replaces the configured model: an id or alias, or a custom model with its stream function. */
  model?: string | ModelChoice | undefined;
  /** Replaces the configured level; an earlier session's level takes precedence. */
  effort?: Effort | undefined;
  /** See `SessionChoices`. */
  retryForMs?: number | undefined;
  persist: boolean;
  /** From `allowedTools` and `disallowedTools`. */
  toolLists?: ToolLists | undefined;
  /** Records the models' replies. */
  recording?: Recording | undefined;
  /** See `SessionChoices`. */
  askUser?: AskUser | undefined;
  /** The editor in which the user works. */
  editor?: EditorFiles | undefined;
  /** See `SessionScope`. */
  grants?: SessionScope["grants"];
  /** Where its commands run. */
  commands: Pick<SessionCommands, "jobs" | "sandbox" | "temporaryDirectory" | "networkUsers">;
  /** For the session of a sub-agent. */
  child?: ChildSettings | undefined;
  /** The mode of the session at any time. */
  currentMode(): ApprovalMode;
  /** The permission rules of the session at any time. */
  currentRules(): readonly PermissionRule[];
  /** True if a user is present who can be asked. */
  isAttended: boolean;
  /** True if it takes the place of another session of this program. */
  isReplacing?: boolean | undefined;
  approve: Approve;
  /** What sandboxed commands may do with protected files now. */
  protectedAccess: Workspace["protectedAccess"];
}

/** What makes a session that of a sub-agent. */
export interface ChildSettings extends SessionRole {
  /** The sub-agent as the extensions of its session see it. */
  agent: NonNullable<SessionScope["agent"]>;
  origin: SessionManagerConfig["origin"];
  /** The run whose call it works on. */
  run: SharedRun | undefined;
}

/** A session that is ready for its first prompt. The caller closes it. */
export interface ComposedSession {
  session: SessionManager;
  model: Model;
  /** The earlier session that this one continues or copies. */
  earlier: EarlierSession | undefined;
  /** The reason why the model of that session is not used, as a sentence. */
  fallback: string | undefined;
  /** The thinking level, if one was chosen. */
  effort: Effort | undefined;
  /** What the user should know before the first answer. */
  notices: Notice[];
  /** The directory of the project's sessions, whether this one is saved or not. */
  sessionsDirectory: string;
  /** Records changes of the project so that they can be undone. */
  checkpoints: SessionCheckpoints;
  /** The session as its extensions see it. */
  scope: SessionScope;
  /** What its tools know about files. */
  files: FileTracker;
  /** The current model, as it was chosen. */
  modelChoice(): ModelChoice;
  /** Redacts provider keys and other secrets in everything that the session shows, saves and sends. */
  redactor: SecretRedactor;
  /** The parts of the system prompt. */
  promptParts(): SystemPromptSections;
  /** See `runTriedCommand`. */
  tryCommand(command: string, options: TriedCommandOptions): Promise<ToolResult>;
  /** See `changeModel`. */
  changeModel(change: ModelChange): Promise<Model | undefined>;
  /** Saves everything. */
  close(ending?: SessionEnding): void;
}

/**
 * Composes a session: model, provider, system prompt, tools, storage.
 * @throws UsageError for an unknown model, a missing key, an invalid script or an invalid REF: nothing was sent then.
 */
export async function composeSession(options: SessionOptions): Promise<ComposedSession> {
  const { cwd, environment, loaded } = options;
  const { config, projectRoot: root } = loaded;
  const role = findRole(options);
  const paths = resolvePaths(root);
  const { redactor } = options;
  const earlier = await findEarlier(paths.sessions, options);
  const masked = readPlaceholderLists(earlier?.file.entries ?? []);
  if (masked) redactor.continueFrom(masked);
  const choice = await openSessionModel(options, earlier);
  const { model, streamFunction, fallback } = choice;
  const conditions = await conditionsFor(choice, options);
  const limits = { maxCost: options.maxCost, budget: config.budget };
  assertPriced(model, limits);
  const sessionId = earlier?.how === "continue" ? earlier.file.header.id : generateSessionId();
  const storage = options.persist ? await prepareLocation(root) : { isSaved: false, notices: [] };
  let opened: SessionManager | undefined;
  let current: ModelChoice = choice;
  const currentEntryId = () => opened?.leafId ?? undefined;
  const { isSaved } = storage;
  const { jobs, sandbox, temporaryDirectory } = options.commands;
  jobs.continueFrom(findEarlierJobs(earlier?.file.entries ?? []));
  const unsubscribe = jobs.subscribe((update) =>
    opened?.report(redactor.redact({ type: "job_update", ...update })),
  );
  const instructions = new SessionInstructions({
    cwd,
    environment,
    contextWindow: model.contextWindow,
    path: () => opened?.branches.path ?? [],
    resolvePath: (given) => resolveFilePath({ cwd, environment }, given),
    systemPrompt: () => opened?.systemPrompt,
    warn: (warning) => opened?.report({ type: "notice", ...toNotice(warning) }),
  });
  const files = new FileTracker();
  const scope: SessionScope = {
    sessionId,
    cwd,
    root,
    environment,
    contextWindow: model.contextWindow,
    beginning: findBeginning(earlier, options),
    isAttended: options.isAttended,
    askUser: options.askUser,
    grants: options.grants,
    outputDirectory: () => temporaryDirectory.path(),
    redactor,
    files,
    jobs,
    traffic: options.commands.networkUsers,
    sandboxState: sandbox.isWanted ? () => sandbox.sandboxState() : undefined,
    agent: options.child?.agent,
    model: () => current.model,
    mode: options.currentMode,
    promptParts: () => prompt.current.parts,
    session: () => opened,
    request: options.maxCost === undefined ? (...given) => request(...given) : undefined,
    runCommand: (command, signal) => runCommand(command, signal),
  };
  const additions = await openAdditions(options.extensions, scope);
  const earlierSessions = openEarlierSessions(options, { sessionId, redactor });
  const looks = combineCallHooks(additions);
  const tools = createSessionTools(options, {
    files,
    added: additions.flatMap((addition) => addition.tools ?? []),
    changeObservers: additions.flatMap(({ afterFileChanges }) => afterFileChanges ?? []),
    instructions,
    redactor,
    sessionId,
    isSaved,
    currentEntryId,
    currentSession: () => opened,
    earlierSessions,
    contextWindow: model.contextWindow,
    offersPatches: () => knowsPatches(current.model),
  });
  const commandOptions: Parameters<typeof createCommandRunner>[0] = {
    tools,
    redactor,
    approve: options.approve,
    beforeCall: looks.beforeCall,
    keepOutput: (id, output) => temporaryDirectory.keep(id, output),
    changes: () => services.checkpoints,
    notify: (level, code, message) => opened?.report({ type: "notice", level, code, message }),
  };
  let runner: SessionScope["runCommand"] | undefined;
  const runCommand: SessionScope["runCommand"] = async (command, signal) => {
    const { createCommandRunner } = await import("./run-command.ts");
    runner ??= createCommandRunner(commandOptions);
    return runner(command, signal);
  };
  const request: NonNullable<SessionScope["request"]> = async (context, given) => {
    const { model, streamFunction } = current;
    const stream = services.wrap(streamFunction, conditions)(model, context, { ...given, purpose: "server" });
    const { message } = await stream.result();
    const cost = computeCost(message.usage, model);
    opened?.report({ type: "usage", usage: message.usage, cost, purpose: "server" });
    return message;
  };
  const permissions = () => ({
    mode: options.currentMode(),
    isAttended: options.isAttended,
    sandbox: toSandboxView(sandbox),
    tools: findAbilities(tools),
  });
  const prompt = await openPrompt({
    ...options,
    basePrompt: role?.basePrompt,
    permissions,
    contextWindow: model.contextWindow,
    tools,
    addedSections: [
      ...describeDirectories(options.addedDirectories),
      ...additions.flatMap(({ promptSection }) => promptSection ?? []),
      ...(role?.section === undefined ? [] : [role.section]),
    ],
    onInstructions: (found) => instructions.usePrompt(found),
  });
  // The project's instructions and skills are part of it.
  redactor.noteForeign(prompt.current.systemPrompt);
  const services = openServices(options, {
    sessionId,
    tools,
    redactor,
    currentEntryId,
    additions,
    role,
  });
  const effort = earlier?.settings ? earlier.settings.effort : (options.effort ?? config.effort);
  const wrapped = services.wrap(streamFunction, conditions);
  const parts = {
    model,
    effort,
    tools,
    prompt,
    services,
    streamFunction: wrapped,
    temporaryDirectory,
    redactor,
    ...looks,
    reviewAnswer: reviewWith(additions, (notice) => opened?.report({ type: "notice", ...notice })),
  };
  const recorder = isSaved && config.record ? await openRecorder(paths, sessionId) : undefined;
  const managerConfig: SessionManagerConfig = {
    cwd,
    paths,
    isSaved,
    lockLocation: environment,
    sessionId,
    origin: options.child?.origin,
    agentConfig: toLoopConfig(options, parts),
    conditions,
    context: {
      ...toContextOptions(options),
      summarizer: chooseSummarizer(
        { cwd, config, model, ...limits, providers: providersOf(options.extensions) },
        services.wrap,
      ),
      async buildSystemPrompt() {
        const systemPrompt = await prompt.renew();
        redactor.noteForeign(systemPrompt);
        return systemPrompt;
      },
    },
    nudgeInterval: config.knowledge?.nudgeInterval,
    takeNotes: () => [
      ...jobs.takeNotices().map((notice) => redactor.redact(notice)),
      ...(opened ? notePermissions(opened, permissions()) : []),
    ],
    onEvent: observeEvents([
      ...(options.extensions ?? []),
      ...additions,
      ...(isSaved && !options.child ? [createUseCounter(prompt)] : []),
      new MaskReporter(
        () => opened?.branches.entries,
        redactor,
        (masked) => {
          opened?.appendCustom(MASKED_ENTRY_TYPE, masked);
          const { count, kinds } = masked;
          if (count > 0) opened?.report({ type: "masked", count, kinds });
        },
      ),
    ]),
    noteBeforeRun: () => instructions.noteChanges(),
    checkPrompt: combinePromptChecks(additions),
  };
  const manager = new SessionManager(recorder?.wrap(managerConfig) ?? managerConfig);
  const session = await openEarlier(manager, earlier, sessionId);
  recorder?.begin(session, { isFork: earlier?.how === "fork" });
  opened = session;
  return {
    session,
    model,
    earlier,
    fallback,
    effort,
    sessionsDirectory: paths.sessions,
    scope,
    files,
    modelChoice: () => current,
    checkpoints: services.checkpoints,
    redactor,
    notices: [
      ...loaded.warnings.map(toNotice),
      ...prompt.current.notices,
      ...storage.notices,
      // The session that has started a sub-agent has them already.
      ...(options.child ? [] : await missingHistoryNotices(options, sessionId)),
      ...(options.child ? [] : sandboxNotices(options, tools)),
      ...services.notices,
      ...additions.flatMap(({ notices }) => notices ?? []),
    ],
    promptParts: () => prompt.current.parts,
    async tryCommand(command, given) {
      const { runTriedCommand } = await import("./run-command.ts");
      return runTriedCommand(command, given, commandOptions);
    },
    async changeModel(change) {
      const changed = await changeModelAndPrompt(session, change, { options, prompt, services });
      current = changed ?? current;
      return changed?.model;
    },
    close(ending = "other") {
      session.close();
      services.close();
      earlierSessions?.close();
      unsubscribe();
      for (const addition of additions) addition.close?.(ending);
    },
  };
}

/** The code that records is only loaded for a session that is recorded. */
async function openRecorder({ sessions }: DiligentPaths, sessionId: string): Promise<SessionRecorder> {
  const { SessionRecorder } = await import("../extensions/replay/recorder.ts");
  return new SessionRecorder({ path: sessionRecordPath(join(sessions, `${sessionId}.jsonl`)) });
}

function findBeginning(
  earlier: EarlierSession | undefined,
  { isReplacing }: Pick<SessionOptions, "isReplacing">,
): SessionScope["beginning"] {
  if (earlier) return earlier.how === "continue" ? "resume" : "fork";
  return isReplacing ? "clear" : "startup";
}

/** Undefined for a session of diligent itself. */
function findRole({ child, agentDefinition }: SessionOptions): SessionRole | undefined {
  return child ?? (agentDefinition && toSessionRole(agentDefinition));
}

/** The note about a change of what the model may do, if there is one. */
function notePermissions({ systemPrompt, branches }: SessionManager, permissions: PermissionView): string[] {
  const note = notePermissionChange(permissions, { systemPrompt, path: branches.path });
  return note === undefined ? [] : [note];
}

/** The settings of a recorded run or a replay; undefined for any other session, which uses the configured ones. */
async function conditionsFor(
  choice: ModelChoice,
  options: SessionOptions,
): Promise<RunConditions | undefined> {
  if (!options.recording && !choice.conditions) return undefined;
  return (await import("./scripts.ts")).toRunConditions(choice, options);
}

async function changeModelAndPrompt(
  session: SessionManager,
  change: ModelChange,
  { options, prompt, services }: { options: SessionOptions } & Pick<LoopDeps, "prompt" | "services">,
): Promise<ModelChoice | undefined> {
  const { cwd, loaded, maxCost } = options;
  const changed = await changeModel(session, change, {
    cwd,
    config: loaded.config,
    providers: providersOf(options.extensions),
    wrap: services.wrap,
    maxCost,
    budget: loaded.config.budget,
  });
  if (changed) prompt.contextWindow = changed.model.contextWindow;
  return changed;
}

/** The code that reads earlier sessions is only loaded if there may be one to continue. */
async function findEarlier(
  sessionsDirectory: string,
  { start, formatter, redactor }: SessionOptions,
): Promise<EarlierSession | undefined> {
  if ("fresh" in start) return undefined;
  const { findEarlierSession } = await import("./earlier-session.ts");
  return findEarlierSession(sessionsDirectory, start, { formatter, redactor });
}

function openSessionModel(
  { cwd, loaded, model, extensions }: SessionOptions,
  { lastModelId, path }: Partial<EarlierSession> = {},
): Promise<ModelChoice & { fallback?: string }> | (ModelChoice & { fallback?: string }) {
  if (typeof model === "object") return model;
  const providers = providersOf(extensions);
  return chooseModel({ cwd, config: loaded.config, modelId: model, lastModelId, path, providers });
}

/** Counts the knowledge in the prompt as used once a model has answered it, each entry once a session. */
function createUseCounter(prompt: SessionPrompt): Pick<SessionAddition, "onEvent"> {
  const counted = new Set<string>();
  return {
    onEvent({ type }) {
      if (type !== "usage") return;
      try {
        prompt.current.countKnowledge?.(counted);
      } catch {
        // It is only a statistic: the session does not depend on it.
      }
    },
  };
}

/** Passes every event of a session to those that observe events; undefined if there are none. */
function observeEvents(
  all: readonly Pick<SessionAddition, "onEvent">[],
): ((event: AgentEvent) => void) | undefined {
  const observers = all.filter(({ onEvent }) => onEvent !== undefined);
  if (observers.length === 0) return undefined;
  return (event) => {
    for (const observer of observers) observer.onEvent?.(event);
  };
}

/** Asks every extension that looks at calls, in order: the first refusal counts, and one that asks is stricter. */
function combineCallHooks(
  additions: readonly SessionAddition[],
): Pick<AgentLoopConfig, "beforeCall" | "afterCall" | "answerRequest"> {
  const before = additions.flatMap(({ beforeCall }) => beforeCall ?? []);
  const after = additions.flatMap(({ afterCall }) => afterCall ?? []);
  return {
    // Only hooks answer requests.
    answerRequest: additions.find(({ answerRequest }) => answerRequest)?.answerRequest,
    ...(before.length > 0 && {
      async beforeCall(call, signal) {
        let { input, verdict }: CallAdvice = {};
        for (const advise of before) {
          const advice = await advise({ ...call, input: input ?? call.input }, signal);
          if (advice?.refusal !== undefined) return advice;
          input = advice?.input ?? input;
          if (verdict?.action !== "ask") verdict = advice?.verdict ?? verdict;
        }
        return input === undefined && verdict === undefined ? undefined : { input, verdict };
      },
    }),
    ...(after.length > 0 && {
      async afterCall(call, signal) {
        const notes = await Promise.all(after.map((note) => note(call, signal)));
        return notes.filter((note) => note !== undefined).join("\n") || undefined;
      },
    }),
  };
}

/** Asks every extension that checks prompts; undefined where none has to be waited for. */
function combinePromptChecks(additions: readonly SessionAddition[]): SessionManagerConfig["checkPrompt"] {
  const checks = additions.flatMap(({ checkPrompt }) => checkPrompt ?? []);
  if (checks.length === 0) return undefined;
  return (message, signal) => {
    const pending = checks.flatMap((check) => check(message, signal) ?? []);
    if (pending.length === 0) return undefined;
    return Promise.all(pending).then((all) => {
      const refusal = all.find((each) => each.refusal !== undefined)?.refusal;
      const context = all.flatMap((each) => each.context ?? []).join("\n");
      return { ...(refusal !== undefined && { refusal }), ...(context !== "" && { context }) };
    });
  };
}

function providersOf(extensions: SessionOptions["extensions"] = []): ExtensionProvider[] {
  return extensions.flatMap(({ providers = [] }) => providers);
}

/** Asks every extension that looks at answers; undefined if there is none. A failure is reported and changes nothing. */
function reviewWith(
  additions: readonly SessionAddition[],
  notify: (notice: Notice) => void,
): AgentLoopConfig["reviewAnswer"] {
  const reviewers = additions.filter(({ reviewAnswer }) => reviewAnswer !== undefined);
  if (reviewers.length === 0) return undefined;
  return async (answer, signal) => {
    const texts = await Promise.all(
      reviewers.map(async (reviewer) => {
        try {
          return await reviewer.reviewAnswer?.(answer, signal);
        } catch (error) {
          notify({ level: "warning", code: "answer_not_reviewed", message: describeError(error) });
          return undefined;
        }
      }),
    );
    const said = texts.filter((text) => text !== undefined);
    return said.length === 0 ? undefined : said.join("\n\n");
  };
}

interface LoopDeps
  extends Pick<
    AgentLoopConfig,
    | "model"
    | "effort"
    | "tools"
    | "streamFunction"
    | "redactor"
    | "reviewAnswer"
    | "beforeCall"
    | "afterCall"
    | "answerRequest"
  > {
  prompt: SessionPrompt;
  services: SessionServices;
  temporaryDirectory: SessionTempDir;
}

function toLoopConfig(options: SessionOptions, parts: LoopDeps): AgentLoopConfig {
  const { config } = options.loaded;
  const { child } = options;
  const { prompt, services, temporaryDirectory, ...rest } = parts;
  return {
    ...rest,
    systemPrompt: prompt.current.systemPrompt,
    // The configured limit is that of the run that has started a sub-agent, and holds for both together.
    maxTurns: child ? child.maxTurns : (options.maxTurns ?? config.maxTurns),
    budget: child?.run?.budget,
    maxRetries: config.maxRetries,
    retryForMs: options.retryForMs,
    maxCost: options.maxCost,
    approve: options.approve,
    changes: child?.run ? toChangeTracker(child.run) : services.checkpoints,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
}

/** Changes of a sub-agent are recorded as changes of the run that has started it. */
function toChangeTracker({ beforeChanges, afterChanges, countChanges }: SharedRun): ChangeTracker {
  return { beforeChanges, afterChanges, countChanges, settled: async () => {} };
}

function toContextOptions({ environment, loaded: { config }, persist }: SessionOptions): ContextOptions {
  return {
    compaction: config.compaction,
    flushKnowledge: config.knowledge?.flushBeforeCompaction,
    calibrationLocation: persist ? environment : undefined,
  };
}

async function openEarlier(
  manager: SessionManager,
  earlier: EarlierSession | undefined,
  sessionId: string,
): Promise<SessionManager> {
  if (!earlier) return manager;
  await manager.resume({ file: earlier.file });
  if (earlier.leafId !== undefined) manager.branch(earlier.leafId);
  return earlier.how === "fork" ? manager.fork(undefined, { sessionId }) : manager;
}

/** The wrappers around every request of a session: checkpoints, retries, a recording, a log, redaction. */
interface SessionServices {
  checkpoints: SessionCheckpoints;
  notices: Notice[];
  wrap: WrapSessionStream;
  close(): void;
}

// The provider runs it: it is not among the tools of a session.
const WEB_SEARCH = "web_search";

interface ServiceDeps {
  role: SessionRole | undefined;
  sessionId: string;
  tools: readonly Tool[];
  redactor: SecretRedactor;
  currentEntryId(): string | undefined;
  additions: readonly Pick<SessionAddition, "wrapRequests">[];
}

/** @throws UsageError when a log is requested and cannot be created. */
function openServices(
  {
    cwd,
    environment,
    loaded,
    persist,
    isVerbose,
    recording,
    wrapStream,
    commands,
    child,
    toolLists,
    builtinTools = true,
  }: SessionOptions,
  { sessionId, tools, redactor, currentEntryId, additions, role }: ServiceDeps,
): SessionServices {
  const log = isVerbose ? openLog(environment, sessionId) : undefined;
  const { webSearch = false, permissions = [] } = loaded.config;
  const isRefused = isDeniedOutright("fetch", permissions) || toolLists?.isDisallowed(WEB_SEARCH);
  const isOfRole = role?.mayUse(WEB_SEARCH) ?? true;
  const offersWebSearch = builtinTools && webSearch && !isRefused && isOfRole;
  const write = log && ((entry: object) => log.write(redactor.redact(entry)));
  const watchConnection: WatchConnection = (...connection) => commands.networkUsers.watch(...connection);
  const checkpoints = new SessionCheckpoints({
    root: loaded.projectRoot,
    cwd,
    environment,
    sessionId,
    entryId: currentEntryId,
    isKept: persist && !child,
    isChanging: !child && tools.some(({ readOnly }) => !readOnly),
  });
  return {
    checkpoints,
    notices: log ? [describeLog(log.path)] : [],
    wrap(stream, conditions) {
      const redacted = withRedaction(withWatchedConnections(stream, watchConnection), redactor);
      const logged = write ? withRequestLog(redacted, write) : redacted;
      const recorded = checkpoints.preparation.wrap(withRetry(recording?.wrap(logged, conditions) ?? logged));
      const prepared = withPreparedCommands(recorded, commands.sandbox);
      const wrapped = offersWebSearch ? withWebSearch(prepared) : prepared;
      const outer = wrapStream?.(wrapped, { config: loaded.config, note: write, watchConnection }) ?? wrapped;
      return additions.reduce((inner, addition) => addition.wrapRequests?.(inner) ?? inner, outer);
    },
    close() {
      checkpoints.close();
      log?.close();
    },
  };
}

/** Providers that can search the web do so in the requests of a session that have tools. */
function withWebSearch(stream: StreamFunction): StreamFunction {
  return (model, context, options) => stream(model, context, { ...options, webSearch: true });
}

/** Every connection of a request is reported to the session. */
function withWatchedConnections(stream: StreamFunction, watchConnection: WatchConnection): StreamFunction {
  return (model, context, options) => stream(model, context, { ...options, watchConnection });
}

/** While the model answers, the sandbox prepares for its next command. */
function withPreparedCommands(
  stream: StreamFunction,
  sandbox: SessionOptions["commands"]["sandbox"],
): StreamFunction {
  return (model, context, options) => {
    const answer = stream(model, context, options);
    // By then the request is on its way.
    setTimeout(() => void sandbox.prepare(), 0);
    return answer;
  };
}

function describeLog(path: string): Notice {
  return { level: "info", code: "request_log", message: `Every request and answer is logged in ${path}` };
}

interface ToolDeps {
  files: FileTracker;
  /** The tools of the session's extensions. */
  added: readonly Tool[];
  /** Those of the session's extensions. */
  changeObservers: readonly ChangeObserver[];
  instructions: SessionInstructions;
  sessionId: string;
  redactor: SecretRedactor;
  isSaved: boolean;
  currentEntryId(): string | undefined;
  /** The session, once it is open. */
  currentSession(): SessionManager | undefined;
  earlierSessions: EarlierSessions | undefined;
  contextWindow: number;
  /** True while the session's model changes files by `apply_patch`. */
  offersPatches(): boolean;
}

/** True for the models of OpenAI, also behind another server: they are trained to change files by `apply_patch`. */
function knowsPatches({ id, provider }: Model): boolean {
  return provider === "openai" || inferProvider(id.split("/").at(-1) ?? id) === "openai";
}

/** The tools that the session's model is offered. */
function createSessionTools(
  options: SessionOptions,
  { files, instructions, sessionId, redactor, isSaved, currentEntryId, ...deps }: ToolDeps,
): Tool[] {
  const { cwd, environment, loaded, currentMode, commands, ...settings } = options;
  const { currentSession, contextWindow, offersPatches } = deps;
  const { jobs, sandbox, temporaryDirectory } = commands;
  const workspace: Workspace = {
    cwd,
    root: loaded.projectRoot,
    environment,
    sessionId,
    inheritEnvironment: loaded.config.inheritEnvironment,
    files,
    redactor,
    outputDirectory: () => temporaryDirectory.path(),
    commandTemporary: () => sandbox.commandTemporary,
    protectedAccess: settings.protectedAccess,
    editor: settings.editor,
    jobs,
    noteUnseen: (process: UnseenProcess) => commands.networkUsers.addUnseen(process),
    sandboxState: sandbox.isWanted ? () => sandbox.sandboxState() : undefined,
    async tryCommand(args, context) {
      const { runTried } = await import("../extensions/dry-run/run-tried.ts");
      return runTried(args, workspace, { ...context, isAttended: settings.isAttended });
    },
  };
  const { builtinTools = true, tools = [] } = settings;
  const builtin = builtinTools
    ? [
        ...instructions.attach(
          observeChanges(
            createTools(workspace, {
              offersJobs: contextWindow >= LEAST_WINDOW_FOR_JOBS,
              ...findCommandOffers(toSandboxView(sandbox), settings.isAttended || currentMode() === "auto"),
              offersPatches,
              isBrief: contextWindow < LEAST_WINDOW_FOR_EXTRAS,
            }),
            files,
            [...createFormatting(workspace, loaded.config.formatters), ...deps.changeObservers],
          ),
        ),
        ...createKnowledgeTools({ environment, loaded, sessionId, isSaved, currentEntryId }),
        ...(contextWindow >= LEAST_WINDOW_FOR_RECALL
          ? [createRecallTool(toRecallSource(currentSession), deps.earlierSessions)]
          : []),
        ...(contextWindow >= LEAST_WINDOW_FOR_EXTRAS ? [createAskUserTool(settings.askUser)] : []),
        createTodoTool((todos) => currentSession()?.setTodos(todos), {
          isOffered: () => contextWindow >= LEAST_WINDOW_FOR_EXTRAS,
        }),
        createWebFetchTool({
          environment,
          redactor,
          isOffered: () => contextWindow >= LEAST_WINDOW_FOR_EXTRAS,
          async allowsPrivate(wanted) {
            const { allowsPrivatePage } = await import("../approval/hosts.ts");
            return allowsPrivatePage(settings.currentRules(), wanted);
          },
          onConnection: (connection) => commands.networkUsers.add(connection),
        }),
      ]
    : [];
  const all = [...builtin, ...tools, ...deps.added];
  assertKnown(settings.toolLists, all);
  const available = all.filter(({ name }) => !settings.toolLists?.isDisallowed(name));
  const offered = selectOfferedTools(available, { rules: loaded.config.permissions ?? [] });
  const selected = findRole(options)?.selectTools(offered) ?? offered;
  return selected.map((tool) => withPlanMode(tool, currentMode));
}

// Tools that only some sessions have.
const OPTIONAL_TOOLS = [
  ...["add_knowledge", "recall", "todo", "ask_user", "apply_patch", "job_output", "job_kill", "web_fetch"],
  "web_search",
  ...["lsp", "tool_search", "mcp_call", "mcp_resource", "skill", "task"],
];

/** @throws UsageError for the name of a tool that does not exist. */
function assertKnown(lists: ToolLists | undefined, tools: readonly Tool[]): void {
  const known = [...tools.map(({ name }) => name), ...OPTIONAL_TOOLS];
  const unknown = lists?.findUnknown(known);
  if (unknown === undefined) return;
  const nearest = nearestName(unknown.toLowerCase(), known);
  const hint = nearest ? `did you mean ${nearest}?` : `known are ${known.join(", ")}`;
  throw new UsageError(`there is no tool called ${unknown}; ${hint}`);
}

/** For the model; nothing without added directories. */
function describeDirectories(directories: readonly string[] = []): string[] {
  if (directories.length === 0) return [];
  return [`You may also read and change files in ${directories.join(" and in ")}, outside the project.`];
}

// In a smaller window, system prompt and tools take about half of it already.
const LEAST_WINDOW_FOR_RECALL = 8_000;
// Their descriptions are part of every request, also of those that need none.
const LEAST_WINDOW_FOR_JOBS = 16_000;
const LEAST_WINDOW_FOR_EXTRAS = 16_000;

function toRecallSource(currentSession: () => SessionManager | undefined): RecallSource {
  return {
    hasHiddenEntries: () => currentSession()?.hasHiddenEntries ?? false,
    search: async (query) =>
      (await currentSession()?.searchHidden(query)) ?? { matches: [], isComplete: true },
    read: async (entryId) => currentSession()?.recall(entryId),
  };
}

/**
 * The earlier sessions of the project, which the model may search; the code for it is loaded with the first search. A
 * sub-agent gets what it needs from the session that has started it.
 */
function openEarlierSessions(
  { child, environment, loaded: { config, projectRoot: root } }: SessionOptions,
  { sessionId, redactor }: { sessionId: string; redactor: SecretRedactor },
): (EarlierSessions & { close(): void }) | undefined {
  if (child) return undefined;
  let opened: Promise<ProjectRecall> | undefined;
  const open = () => {
    opened ??= import("../session/history/project-recall.ts").then(
      ({ ProjectRecall }) =>
        new ProjectRecall({ environment, root, sessionId, settings: config.history, redactor }),
    );
    return opened;
  };
  return {
    exist: hasOtherSessions(root, sessionId),
    search: async (query) => (await open()).search(query),
    read: async (reference) => (await open()).read(reference),
    close: () => void opened?.then((recall) => recall.close()),
  };
}

// A directory this large has had hundreds of entries: reading it would only take time.
const CROWDED_BYTES = 64 * 1024;

/** True if the project has a session besides this one. */
function hasOtherSessions(root: string, sessionId: string): boolean {
  const { sessions } = resolvePaths(root);
  try {
    if (statSync(sessions).size > CROWDED_BYTES) return true;
    return readdirSync(sessions).some((name) => name.endsWith(".jsonl") && name !== `${sessionId}.jsonl`);
  } catch {
    return false; // There is no such directory, or it cannot be read.
  }
}

/** One notice if commands of earlier runs took commits or refs away that are still missing. */
async function missingHistoryNotices(
  { environment, loaded: { projectRoot: root } }: SessionOptions,
  sessionId: string,
): Promise<Notice[]> {
  const message = await findMissingHistory({ root, environment, sessionId });
  return message === undefined ? [] : [{ level: "warning", code: "history_lost", message }];
}

/** One notice if a sandbox was expected for commands and is not available. */
function sandboxNotices({ commands: { sandbox } }: SessionOptions, tools: readonly Tool[]): Notice[] {
  if (!tools.some(({ name }) => name === "bash")) return [];
  const message = sandbox.startProblem;
  const { networkProblem } = sandbox;
  const unlimited: Notice[] =
    networkProblem === undefined
      ? []
      : [{ level: "warning", code: "network_not_limited", message: networkProblem }];
  if (message === undefined) return unlimited;
  return [
    ...unlimited,
    { level: sandbox.setting === "required" ? "warning" : "info", code: "no_sandbox", message },
  ];
}

/** The session that records knowledge, and whether it may. */
interface KnowledgeToolOptions {
  environment: Environment;
  loaded: LoadedConfig;
  sessionId: string;
  /** False: this session writes nothing to the project. */
  isSaved: boolean;
  /** The session's current entry. */
  currentEntryId(): string | undefined;
}

/** The tool that records knowledge; none if it is disabled, or if knowledge may not or cannot be written. */
function createKnowledgeTools({
  environment,
  loaded,
  sessionId,
  isSaved,
  currentEntryId,
}: KnowledgeToolOptions): Tool[] {
  const { config, projectRoot: root, knowledgeTrust } = loaded;
  const { knowledge } = resolvePaths(root);
  const isEnabled = config.knowledge?.enabled ?? true;
  // Entries appended with trust that is not saved would count as untrusted later.
  const mayAppend = ["none", "own", "trusted"].includes(knowledgeTrust.state);
  if (!isEnabled || !isSaved || !mayAppend || !isWritable(knowledge)) return [];
  const guard: GuardAppend = async (firstLine, append) =>
    (await import("../config/trust.ts")).guardKnowledgeAppend({ root, environment }, firstLine, append);
  return [createAddKnowledgeTool(knowledge, sessionId, { root, currentEntryId, guard })];
}

function isWritable(directory: string): boolean {
  const file = knowledgeFilePath(directory);
  try {
    accessSync(directory, constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    return true;
  } catch {
    // The model is not offered a tool that cannot work.
    return false;
  }
}

/** @throws UsageError when it cannot be created: the user has asked for a log. */
function openLog(environment: Environment, sessionId: string): RequestLogFile {
  try {
    return openRequestLog(environment, sessionId);
  } catch (error) {
    throw new UsageError(`--verbose: the log cannot be written: ${describeError(error)}`);
  }
}

/** Creates the sessions directory; if that fails, nothing is saved, and a notice says so. */
async function prepareLocation(root: string): Promise<{ isSaved: boolean; notices: Notice[] }> {
  try {
    await ensureDiligentDir(root);
    return { isSaved: true, notices: [] };
  } catch (error) {
    const reason = describeError(error);
    const message = `This session is not saved: ${reason}`;
    return { isSaved: false, notices: [{ level: "warning", code: "not_saved", message }] };
  }
}
