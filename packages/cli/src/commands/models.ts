import { listAddedModels, loadCatalog, loadConfig, VENDORS } from "@diligent/core/harness";
import { unknownModel } from "@diligent/core/light";
import {
  DEFAULT_MODEL,
  inferProvider,
  type LoadedConfig,
  type ModelCatalog,
  type ModelDefinition,
} from "@diligent/core/run";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { formatModels, type ListedModel, type ModelProvider } from "../model/models-table.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError if a configuration file is broken or its models are invalid.
 */
export async function runModels(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("models", rest);
  if (words[0] !== undefined) throw new UsageError(`models takes no arguments: ${words[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const { environment } = io;
  const loaded = await loadConfig(cwd, environment);
  const catalog = await loadCatalog(loaded.config);
  for (const { message } of loaded.warnings) writeLine(io.stderr, `warning: ${message}`);
  const added = await listAddedModels({ cwd, environment, loaded });
  const providers = listProviders(loaded, added);
  const models = listModels({ ...loaded, catalog, added }, (problem) =>
    writeLine(io.stderr, `warning: ${problem}`),
  );
  io.stdout.write(
    switches.has("json")
      ? toJsonText(models.map((model) => toFacts(model, providers)))
      : formatModels(models, { providers, configured: describeChoice(loaded) }),
  );
  return EXIT_SUCCESS;
}

/**
 * The vendors first, then the compatible servers in configuration order, then those of extensions. Contains no keys.
 * @param added the models of extensions.
 */
export function listProviders(
  { config }: Pick<LoadedConfig, "config">,
  added: readonly ModelDefinition[],
): ModelProvider[] {
  const { provider = {} } = config;
  return [
    ...VENDORS.map(({ name, variable }) => {
      const { apiKey, baseUrl } = provider[name] ?? {};
      return { name, hasKey: Boolean(apiKey), keyVariable: variable, ...(baseUrl && { baseUrl }) };
    }),
    ...Object.entries(provider.compatible ?? {}).map(([name, { apiKey, baseUrl }]) => ({
      name,
      hasKey: Boolean(apiKey),
      baseUrl,
    })),
    ...[...new Set(added.map(({ provider: name }) => name))].map((name) => ({ name, hasKey: true })),
  ];
}

/** Where models come from. */
interface ModelSources extends Pick<LoadedConfig, "config" | "origins"> {
  catalog: ModelCatalog;
  /** Those of extensions. */
  added: readonly ModelDefinition[];
}

/** All models, and the configured one if it is not among them; `warn` gets the reason when the latter is unknown. */
export function listModels(
  { config, origins, catalog, added }: ModelSources,
  warn: (problem: string) => void,
): ListedModel[] {
  const { model = DEFAULT_MODEL } = config;
  const chosen = isScript(model)
    ? undefined
    : (added.find(({ id }) => id === model) ?? catalog.find(model) ?? inferModel(model, catalog));
  const servers = Object.keys(config.provider?.compatible ?? {});
  if (!chosen && !isScript(model)) warn(`key "model": ${unknownModel(model, { catalog, servers }).message}`);
  const fallback = catalog.find(origins.model === "default" ? model : DEFAULT_MODEL);
  const listed = [...catalog.list(), ...added];
  const isSame = (one: ModelDefinition, other: ModelDefinition | undefined) =>
    one.id === other?.id && one.provider === other.provider;
  const all = chosen && !listed.some((one) => isSame(one, chosen)) ? [...listed, chosen] : listed;
  return all.map((one) => ({
    ...one,
    isDefault: isSame(one, fallback),
    isConfigured: origins.model !== "default" && isSame(one, chosen),
  }));
}

/** A model known only by its prefix. */
function inferModel(modelId: string, catalog: ModelCatalog): ModelDefinition | undefined {
  if (inferProvider(modelId) === undefined) return undefined;
  return { ...catalog.resolve(modelId), assumed: ["contextWindow", "maxOutputTokens"] };
}

function isScript(modelId: string): boolean {
  return modelId.startsWith("scripted/");
}

function describeChoice({ config, origins }: LoadedConfig): string | undefined {
  const { model: origin = "default" } = origins;
  return origin === "default" ? undefined : `${config.model} (${origin})`;
}

/** A model as `--json` shows it. */
function toFacts(model: ListedModel, providers: readonly ModelProvider[]): Record<string, unknown> {
  const known = (limit: "contextWindow" | "maxOutputTokens") =>
    model.assumed?.includes(limit) ? null : model[limit];
  return {
    id: model.id,
    provider: model.provider,
    contextWindow: known("contextWindow"),
    maxOutputTokens: known("maxOutputTokens"),
    inputCostPer1M: model.inputCostPer1M ?? null,
    outputCostPer1M: model.outputCostPer1M ?? null,
    cacheReadCostPer1M: model.cacheReadCostPer1M ?? null,
    cacheWriteCostPer1M: model.cacheWriteCostPer1M ?? null,
    thinking: model.thinking ?? null,
    aliases: model.aliases ?? [],
    isDefault: model.isDefault,
    isConfigured: model.isConfigured,
    hasKey: providers.some(({ name, hasKey }) => name === model.provider && hasKey),
  };
}
