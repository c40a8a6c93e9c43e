import {
  type AgentLoopConfig,
  type Approve,
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  createAnthropicStream,
  createScriptedStream,
  createTools,
  DEFAULT_MODEL,
  type Environment,
  ensureDiligentDir,
  FileTracker,
  findKnownModel,
  findProjectRoot,
  generateSessionId,
  homeDirectory,
  inferProvider,
  KNOWN_MODELS,
  localDate,
  type Model,
  platformName,
  readGitBranch,
  readScript,
  resolveModel,
  SessionManager,
  SessionTempDir,
  type StreamFunction,
  scriptedModel,
  withRetry,
} from "@diligent/core";
import { nearestName } from "./arguments/nearest-name.ts";
import { UsageError } from "./usage-error.ts";

export interface SessionOptions {
  cwd: string;
  environment: Environment;
  /** From the command line. */
  modelId?: string | undefined;
  /** From the project's file; the environment and the command line win over it. */
  projectModelId?: string | undefined;
  maxTurns?: number | undefined;
  maxCost?: number | undefined;
  appendSystemPrompt?: string | undefined;
  /** False: nothing is written to the project. */
  persist: boolean;
  approve: Approve;
}

export interface SetupNotice {
  level: "info" | "warning";
  code: string;
  message: string;
}

export interface ComposedSession {
  session: SessionManager;
  model: Model;
  /** The session's private temporary directory; removed with the session by `close`. */
  temporaryDirectory: SessionTempDir;
  /** What the user should know before the first answer. */
  notices: SetupNotice[];
}

const SCRIPTED_PREFIX = "scripted/";

/**
 * Puts a session together: model, provider, system prompt, tools, place to save.
 * @throws UsageError for an unknown model, a missing key or a broken script: nothing was sent then.
 */
export async function composeSession(options: SessionOptions): Promise<ComposedSession> {
  const { cwd, environment } = options;
  const { model, streamFunction } = await chooseModel(options);
  if (options.maxCost !== undefined && model.inputCostPer1M === undefined) {
    throw new UsageError(
      `--max-cost needs a price, and that of ${model.id} is unknown. Use --max-turns instead.`,
    );
  }
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const sessionId = generateSessionId();
  const temporaryDirectory = new SessionTempDir();
  const agentConfig: AgentLoopConfig = {
    model,
    streamFunction: withRetry(streamFunction),
    systemPrompt: composeSystemPrompt({
      base: BASE_SYSTEM_PROMPT,
      facts: {
        cwd,
        projectRoot: root,
        platform: platformName(),
        date: localDate(),
        gitBranch: readGitBranch(root),
      },
      additional: options.appendSystemPrompt === undefined ? [] : [options.appendSystemPrompt],
    }),
    tools: createTools({
      cwd,
      root,
      environment,
      sessionId,
      files: new FileTracker(),
      outputDirectory: () => temporaryDirectory.path(),
    }),
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    approve: options.approve,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
  const { paths, notices } = options.persist ? await preparePlace(root) : { paths: undefined, notices: [] };
  const session = new SessionManager({ cwd, paths, agentConfig, sessionId });
  return { session, model, temporaryDirectory, notices };
}

async function preparePlace(
  root: string,
): Promise<{ paths?: Awaited<ReturnType<typeof ensureDiligentDir>>; notices: SetupNotice[] }> {
  try {
    return { paths: await ensureDiligentDir(root), notices: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Nothing of this session is saved: ${reason}`;
    return { notices: [{ level: "warning", code: "not_saved", message }] };
  }
}

async function chooseModel(
  options: SessionOptions,
): Promise<{ model: Model; streamFunction: StreamFunction }> {
  const { environment, cwd } = options;
  const modelId = options.modelId || environment.DILIGENT_MODEL || options.projectModelId || DEFAULT_MODEL;
  if (modelId.startsWith(SCRIPTED_PREFIX)) return chooseScript(modelId.slice(SCRIPTED_PREFIX.length), cwd);
  if (!findKnownModel(modelId) && inferProvider(modelId) === undefined) throw unknownModel(modelId);
  const model = resolveModel(modelId);
  if (model.provider !== "anthropic") {
    throw new UsageError(
      `The model ${model.id} needs the provider "${model.provider}", which is not available yet.`,
    );
  }
  const apiKey = environment.ANTHROPIC_API_KEY;
  if (!apiKey) {
    throw new UsageError(
      "No API key: set ANTHROPIC_API_KEY. Get a key at https://console.anthropic.com/settings/keys, or try `diligent demo`, which needs none.",
    );
  }
  return {
    model,
    streamFunction: createAnthropicStream(apiKey, environment.ANTHROPIC_BASE_URL || undefined),
  };
}

async function chooseScript(
  path: string,
  cwd: string,
): Promise<{ model: Model; streamFunction: StreamFunction }> {
  const absolute = path.startsWith("/") ? path : `${cwd}/${path}`;
  try {
    const script = await readScript(absolute);
    return { model: scriptedModel(path, script), streamFunction: createScriptedStream(script) };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function unknownModel(modelId: string): UsageError {
  const names = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const nearest = nearestName(modelId, names);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return new UsageError(`Unknown model "${modelId}".${hint}`);
}
