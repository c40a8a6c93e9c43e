import {
  type AgentLoopConfig,
  type Approve,
  BASE_SYSTEM_PROMPT,
  composeSystemPrompt,
  createTools,
  type Environment,
  ensureDiligentDir,
  FileTracker,
  findProjectRoot,
  generateSessionId,
  homeDirectory,
  listSessions,
  localDate,
  type Model,
  platformName,
  readGitBranch,
  resolvePaths,
  SessionManager,
  type SessionTempDir,
  withRetry,
} from "@diligent/core";
import type { Resumption } from "./arguments/command.ts";
import { chooseModel } from "./choose-model.ts";
import type { Notice } from "./output/run-output.ts";
import { type EarlierSession, readEarlierSession, resumedNotices } from "./resume.ts";
import { UsageError } from "./usage-error.ts";

export interface SessionOptions {
  cwd: string;
  environment: Environment;
  modelId?: string | undefined;
  projectModelId?: string | undefined;
  maxTurns?: number | undefined;
  /** US dollars. */
  maxCost?: number | undefined;
  appendSystemPrompt?: string | undefined;
  /** False: nothing is written to the project. */
  persist: boolean;
  /** Which earlier session to go on with. */
  resumption?: Resumption | undefined;
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
  const root = findProjectRoot(options.cwd, homeDirectory(options.environment));
  const paths = resolvePaths(root);
  const earlier =
    options.resumption && readEarlierSession(await listSessions(paths.sessions), options.resumption);
  const { model, streamFunction, fallback } = await chooseModel({
    ...options,
    lastModelId: earlier?.lastModelId,
  });
  if (options.maxCost !== undefined && model.inputCostPer1M === undefined) {
    throw new UsageError(
      `--max-cost needs a price, and that of ${model.id} is unknown. Use --max-turns instead.`,
    );
  }
  const sessionId =
    earlier && options.resumption?.how === "continue" ? earlier.file.header.id : generateSessionId();
  const place = options.persist ? await preparePlace(root) : { isSaved: false, notices: [] };
  const agentConfig: AgentLoopConfig = {
    model,
    streamFunction: withRetry(streamFunction),
    systemPrompt: composePrompt(options, root),
    tools: createTools({
      cwd: options.cwd,
      root,
      environment: options.environment,
      sessionId,
      files: new FileTracker(),
      outputDirectory: () => temporaryDirectory.path(),
    }),
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    approve: options.approve,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
  const manager = new SessionManager({
    cwd: options.cwd,
    paths,
    isSaved: place.isSaved,
    agentConfig,
    sessionId,
  });
  const session = await openEarlier(manager, earlier, sessionId);
  return {
    session,
    model,
    notices: [
      ...place.notices,
      ...(earlier ? resumedNotices(earlier, { model, cwd: options.cwd, fallback }) : []),
    ],
    close() {
      session.close();
      temporaryDirectory.remove();
    },
  };
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

function composePrompt({ cwd, appendSystemPrompt }: SessionOptions, projectRoot: string): string {
  const gitBranch = readGitBranch(projectRoot);
  return composeSystemPrompt({
    base: BASE_SYSTEM_PROMPT,
    facts: { cwd, projectRoot, platform: platformName(), date: localDate(), gitBranch },
    additional: appendSystemPrompt === undefined ? [] : [appendSystemPrompt],
  });
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
