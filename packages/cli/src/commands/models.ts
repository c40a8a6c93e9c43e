import {
  DEFAULT_MODEL,
  inferProvider,
  type LoadedConfig,
  type ModelCatalogue,
  type ModelDefinition,
} from "@diligent/core/run";
import { loadCatalogue, VENDORS } from "../choose-model.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { loadConfig } from "../load-config.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { unknownModel } from "../unknown-model.ts";
import { UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";
import { formatModels, type ListedModel, type ModelProvider } from "./models-table.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError when a configuration file is broken, or what it says of models cannot be meant.
 */
export async function runModels(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("models", rest);
  if (words[0] !== undefined) throw new UsageError(`models takes no words: ${words[0]}`);
  const loaded = await loadConfig(resolveDirectory(directory, io.cwd), io.environment);
  const catalogue = await loadCatalogue(loaded.config);
  for (const { message } of loaded.warnings) writeLine(io.stderr, `warning: ${message}`);
  const providers = listProviders(loaded);
  const models = listModels(loaded, catalogue, (problem) => writeLine(io.stderr, `warning: ${problem}`));
  io.stdout.write(
    switches.has("json")
      ? toJsonText(models.map((model) => toFacts(model, providers)))
      : formatModels(models, { providers, configured: describeChoice(loaded) }),
  );
  return EXIT_SUCCESS;
}

/** The vendors first, then the compatible servers in the order of the configuration. No key is in it. */
export function listProviders({ config }: LoadedConfig): ModelProvider[] {
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
  ];
}

/** What there is, and what is configured where that is not listed; `warn` is told why the latter is not. */
export function listModels(
  { config, origins }: LoadedConfig,
  catalogue: ModelCatalogue,
  warn: (problem: string) => void,
): ListedModel[] {
  const { model = DEFAULT_MODEL } = config;
  const chosen = isScript(model) ? undefined : (catalogue.find(model) ?? inferModel(model, catalogue));
  const servers = Object.keys(config.provider?.compatible ?? {});
  if (!chosen && !isScript(model))
    warn(`key "model": ${unknownModel(model, { catalogue, servers }).message}`);
  const fallback = catalogue.find(DEFAULT_MODEL);
  const listed = catalogue.list();
  const isSame = (one: ModelDefinition, other: ModelDefinition | undefined) =>
    one.id === other?.id && one.provider === other.provider;
  const all = chosen && !listed.some((one) => isSame(one, chosen)) ? [...listed, chosen] : listed;
  return all.map((one) => ({
    ...one,
    isDefault: isSame(one, fallback),
    isConfigured: origins.model !== "default" && isSame(one, chosen),
  }));
}

/** A model that only its prefix tells something about. */
function inferModel(modelId: string, catalogue: ModelCatalogue): ModelDefinition | undefined {
  if (inferProvider(modelId) === undefined) return undefined;
  return { ...catalogue.resolve(modelId), assumed: ["contextWindow", "maxOutputTokens"] };
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
