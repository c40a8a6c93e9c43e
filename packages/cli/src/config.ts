import {
  type AgentLoopConfig,
  type ApprovalMode,
  type Approve,
  BASE_SYSTEM_PROMPT,
  type ConfigWarning,
  composeSystemPrompt,
  createTools,
  discoverInstructions,
  type Environment,
  ensureDiligentDir,
  FileTracker,
  generateSessionId,
  type LoadedConfig,
  type Model,
  openRequestLog,
  platformName,
  type RequestLogFile,
  readGitBranch,
  resolvePaths,
  SessionManager,
  type SessionTempDir,
  selectOfferedTools,
  type Tool,
  utcDate,
  withRequestLog,
  withRetry,
} from "@diligent/core/run";
import { chooseModel } from "./choose-model.ts";
import type { Notice } from "./output/run-output.ts";
import { type EarlierSession, findEarlierSession, type ResumptionWishes, resumedNotices } from "./resume.ts";
import { UsageError } from "./usage-error.ts";

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
  const earlier = await findEarlierSession(paths.sessions, options);
  const wishes = { cwd, config, modelId: options.modelId, lastModelId: earlier?.lastModelId };
  const { model, streamFunction, fallback } = await chooseModel(wishes);
  if (options.maxCost !== undefined && model.inputCostPer1M === undefined) {
    throw new UsageError(
      `--max-cost needs a price, and that of ${model.id} is unknown. Use --max-turns instead.`,
    );
  }
  const sessionId = earlier?.how === "continue" ? earlier.file.header.id : generateSessionId();
  const place = options.persist ? await preparePlace(root) : { isSaved: false, notices: [] };
  const { systemPrompt, notices } = await composePrompt(options);
  const log = options.isVerbose ? openLog(environment, sessionId) : undefined;
  const agentConfig: AgentLoopConfig = {
    model,
    streamFunction: withRetry(log ? withRequestLog(streamFunction, log.write) : streamFunction),
    systemPrompt,
    tools: createSessionTools(options, sessionId, temporaryDirectory),
    effort: config.effort,
    maxTurns: options.maxTurns ?? config.maxTurns,
    maxRetries: config.maxRetries,
    maxCost: options.maxCost,
    approve: options.approve,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
  const manager = new SessionManager({ cwd, paths, isSaved: place.isSaved, agentConfig, sessionId });
  const session = await openEarlier(manager, earlier, sessionId);
  return {
    session,
    model,
    notices: [
      ...toNotices(loaded.warnings),
      ...notices,
      ...place.notices,
      ...(log ? [info("request_log", `Every request and answer is written to ${log.path}`)] : []),
      ...(earlier ? resumedNotices(earlier, { model, cwd, fallback }) : []),
    ],
    close() {
      session.close();
      log?.close();
      temporaryDirectory.remove();
    },
  };
}

function createSessionTools(
  { cwd, environment, loaded, approvalMode }: SessionOptions,
  sessionId: string,
  temporaryDirectory: SessionTempDir,
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
  return selectOfferedTools(tools, { mode: approvalMode, rules: loaded.config.permissions ?? [] });
}

/** @throws UsageError when there is no place for it: whoever asks for a log wants one. */
function openLog(environment: Environment, sessionId: string): RequestLogFile {
  try {
    return openRequestLog(environment, sessionId);
  } catch (error) {
    throw new UsageError(
      `--verbose: the log cannot be written: ${error instanceof Error ? error.message : error}`,
    );
  }
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
  return earlier.how === "fork" ? manager.fork(undefined, { sessionId }) : manager;
}

async function composePrompt({
  cwd,
  environment,
  loaded,
  appendSystemPrompt,
}: SessionOptions): Promise<{ systemPrompt: string; notices: Notice[] }> {
  const { config, projectRoot } = loaded;
  const warnings: ConfigWarning[] = [];
  const instructions = await discoverInstructions(cwd, {
    environment,
    onWarning: (warning) => warnings.push(warning),
  });
  const gitBranch = readGitBranch(projectRoot);
  const systemPrompt = composeSystemPrompt({
    base: config.systemPrompt ?? BASE_SYSTEM_PROMPT,
    facts: { cwd, projectRoot, platform: platformName(), date: utcDate(), gitBranch },
    instructions,
    additional: [
      ...(config.instructions ?? []),
      ...(appendSystemPrompt === undefined ? [] : [appendSystemPrompt]),
    ],
  });
  return { systemPrompt, notices: toNotices(warnings) };
}

function toNotices(warnings: readonly ConfigWarning[]): Notice[] {
  return warnings.map(({ code, message }) => ({ level: "warning", code, message }));
}

async function preparePlace(root: string): Promise<{ isSaved: boolean; notices: Notice[] }> {
  try {
    await ensureDiligentDir(root);
    return { isSaved: true, notices: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Nothing of this session is saved: ${reason}`;
    return { isSaved: false, notices: [{ level: "warning", code: "not_saved", message }] };
  }
}
