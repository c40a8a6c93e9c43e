import { isAbsolute, join } from "node:path";
import {
  createAnthropicStream,
  createScriptedStream,
  DEFAULT_MODEL,
  type DiligentConfig,
  findKnownModel,
  IDLE_TIMEOUT_MS,
  inferProvider,
  KNOWN_MODELS,
  LOCAL_IDLE_TIMEOUT_MS,
  type Model,
  readScript,
  resolveModel,
  type StreamFunction,
  scriptedModel,
  withIdleWatchdog,
} from "@diligent/core";
import { nearestName } from "@diligent/core/light";
import { UsageError } from "./usage-error.ts";

/** A model and the way to ask it. */
export interface ModelChoice {
  model: Model;
  streamFunction: StreamFunction;
}

export interface ModelWishes {
  cwd: string;
  /** Keys, addresses and the model that is configured. */
  config: Pick<DiligentConfig, "model" | "provider">;
  /** From the command line. */
  modelId?: string | undefined;
  /** The model an earlier session was held with. */
  lastModelId?: string | undefined;
}

const SCRIPTED_PREFIX = "scripted/";

/**
 * The model a session is held with: the one that was asked for, else the earlier session's, else the configured one.
 * `fallback` says why the earlier session's model is not used.
 * @throws UsageError for an unknown model, a missing key or a broken script.
 */
export async function chooseModel(wishes: ModelWishes): Promise<ModelChoice & { fallback?: string }> {
  const { modelId, lastModelId, config } = wishes;
  const configured = config.model ?? DEFAULT_MODEL;
  if (modelId) return openModel(modelId, wishes);
  if (lastModelId === undefined || lastModelId === configured) return openModel(configured, wishes);
  if (lastModelId.startsWith(SCRIPTED_PREFIX)) {
    // A file that a session names is not one the user named: it is not opened.
    return { ...(await openModel(configured, wishes)), fallback: "it was a scripted one" };
  }
  try {
    return await openModel(lastModelId, wishes);
  } catch (error) {
    const fallback = error instanceof Error ? error.message : String(error);
    return { ...(await openModel(configured, wishes)), fallback };
  }
}

async function openModel(modelId: string, { cwd, config }: ModelWishes): Promise<ModelChoice> {
  if (modelId.startsWith(SCRIPTED_PREFIX)) return openScript(modelId.slice(SCRIPTED_PREFIX.length), cwd);
  if (!findKnownModel(modelId) && inferProvider(modelId) === undefined) throw unknownModel(modelId);
  const model = resolveModel(modelId);
  if (model.provider !== "anthropic") {
    throw new UsageError(
      `The model ${model.id} needs the provider "${model.provider}", which is not available yet.`,
    );
  }
  const { apiKey, baseUrl, idleTimeoutMs } = config.provider?.anthropic ?? {};
  if (!apiKey) throw missingKey("ANTHROPIC_API_KEY", "https://console.anthropic.com/settings/keys");
  const streamFunction = withIdleWatchdog(createAnthropicStream(apiKey, baseUrl), {
    idleTimeoutMs: idleTimeoutMs ?? (isLoopbackUrl(baseUrl) ? LOCAL_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS),
  });
  return { model, streamFunction };
}

async function openScript(path: string, cwd: string): Promise<ModelChoice> {
  try {
    const script = await readScript(isAbsolute(path) ? path : join(cwd, path));
    return {
      model: scriptedModel(path, script),
      streamFunction: withIdleWatchdog(createScriptedStream(script)),
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** True for a server on this machine, which may take its time. */
function isLoopbackUrl(url: string | undefined): boolean {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function missingKey(variable: string, page: string): UsageError {
  return new UsageError(
    `No API key: set ${variable}. Get a key at ${page}, or try \`diligent demo\`, which needs none.`,
  );
}

function unknownModel(modelId: string): UsageError {
  const names = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const nearest = nearestName(modelId, names);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return new UsageError(`Unknown model "${modelId}".${hint}`);
}
