import {
  type AgentLoopConfig,
  type ApprovalMode,
  type Approve,
  type ContextOptions,
  createTools,
  type Effort,
  type Environment,
  FileTracker,
  generateSessionId,
  type LoadedConfig,
  type Model,
  resolvePaths,
  SessionManager,
  type SessionTempDir,
  type StreamFunction,
  type SystemPromptParts,
  selectOfferedTools,
  type Tool,
  withRequestLog,
  withRetry,
} from "@diligent/core/run";
import { assertPriced, changeModel, type ModelChange } from "./change-model.ts";
import { chooseModel } from "./choose-model.ts";
import { chooseSummarizer } from "./choose-summarizer.ts";
import { openPrompt, toNotice } from "./compose-prompt.ts";
import { createKnowledgeTools } from "./knowledge-tool.ts";
import type { Notice } from "./output/run-output.ts";
import { openLog, preparePlace } from "./prepare-place.ts";
import type { EarlierSession, ResumptionWishes } from "./resume.ts";

export interface SessionOptions extends ResumptionWishes {
  cwd: string;
  environment: Environment;
  /** What holds for this project; see `loadConfig`. */
  loaded: LoadedConfig;
  /** What the command line says beyond it. */
  modelId?: string | undefined;
  maxTurns?: number | undefined;
  /** US dollars. */
  maxCost?: number | undefined;
  appendSystemPrompt?: string | undefined;
  /** In place of what is configured. */
  effort?: Effort | undefined;
  /** False: nothing is written to the project. */
  persist: boolean;
  /** Every request and answer goes to a file. */
  isVerbose: boolean;
  /** With the rules of the configuration: which tools the model is told about. */
  approvalMode: ApprovalMode;
  approve: Approve;
}

export interface ComposedSession {
  session: SessionManager;
  model: Model;
  /** What the user should know before the first answer. */
  notices: Notice[];
  /** Where the project's sessions are, be this one saved or not. */
  sessionsDirectory: string;
  /** What the system prompt is made of. */
  promptParts(): SystemPromptParts;
  /** See `changeModel`. */
  changeModel(change: ModelChange): Promise<Model | undefined>;
  /** Saves what there is and removes the session's temporary files. */
  close(): void;
}

/**
 * Puts a session together: model, provider, system prompt, tools, place to save.
 * @throws UsageError for an unknown model, a missing key, a broken script or a REF that is none: nothing was sent then.
 */
export async function composeSession(
  options: SessionOptions,
  temporaryDirectory: SessionTempDir,
): Promise<ComposedSession> {
  const { cwd, environment, loaded } = options;
  const { config, projectRoot: root } = loaded;
  const paths = resolvePaths(root);
  // What reads an earlier session is loaded where one may be gone on with.
  const resuming = isResuming(options) ? await import("./resume.ts") : undefined;
  const earlier = await resuming?.findEarlierSession(paths.sessions, options);
  const wishes = { cwd, config, modelId: options.modelId, ...pickModel(earlier) };
  const { model, streamFunction, fallback } = await chooseModel(wishes);
  assertPriced(model, options.maxCost);
  const sessionId = earlier?.how === "continue" ? earlier.file.header.id : generateSessionId();
  const place = options.persist ? await preparePlace(root) : { isSaved: false, notices: [] };
  let opened: SessionManager | undefined;
  const currentEntryId = () => opened?.leafId ?? undefined;
  const { isSaved } = place;
  const tools = createSessionTools(options, { sessionId, temporaryDirectory, isSaved, currentEntryId });
  const prompt = await openPrompt({ ...options, contextWindow: model.contextWindow, tools });
  const log = options.isVerbose ? openLog(environment, sessionId) : undefined;
  const withServices = (stream: StreamFunction) =>
    withRetry(log ? withRequestLog(stream, log.write) : stream);
  const agentConfig: AgentLoopConfig = {
    model,
    streamFunction: withServices(streamFunction),
    systemPrompt: prompt.current.systemPrompt,
    tools,
    effort: options.effort ?? config.effort,
    maxTurns: options.maxTurns ?? config.maxTurns,
    maxRetries: config.maxRetries,
    maxCost: options.maxCost,
    approve: options.approve,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
  const context: ContextOptions = {
    ...toContextOptions(options),
    summarizer: chooseSummarizer(wishes, withServices),
    buildSystemPrompt: prompt.renew,
  };
  const manager = new SessionManager({
    cwd,
    paths,
    isSaved,
    lockPlace: environment,
    agentConfig,
    sessionId,
    context,
  });
  const session = await openEarlier(manager, earlier, sessionId);
  opened = session;
  return {
    session,
    model,
    sessionsDirectory: paths.sessions,
    notices: [
      ...loaded.warnings.map(toNotice),
      ...prompt.current.notices,
      ...place.notices,
      ...(log ? [info("request_log", `Every request and answer is written to ${log.path}`)] : []),
      ...(earlier && resuming ? resuming.resumedNotices(earlier, { model, cwd, fallback }) : []),
    ],
    promptParts: () => prompt.current.parts,
    async changeModel(change) {
      const access = { cwd, config, wrap: withServices, maxCost: options.maxCost };
      const changed = await changeModel(session, change, access);
      if (changed) prompt.contextWindow = changed.contextWindow;
      return changed;
    },
    close() {
      session.close();
      log?.close();
      temporaryDirectory.remove();
    },
  };
}

function isResuming({ resumption, isAutomatic, held }: ResumptionWishes): boolean {
  return resumption !== undefined || held !== undefined || isAutomatic === true;
}

/** What an earlier session says of the model to go on with. */
function pickModel({ lastModelId, path }: Partial<EarlierSession> = {}) {
  return { lastModelId, path };
}

function toContextOptions({ environment, loaded: { config }, persist }: SessionOptions): ContextOptions {
  return {
    compaction: config.compaction,
    flushKnowledge: config.knowledge?.flushBeforeCompaction,
    calibrationPlace: persist ? environment : undefined,
  };
}

interface ToolParts {
  sessionId: string;
  temporaryDirectory: SessionTempDir;
  isSaved: boolean;
  currentEntryId(): string | undefined;
}

function createSessionTools(
  { cwd, environment, loaded, approvalMode }: SessionOptions,
  { sessionId, temporaryDirectory, isSaved, currentEntryId }: ToolParts,
): Tool[] {
  const tools = createTools({
    cwd,
    root: loaded.projectRoot,
    environment,
    sessionId,
    inheritEnvironment: loaded.config.inheritEnvironment,
    files: new FileTracker(),
    outputDirectory: () => temporaryDirectory.path(),
  });
  const knowledgeTools = createKnowledgeTools({ loaded, sessionId, isSaved, currentEntryId });
  return selectOfferedTools([...tools, ...knowledgeTools], {
    mode: approvalMode,
    rules: loaded.config.permissions ?? [],
  });
}

function info(code: string, message: string): Notice {
  return { level: "info", code, message };
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
