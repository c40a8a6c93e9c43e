import { isAbsolute, join } from "node:path";
import { nearestName } from "@diligent/core/light";
import {
  DEFAULT_MODEL,
  type DiligentConfig,
  findKnownModel,
  IDLE_TIMEOUT_MS,
  inferProvider,
  isLoopbackUrl,
  KNOWN_MODELS,
  LOCAL_IDLE_TIMEOUT_MS,
  type Model,
  processEnvironment,
  resolveModel,
  type StreamFunction,
  withIdleWatchdog,
} from "@diligent/core/run";
import { checkCertificateFiles } from "./certificate-files.ts";
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
  // A file that a session names is not one the user named: it is not opened.
  if (lastModelId.startsWith(SCRIPTED_PREFIX)) {
    return openInstead(configured, wishes, `a script is only played with --model ${lastModelId}.`);
  }
  try {
    return await openModel(lastModelId, wishes);
  } catch (error) {
    return openInstead(configured, wishes, error instanceof Error ? error.message : String(error));
  }
}

/** @param reason why the earlier session's model is not used, a sentence. */
async function openInstead(
  modelId: string,
  wishes: ModelWishes,
  reason: string,
): Promise<ModelChoice & { fallback: string }> {
  try {
    return { ...(await openModel(modelId, wishes)), fallback: reason };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const isSame = error.message === reason;
    const instead = isSame ? "" : ` Nor can it go on with ${modelId}: ${error.message}`;
    throw new UsageError(`The session was held with ${wishes.lastModelId}: ${reason}${instead}`);
  }
}

async function openModel(modelId: string, { cwd, config }: ModelWishes): Promise<ModelChoice> {
  if (modelId.startsWith(SCRIPTED_PREFIX)) return openScript(modelId.slice(SCRIPTED_PREFIX.length), cwd);
  if (!findKnownModel(modelId) && inferProvider(modelId) === undefined) throw unknownModel(modelId);
  const model = resolveModel(modelId);
  const vendor = model.provider === "openai" ? OPENAI : ANTHROPIC;
  const { apiKey, baseUrl, idleTimeoutMs } = config.provider?.[vendor.name] ?? {};
  if (!apiKey) throw missingKey(vendor);
  checkCertificateFiles(processEnvironment());
  const createStream = await vendor.load();
  const streamFunction = withIdleWatchdog(createStream(apiKey, baseUrl), {
    idleTimeoutMs: idleTimeoutMs ?? (isLoopbackUrl(baseUrl) ? LOCAL_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS),
  });
  return { model, streamFunction };
}

/** A provider with a service of its own. Its adapter is loaded when it is the one that was chosen. */
interface Vendor {
  name: "anthropic" | "openai";
  /** The variable that holds its key. */
  variable: string;
  /** Where to get one. */
  keyPage: string;
  load(): Promise<(apiKey: string, baseUrl?: string) => StreamFunction>;
}

const ANTHROPIC: Vendor = {
  name: "anthropic",
  variable: "ANTHROPIC_API_KEY",
  keyPage: "https://console.anthropic.com/settings/keys",
  load: async () => (await import("@diligent/core/anthropic")).createAnthropicStream,
};

const OPENAI: Vendor = {
  name: "openai",
  variable: "OPENAI_API_KEY",
  keyPage: "https://platform.openai.com/api-keys",
  load: async () => (await import("@diligent/core/openai")).createOpenAIStream,
};

async function openScript(path: string, cwd: string): Promise<ModelChoice> {
  const { createScriptedStream, readScript, scriptedModel } = await import("@diligent/core/scripted");
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

function missingKey({ variable, keyPage }: Vendor): UsageError {
  return new UsageError(
    `No API key: set ${variable}. Get a key at ${keyPage}, or try \`diligent demo\`, which needs none.`,
  );
}

function unknownModel(modelId: string): UsageError {
  const names = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const nearest = nearestName(modelId, names);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return new UsageError(`Unknown model "${modelId}".${hint}`);
}
