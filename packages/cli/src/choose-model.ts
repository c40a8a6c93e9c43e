import {
  DEFAULT_MODEL,
  type DiligentConfig,
  IDLE_TIMEOUT_MS,
  inferProvider,
  isLoopbackUrl,
  LOCAL_IDLE_TIMEOUT_MS,
  loadModelCatalogue,
  type Model,
  type ModelCatalogue,
  ModelSettingError,
  processEnvironment,
  type SessionEntry,
  type StreamFunction,
  withIdleWatchdog,
} from "@diligent/core/run";
import { checkCertificateFiles } from "./certificate-files.ts";
import { describeError } from "./describe-error.ts";
import { UsageError } from "./usage-error.ts";

/** A model and the way to ask it. */
export interface ModelChoice {
  model: Model;
  streamFunction: StreamFunction;
}

/** What decides how a model is reached. */
export interface ModelAccess {
  cwd: string;
  /** Keys, addresses, and what is said of models. */
  config: Pick<DiligentConfig, "provider" | "models">;
  /** The conversation that is gone on with, which tells a script where it is. */
  path?: readonly SessionEntry[] | undefined;
}

/** The command line's counts first, then the earlier session's, then the configured one. */
export interface ModelWishes extends ModelAccess {
  /** The same, and the model that is configured. */
  config: Pick<DiligentConfig, "model" | "provider" | "models">;
  /** From the command line. */
  modelId?: string | undefined;
  /** The model an earlier session was held with. */
  lastModelId?: string | undefined;
}

const SCRIPTED_PREFIX = "scripted/";

/**
 * The model a session is held with: the one that was asked for, else the earlier session's, else the configured one.
 * `fallback` says why the earlier session's model is not used.
 * @throws UsageError for an unknown model, a missing key, a broken script or settings of models that cannot be meant.
 */
export async function chooseModel(wishes: ModelWishes): Promise<ModelChoice & { fallback?: string }> {
  const { modelId, lastModelId, config } = wishes;
  const configured = config.model ?? DEFAULT_MODEL;
  const access = await withCatalogue(wishes);
  if (modelId) return open(modelId, access);
  if (lastModelId === undefined || lastModelId === configured) return open(configured, access);
  const before = { lastModelId, access };
  // A file that a session names is not one the user named: it is not opened.
  if (lastModelId.startsWith(SCRIPTED_PREFIX)) {
    return openInstead(configured, `a script is only played with --model ${lastModelId}.`, before);
  }
  try {
    return await open(lastModelId, access);
  } catch (error) {
    return openInstead(configured, describeError(error), before);
  }
}

/**
 * A further model beside the one a session is held with, such as the one that writes summaries.
 * @param access `setting` is the key that names the model.
 * @throws UsageError as `chooseModel` does; its message begins with the key.
 */
export async function openModel(
  modelId: string,
  { setting = "compaction.model", ...access }: ModelAccess & { setting?: string },
): Promise<ModelChoice> {
  try {
    return await open(modelId, await withCatalogue(access));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`key "${setting}": ${error.message}`);
  }
}

interface OpenAccess extends ModelAccess {
  catalogue: ModelCatalogue;
}

async function withCatalogue({ cwd, config, path }: ModelAccess): Promise<OpenAccess> {
  return { cwd, config, path, catalogue: await loadCatalogue(config) };
}

/**
 * The models that hold for a configuration.
 * @throws UsageError for settings of models that cannot be meant.
 */
export async function loadCatalogue({
  models,
  provider,
}: Pick<DiligentConfig, "provider" | "models">): Promise<ModelCatalogue> {
  try {
    return await loadModelCatalogue({ models, compatible: provider?.compatible });
  } catch (error) {
    if (error instanceof ModelSettingError) throw new UsageError(error.message);
    throw error;
  }
}

/** @param reason why the earlier session's model is not used, a sentence. */
async function openInstead(
  modelId: string,
  reason: string,
  { lastModelId, access }: { lastModelId: string; access: OpenAccess },
): Promise<ModelChoice & { fallback: string }> {
  try {
    return { ...(await open(modelId, access)), fallback: reason };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const isSame = error.message === reason;
    const instead = isSame ? "" : ` Nor can it go on with ${modelId}: ${error.message}`;
    throw new UsageError(`The session was held with ${lastModelId}: ${reason}${instead}`);
  }
}

async function open(modelId: string, access: OpenAccess): Promise<ModelChoice> {
  const { cwd, config, catalogue } = access;
  if (modelId.startsWith(SCRIPTED_PREFIX)) {
    const { openScript } = await import("./open-script.ts");
    return openScript(modelId.slice(SCRIPTED_PREFIX.length), { cwd, path: access.path });
  }
  if (!catalogue.find(modelId) && inferProvider(modelId) === undefined) {
    const servers = Object.keys(config.provider?.compatible ?? {});
    throw (await import("./unknown-model.ts")).unknownModel(modelId, { catalogue, servers });
  }
  const model = catalogue.resolve(modelId);
  const vendor = VENDORS.find(({ name }) => name === model.provider);
  return vendor ? openVendor(vendor, model, config) : openServer(model, config);
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

/** The providers with a key of the user's; their modules are loaded when a model of theirs is opened. */
export const VENDORS: readonly Vendor[] = [
  {
    name: "anthropic",
    variable: "ANTHROPIC_API_KEY",
    keyPage: "https://console.anthropic.com/settings/keys",
    load: async () => (await import("@diligent/core/anthropic")).createAnthropicStream,
  },
  {
    name: "openai",
    variable: "OPENAI_API_KEY",
    keyPage: "https://platform.openai.com/api-keys",
    load: async () => (await import("@diligent/core/openai")).createOpenAIStream,
  },
];

type ProviderConfig = Pick<DiligentConfig, "provider">;

async function openVendor(vendor: Vendor, model: Model, config: ProviderConfig): Promise<ModelChoice> {
  const { apiKey, ...access } = config.provider?.[vendor.name] ?? {};
  if (!apiKey) throw (await import("./missing-key.ts")).missingKey(vendor, config);
  checkCertificateFiles(processEnvironment());
  const createStream = await vendor.load();
  return { model, streamFunction: withPatience(createStream(apiKey, access.baseUrl), access) };
}

async function openServer(model: Model, { provider }: ProviderConfig): Promise<ModelChoice> {
  const server = provider?.compatible?.[model.provider];
  // The catalogue knows the configured servers only.
  if (!server) throw new Error(`no server ${model.provider} is configured`);
  const { apiKey, baseUrl } = server;
  checkCertificateFiles(processEnvironment());
  const { createCompatibleStream } = await import("@diligent/core/compatible");
  const stream = createCompatibleStream(model.provider, { baseUrl, ...(apiKey && { apiKey }) });
  return { model, streamFunction: withPatience(stream, server) };
}

/** How long a silent provider is waited for: longer where the model runs on this machine. */
function withPatience(
  streamFunction: StreamFunction,
  { baseUrl, idleTimeoutMs }: { baseUrl?: string | undefined; idleTimeoutMs?: number | undefined },
): StreamFunction {
  const usual = isLoopbackUrl(baseUrl) ? LOCAL_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS;
  return withIdleWatchdog(streamFunction, { idleTimeoutMs: idleTimeoutMs ?? usual });
}
