import { accessSync, constants, statSync } from "node:fs";
import type { LoadedConfig } from "../config/loader.ts";
import type { DiligentConfig } from "../config/schema.ts";
import { findLimitRefusal, hasHostLimit, toHostAndPort } from "../infrastructure/network/host-limit.ts";
import { type Environment, processEnvironment } from "../infrastructure/runtime.ts";
import { isLoopbackUrl } from "../infrastructure/urls.ts";
import { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "../provider/idle-watchdog.ts";
import {
  DEFAULT_MODEL,
  inferProvider,
  loadModelCatalog,
  type ModelCatalog,
  type ModelDefinition,
  ModelSettingError,
} from "../provider/models.ts";
import type { Model, RunConditions, StreamFunction } from "../provider/types.ts";
import type { ContextOptions } from "../session/compaction/context-window.ts";
import type { SessionManager } from "../session/manager.ts";
import type { SessionEntry } from "../session/types.ts";
import { describeError, UsageError } from "./errors.ts";
import type { ExtensionProvider, ModelChange, ModelChoice } from "./types.ts";

/** Settings that determine how a model is accessed. */
interface ModelAccess {
  cwd: string;
  /** Keys, addresses and model settings. */
  config: Pick<DiligentConfig, "provider" | "models">;
  /** Models of extensions. */
  providers?: readonly ExtensionProvider[] | undefined;
  /** The conversation being continued; it tells a script its position. */
  path?: readonly SessionEntry[] | undefined;
}

/** The command line takes precedence over the earlier session, and both over the configuration. */
interface ModelOptions extends ModelAccess {
  /** `ModelAccess.config` with the configured model. */
  config: Pick<DiligentConfig, "model" | "provider" | "models">;
  /** From the command line. */
  modelId?: string | undefined;
  /** The model of the earlier session. */
  lastModelId?: string | undefined;
}

const SCRIPTED_PREFIX = "scripted/";

/**
 * Chooses the model for a session: the requested one, else the earlier session's, else the configured one. `fallback`
 * says why the earlier session's model is not used.
 * @throws UsageError for an unknown model, a missing key, an invalid script or invalid model settings.
 */
export async function chooseModel(options: ModelOptions): Promise<ModelChoice & { fallback?: string }> {
  const { modelId, lastModelId, config } = options;
  const configured = config.model ?? DEFAULT_MODEL;
  const access = await withCatalog(options);
  if (modelId) return open(modelId, access);
  if (lastModelId === undefined || lastModelId === configured) return open(configured, access);
  const before = { lastModelId, access };
  // A script path from a session file was not chosen by the user, so it is not opened.
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
 * Opens a model in addition to the session's own, such as the one for summaries.
 * @param access `setting` is the configuration key of the model.
 * @throws UsageError like `chooseModel`; its message starts with the key.
 */
export async function openModel(
  modelId: string,
  { setting = "compaction.model", ...access }: ModelAccess & { setting?: string },
): Promise<ModelChoice> {
  try {
    return await open(modelId, await withCatalog(access));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`key "${setting}": ${error.message}`);
  }
}

interface OpenAccess extends ModelAccess {
  catalog: ModelCatalog;
}

async function withCatalog({ cwd, config, path, providers }: ModelAccess): Promise<OpenAccess> {
  return { cwd, config, path, providers, catalog: await loadCatalog(config) };
}

/**
 * The model catalog of a configuration.
 * @throws UsageError for invalid model settings.
 */
export async function loadCatalog({
  models,
  provider,
}: Pick<DiligentConfig, "provider" | "models">): Promise<ModelCatalog> {
  try {
    return await loadModelCatalog({ models, compatible: provider?.compatible });
  } catch (error) {
    if (error instanceof ModelSettingError) throw new UsageError(error.message);
    throw error;
  }
}

/** @param reason why the earlier session's model is not used, as a sentence. */
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
    const instead = isSame ? "" : ` It cannot continue with ${modelId}: ${error.message}`;
    throw new UsageError(`The session used ${lastModelId}: ${reason}${instead}`);
  }
}

/**
 * Opens the model that plays a script.
 * @param scriptPath absolute, or relative to `cwd`.
 * @throws UsageError when the file cannot be read or is not a script.
 */
export async function openScriptedModel(
  scriptPath: string,
  { cwd, path }: Pick<ModelAccess, "cwd" | "path">,
): Promise<ModelChoice> {
  const { openScript } = await import("./scripts.ts");
  return openScript(scriptPath, { cwd, path });
}

async function open(modelId: string, access: OpenAccess): Promise<ModelChoice> {
  const { cwd, config, catalog } = access;
  if (modelId.startsWith(SCRIPTED_PREFIX))
    return openScriptedModel(modelId.slice(SCRIPTED_PREFIX.length), { cwd, path: access.path });
  const added = findAdded(modelId, access.providers);
  if (added) return added;
  if (!catalog.find(modelId) && inferProvider(modelId) === undefined) {
    const servers = Object.keys(config.provider?.compatible ?? {});
    throw (await import("./errors.ts")).unknownModel(modelId, { catalog, servers });
  }
  const model = catalog.resolve(modelId);
  const vendor = VENDORS.find(({ name }) => name === model.provider);
  return vendor ? openVendor(vendor, model, config) : openServer(model, config);
}

/** The model of an extension. */
function findAdded(modelId: string, providers: readonly ExtensionProvider[] = []): ModelChoice | undefined {
  for (const { name, models, stream } of providers) {
    const model = models.find(({ id }) => modelId === `${name}/${id}`);
    if (model)
      return {
        model: { ...model, provider: name },
        streamFunction: withIdleWatchdog(stream, { idleTimeoutMs: IDLE_TIMEOUT_MS }),
      };
  }
  return undefined;
}

/** The models of extensions, by the names with which they are chosen. */
export function nameAddedModels(providers: readonly ExtensionProvider[]): ModelDefinition[] {
  return providers.flatMap(({ name, models }) =>
    models.map((model) => ({ ...model, id: `${name}/${model.id}`, provider: name })),
  );
}

/** The models of the extensions that a place uses; for a list, without a session. */
export async function listAddedModels(place: {
  cwd: string;
  environment: Environment;
  loaded: LoadedConfig;
}): Promise<ModelDefinition[]> {
  const { config, projectExtensions } = place.loaded;
  if ((config.extensions ?? []).length + projectExtensions.length === 0) return [];
  const [{ openModules }, { openProjectTrust }] = await Promise.all([
    import("../extensions/modules/extension.ts"),
    import("./trust.ts"),
  ]);
  const { providers = [] } = await openModules({
    ...place,
    trust: () => openProjectTrust(place.loaded, place),
  });
  return nameAddedModels(providers);
}

/** A provider with its own service. Its adapter is loaded only when it is chosen. */
interface Vendor {
  name: "anthropic" | "openai";
  /** The environment variable of its key. */
  variable: string;
  /** Where to get a key. */
  keyPage: string;
  /** Its default endpoint, the same as in its SDK. */
  address: string;
  load(): Promise<(apiKey: string, baseUrl?: string) => StreamFunction>;
}

/** The configured providers; their modules are loaded when one of their models is opened. */
export const VENDORS: readonly Vendor[] = [
  {
    name: "anthropic",
    variable: "ANTHROPIC_API_KEY",
    keyPage: "https://console.anthropic.com/settings/keys",
    address: "https://api.anthropic.com",
    load: async () => (await import("../provider/anthropic.ts")).createAnthropicStream,
  },
  {
    name: "openai",
    variable: "OPENAI_API_KEY",
    keyPage: "https://platform.openai.com/api-keys",
    address: "https://api.openai.com/v1",
    load: async () => (await import("../provider/openai.ts")).createOpenAIStream,
  },
];

type ProviderConfig = Pick<DiligentConfig, "provider">;

async function openVendor(vendor: Vendor, model: Model, config: ProviderConfig): Promise<ModelChoice> {
  const { apiKey, ...access } = config.provider?.[vendor.name] ?? {};
  if (!apiKey)
    throw (await import("./errors.ts")).missingKey(vendor, {
      ...config,
      isDefault: model.id === DEFAULT_MODEL,
    });
  checkHostLimit(access.baseUrl ?? vendor.address, model.provider);
  checkCertificateFiles(processEnvironment());
  const createStream = await vendor.load();
  const baseUrl = access.baseUrl ?? vendor.address;
  return {
    model,
    streamFunction: withTimeLimit(createStream(apiKey, access.baseUrl), { ...access, baseUrl }),
  };
}

async function openServer(model: Model, { provider }: ProviderConfig): Promise<ModelChoice> {
  const server = provider?.compatible?.[model.provider];
  // The catalog contains only configured servers.
  if (!server) throw new Error(`no server ${model.provider} is configured`);
  const { apiKey, baseUrl } = server;
  checkHostLimit(baseUrl, model.provider);
  checkCertificateFiles(processEnvironment());
  const { createCompatibleStream } = await import("../provider/compatible.ts");
  const stream = createCompatibleStream(model.provider, { baseUrl, ...(apiKey && { apiKey }) });
  return { model, streamFunction: withTimeLimit(stream, server) };
}

/** @throws UsageError if `--only-host` does not name the provider's host: every request would fail. */
function checkHostLimit(baseUrl: string, provider: string): void {
  if (!hasHostLimit()) return;
  const wanted = toHostAndPort(baseUrl);
  const refusal = wanted && findLimitRefusal(wanted);
  if (refusal !== undefined)
    throw new UsageError(`${refusal}, the host of the provider ${provider}; add it, or use another model`);
}

/** Adds a time limit for a silent provider: longer for local models. */
function withTimeLimit(
  streamFunction: StreamFunction,
  { baseUrl, idleTimeoutMs }: { baseUrl: string; idleTimeoutMs?: number | undefined },
): StreamFunction {
  const usual = isLoopbackUrl(baseUrl) ? LOCAL_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS;
  return withIdleWatchdog(streamFunction, {
    idleTimeoutMs: idleTimeoutMs ?? usual,
    host: URL.parse(baseUrl)?.host,
  });
}

/**
 * Wraps a model like the session's own, for instance with retries and a recording.
 * @param conditions the settings that a recording saves.
 */
export type WrapSessionStream = (stream: StreamFunction, conditions?: RunConditions) => StreamFunction;

interface ChangeAccess extends Pick<ModelAccess, "cwd" | "config" | "providers">, CostLimits {
  wrap: WrapSessionStream;
}

/**
 * Switches the model, or its thinking level, in an open session. The conversation, its prompt and grants stay.
 * @returns the new model, before it was wrapped, if it changed.
 * @throws UsageError like `chooseModel`, Error while a run is in progress; nothing changes then.
 */
export async function changeModel(
  session: SessionManager,
  { modelId, effort }: ModelChange,
  { wrap, maxCost, budget, ...access }: ChangeAccess,
): Promise<ModelChoice | undefined> {
  session.assertIdle();
  const effortChange = effort === undefined ? {} : { effort };
  if (modelId === undefined) {
    session.useModel(effortChange);
    return undefined;
  }
  const options = { ...access, modelId, path: session.branches.path };
  const choice = await chooseModel(options);
  const { model, streamFunction, conditions } = choice;
  assertPriced(model, { maxCost, budget });
  session.useModel({ model, conditions, streamFunction: wrap(streamFunction, conditions), ...effortChange });
  return choice;
}

/** @throws UsageError if costs are limited and the model's price is unknown. */
export function assertPriced(
  { id, provider, inputCostPer1M, outputCostPer1M }: Model,
  { maxCost, budget }: CostLimits,
): void {
  if (inputCostPer1M !== undefined && outputCostPer1M !== undefined) return;
  if (maxCost !== undefined)
    throw new UsageError(`--max-cost needs a price, and that of ${id} is unknown. Use --max-turns instead.`);
  // A script costs nothing.
  if (budget === undefined || provider === "scripted") return;
  throw new UsageError(
    `your budget needs a price, and that of ${id} is unknown. Add it to "models" in your configuration, with 0 if it costs nothing.`,
  );
}

/** What limits costs. */
interface CostLimits {
  /** US dollars. */
  maxCost?: number | undefined;
  budget?: DiligentConfig["budget"];
}

/**
 * The model of the setting `compaction.model`, opened when the first summary is due; undefined without that setting,
 * and for scripted sessions, which contain their own summaries.
 * @param model the session's own.
 */
export function chooseSummarizer(
  {
    cwd,
    config,
    model: { provider },
    providers,
    ...limits
  }: Pick<ModelOptions, "cwd" | "providers"> & {
    config: ModelOptions["config"] & Pick<DiligentConfig, "compaction">;
    model: Pick<Model, "provider">;
  } & CostLimits,
  wrap: WrapSessionStream,
): ContextOptions["summarizer"] {
  const modelId = config.compaction?.model;
  if (modelId === undefined || (provider === "scripted" && !modelId.startsWith("scripted/")))
    return undefined;
  return async () => {
    const { model, streamFunction } = await openModel(modelId, { cwd, config, providers });
    assertPriced(model, limits);
    return { model, streamFunction: wrap(streamFunction) };
  };
}

// Bun reads these files itself and skips unreadable ones.
const VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] as const;

/**
 * Checks that the certificate files in the environment are readable: otherwise every request would fail, or trust other
 * authorities than the user intends.
 *
 * @throws UsageError with the variable and the file.
 */
function checkCertificateFiles(environment: Environment): void {
  const problem = certificateProblem(environment);
  if (problem !== undefined) throw new UsageError(problem);
}

/** The problem with the certificate files in one line; undefined if there is none. */
export function certificateProblem(environment: Environment): string | undefined {
  for (const variable of VARIABLES) {
    const path = environment[variable];
    const problem = path ? findProblem(path) : undefined;
    if (problem !== undefined)
      return `${variable} is not a usable certificate file: ${path} ${problem}. Correct or unset it.`;
  }
  return undefined;
}

function findProblem(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return "does not exist";
  if (status.isDirectory()) return "is a directory";
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch {
    // The exact reason does not matter here.
    return "cannot be read";
  }
}
