import {
  type AgentLoopConfig,
  type ApprovalMode,
  type Approve,
  type ContextOptions,
  type Effort,
  type Environment,
  generateSessionId,
  type LoadedConfig,
  type Model,
  resolvePaths,
  SessionManager,
  type SessionSandbox,
  type SessionTempDir,
  type SystemPromptParts,
} from "@diligent/core/run";
import type { Recording } from "@diligent/core/scripted";
import { assertPriced, changeModel, type ModelChange } from "./change-model.ts";
import { chooseModel } from "./choose-model.ts";
import { chooseSummarizer } from "./choose-summarizer.ts";
import { openPrompt, type SessionPrompt, toNotice } from "./compose-prompt.ts";
import type { Notice } from "./output/run-output.ts";
import { preparePlace } from "./prepare-place.ts";
import type { EarlierSession, ResumptionWishes } from "./resume.ts";
import { openServices, type SessionServices } from "./session-services.ts";
import { createSessionTools, sandboxNotices } from "./session-tools.ts";
import type { SessionCheckpoints } from "./undo/session-checkpoints.ts";
import type { UpdateLook } from "./update/update-look.ts";

/** What a session is put together from: the place, its configuration, what the command line says beyond that. */
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
  /** What models answer is kept in it. */
  recording?: Recording | undefined;
  /** Looks for a newer version, where somebody is there to be told. */
  updates?: UpdateLook | undefined;
  /** How commands run. */
  sandbox: SessionSandbox;
  /** With the rules of the configuration: which tools the model is told about. */
  approvalMode: ApprovalMode;
  approve: Approve;
}

/** A session that is ready for its first prompt. Whoever has it closes it. */
export interface ComposedSession {
  session: SessionManager;
  model: Model;
  /** What the user should know before the first answer. */
  notices: Notice[];
  /** Where the project's sessions are, be this one saved or not. */
  sessionsDirectory: string;
  /** What it changes in the project can be taken back. */
  checkpoints: SessionCheckpoints;
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
  const { model: chosen, streamFunction, fallback } = await chooseModel(wishes);
  const model = options.recording || chosen.conditions ? await underConditions(chosen, options) : chosen;
  assertPriced(model, options.maxCost);
  const sessionId = earlier?.how === "continue" ? earlier.file.header.id : generateSessionId();
  const place = options.persist ? await preparePlace(root) : { isSaved: false, notices: [] };
  let opened: SessionManager | undefined;
  const currentEntryId = () => opened?.leafId ?? undefined;
  const { isSaved } = place;
  const tools = createSessionTools(options, { sessionId, temporaryDirectory, isSaved, currentEntryId });
  const prompt = await openPrompt({ ...options, contextWindow: model.contextWindow, tools });
  const services = openServices(options, { sessionId, tools, currentEntryId });
  const parts = { model, tools, prompt, services, streamFunction, temporaryDirectory };
  const manager = new SessionManager({
    cwd,
    paths,
    isSaved,
    lockPlace: environment,
    sessionId,
    agentConfig: toLoopConfig(options, parts),
    context: {
      ...toContextOptions(options),
      summarizer: chooseSummarizer({ cwd, config, model }, services.wrap),
      buildSystemPrompt: prompt.renew,
    },
  });
  const session = await openEarlier(manager, earlier, sessionId);
  opened = session;
  return {
    session,
    model,
    sessionsDirectory: paths.sessions,
    checkpoints: services.checkpoints,
    notices: [
      ...loaded.warnings.map(toNotice),
      ...prompt.current.notices,
      ...place.notices,
      ...sandboxNotices(options, tools),
      ...services.notices,
      ...(earlier && resuming ? resuming.resumedNotices(earlier, { model, cwd, fallback }) : []),
    ],
    promptParts: () => prompt.current.parts,
    changeModel: (change) => changeModelAndPrompt(session, change, { options, prompt, services }),
    close() {
      session.close();
      services.close();
      temporaryDirectory.remove();
    },
  };
}

async function underConditions(model: Model, options: SessionOptions): Promise<Model> {
  return (await import("./recorded-conditions.ts")).withConditions(model, options);
}

async function changeModelAndPrompt(
  session: SessionManager,
  change: ModelChange,
  { options, prompt, services }: { options: SessionOptions } & Pick<LoopParts, "prompt" | "services">,
): Promise<Model | undefined> {
  const { cwd, loaded, maxCost } = options;
  const changed = await changeModel(session, change, {
    cwd,
    config: loaded.config,
    wrap: services.wrap,
    maxCost,
  });
  if (changed) prompt.contextWindow = changed.contextWindow;
  return changed;
}

function isResuming({ resumption, isAutomatic, held }: ResumptionWishes): boolean {
  return resumption !== undefined || held !== undefined || isAutomatic === true;
}

/** What an earlier session says of the model to go on with. */
function pickModel({ lastModelId, path }: Partial<EarlierSession> = {}) {
  return { lastModelId, path };
}

interface LoopParts extends Pick<AgentLoopConfig, "model" | "tools" | "streamFunction"> {
  prompt: SessionPrompt;
  services: SessionServices;
  temporaryDirectory: SessionTempDir;
}

function toLoopConfig(options: SessionOptions, parts: LoopParts): AgentLoopConfig {
  const { config } = options.loaded;
  const { prompt, services, temporaryDirectory, streamFunction, ...rest } = parts;
  return {
    ...rest,
    streamFunction: services.wrap(streamFunction),
    systemPrompt: prompt.current.systemPrompt,
    effort: options.effort ?? config.effort,
    maxTurns: options.maxTurns ?? config.maxTurns,
    maxRetries: config.maxRetries,
    maxCost: options.maxCost,
    approve: options.approve,
    changes: options.persist ? services.checkpoints : undefined,
    keepOutput: (toolCallId, output) => temporaryDirectory.keep(toolCallId, output),
  };
}

function toContextOptions({ environment, loaded: { config }, persist }: SessionOptions): ContextOptions {
  return {
    compaction: config.compaction,
    flushKnowledge: config.knowledge?.flushBeforeCompaction,
    calibrationPlace: persist ? environment : undefined,
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
