import { KNOWN_MODELS, type ModelDefinition } from "./known-models.ts";
import { identifyModel, type ModelIdentity, serverOf } from "./model-identity.ts";
import { ModelNames } from "./model-names.ts";
import { applyFigures, assumePublicModel, assumeServerModel, type ModelFigures } from "./model-settings.ts";
import { assumeModel, type ModelCatalogue, splitProvider, toModel } from "./models.ts";
import type { Model } from "./types.ts";

export type { ModelSetting } from "./model-identity.ts";
export type { ModelFigures } from "./model-settings.ts";

/** The parts of a configuration that speak of models. */
export interface CatalogueSettings {
  /** Models that are added to the known ones or corrected; `provider` as in `ModelDefinition`, by default what the id says. */
  models?: readonly (ModelFigures & { provider?: string | undefined })[] | undefined;
  /** Compatible servers by name, with the models they list: an id alone, or what is known of the model. */
  compatible?:
    | Readonly<Record<string, { models?: readonly (string | ModelFigures)[] | undefined }>>
    | undefined;
}

/**
 * The models that hold for a configuration. What it calls a model wins over what the known ones are called.
 * @throws ModelSettingError for two settings of one model or one name, for a model of a server that is not configured,
 * and for one whose provider cannot be told.
 */
export function createModelCatalogue({ models = [], compatible = {} }: CatalogueSettings): ModelCatalogue {
  const servers = Object.keys(compatible);
  const catalogue = new ConfiguredCatalogue(servers);
  for (const [server, { models: listed = [] }] of Object.entries(compatible)) {
    for (const [index, entry] of listed.entries()) {
      const figures = typeof entry === "string" ? { id: entry } : entry;
      const identity = { provider: server, id: `${server}/${figures.id}` };
      catalogue.add(identity, figures, {
        key: `${serverKey(server)}.models[${index}]`,
        list: server,
      });
    }
  }
  // Further settings may call these models by the names they have now.
  catalogue.settleNames();
  for (const [index, setting] of models.entries()) {
    const key = `models[${index}]`;
    const identity = identifyModel(setting, key, { servers, find: (name) => catalogue.find(name) });
    catalogue.add(identity, setting, { key, list: "models", isNamedById: setting.provider !== undefined });
  }
  catalogue.settleNames();
  return catalogue;
}

const PUBLIC_PROVIDERS = ["anthropic", "openai"];

interface SettingPlace {
  /** Such as `models[0]`. */
  key: string;
  /** The list it stands in: a model may be in several, but once in each. */
  list: string;
  /** The id that the setting says is a name for the model, whatever else it may have meant. */
  isNamedById?: boolean;
}

class ConfiguredCatalogue implements ModelCatalogue {
  private readonly definitions = new Map(KNOWN_MODELS.map((model) => [keyOf(model), model]));
  private readonly names: ModelNames;

  constructor(private readonly servers: readonly string[]) {
    this.names = new ModelNames(servers);
  }

  add({ provider, id }: ModelIdentity, figures: ModelFigures, place: SettingPlace): void {
    const { key, list, isNamedById = false } = place;
    const model = keyOf({ provider, id });
    const assume = this.servers.includes(provider) ? assumeServerModel : assumePublicModel;
    const before = this.definitions.get(model) ?? assume(provider, id);
    this.names.claim(model, { id, key, list, aliases: figures.aliases ?? [] });
    if (isNamedById) this.names.claimId(model, figures.id);
    this.definitions.set(model, applyFigures(before, figures, key));
  }

  /** Gives every name to the one model it means. */
  settleNames(): void {
    const ids = new Set([...this.definitions.values()].map(({ id }) => id));
    const owners = this.names.settle(ids);
    const given = Map.groupBy(owners.keys(), (name) => owners.get(name));
    for (const [model, { aliases = [], ...rest }] of this.definitions) {
      const kept = aliases.filter((alias) => (owners.get(alias) ?? model) === model && !ids.has(alias));
      const all = new Set([...kept, ...(given.get(model) ?? [])]);
      all.delete(rest.id);
      this.definitions.set(model, { ...rest, ...(all.size > 0 && { aliases: [...all] }) });
    }
  }

  find(idOrAlias: string): ModelDefinition | undefined {
    const named = this.names.find(idOrAlias);
    if (named !== undefined) return this.definitions.get(named);
    const { provider, id } = splitProvider(idOrAlias);
    const server = serverOf(idOrAlias, this.servers);
    const providers =
      provider === undefined ? [...PUBLIC_PROVIDERS, ...(server ? [server] : [])] : [provider];
    const [known] = providers.flatMap((name) => this.definitions.get(keyOf({ provider: name, id })) ?? []);
    if (known) return known;
    if (server !== undefined) return assumeServerModel(server, idOrAlias);
    return [...this.definitions.values()].find(
      (model) => model.aliases?.includes(id) && (provider === undefined || model.provider === provider),
    );
  }

  resolve(idOrAlias: string): Model {
    const found = this.find(idOrAlias);
    return found ? toModel(found) : assumeModel(idOrAlias);
  }

  list(): readonly ModelDefinition[] {
    const models = Map.groupBy(this.definitions.values(), ({ provider }) => provider);
    return [...PUBLIC_PROVIDERS, ...this.servers].flatMap((provider) => models.get(provider) ?? []);
  }
}

/** As the configuration's own errors write it: a name with a dot in it is no further level. */
function serverKey(server: string): string {
  return `provider.compatible${/^[\w-]+$/.test(server) ? `.${server}` : `[${JSON.stringify(server)}]`}`;
}

/** One key for one model: two providers may have the same id. */
function keyOf({ provider, id }: ModelIdentity): string {
  return `${provider} ${id}`;
}
