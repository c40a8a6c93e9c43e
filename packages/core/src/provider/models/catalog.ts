import {
  assumeModel,
  type CatalogSettings,
  inferProvider,
  type ModelCatalog,
  type ModelFigures,
  ModelSettingError,
  splitProvider,
  toModel,
} from "../models.ts";
import type { Model, ModelPrice } from "../types.ts";
import { KNOWN_MODELS, type ModelDefinition, type ModelLimit } from "./known-models.ts";

/**
 * The models for a configuration. A configured name takes precedence over a known one.
 *
 * @throws ModelSettingError for two settings of one model or one name, for a model of a server that is not
 * configured, and for a model whose provider is unknown.
 */
export function createModelCatalog({ models = [], compatible = {} }: CatalogSettings): ModelCatalog {
  const servers = Object.keys(compatible);
  const catalog = new ConfiguredCatalog(servers);
  for (const [server, { models: listed = [] }] of Object.entries(compatible)) {
    for (const [index, entry] of listed.entries()) {
      const figures = typeof entry === "string" ? { id: entry } : entry;
      const identity = { provider: server, id: `${server}/${figures.id}` };
      catalog.add(identity, figures, {
        key: `${serverKey(server)}.models[${index}]`,
        list: server,
      });
    }
  }
  // Further settings may use the names that these models have now.
  catalog.settleNames();
  for (const [index, setting] of models.entries()) {
    const key = `models[${index}]`;
    const identity = identifyModel(setting, key, { servers, find: (name) => catalog.find(name) });
    catalog.add(identity, setting, { key, list: "models", isNamedById: setting.provider !== undefined });
  }
  catalog.settleNames();
  return catalog;
}

const PUBLIC_PROVIDERS = ["anthropic", "openai"];

interface SettingLocation {
  /** Such as `models[0]`. */
  key: string;
  /** The list of the setting: a model may be in several lists, but only once in each. */
  list: string;
  /** The id that the setting declares to be a name of the model, whatever it meant before. */
  isNamedById?: boolean;
}

class ConfiguredCatalog implements ModelCatalog {
  private readonly definitions = new Map(KNOWN_MODELS.map((model) => [keyOf(model), model]));
  private readonly names: ModelNames;

  constructor(private readonly servers: readonly string[]) {
    this.names = new ModelNames(servers);
  }

  add({ provider, id }: ModelIdentity, figures: ModelFigures, place: SettingLocation): void {
    const { key, list, isNamedById = false } = place;
    const model = keyOf({ provider, id });
    const assume = this.servers.includes(provider) ? assumeServerModel : assumePublicModel;
    const before = this.definitions.get(model) ?? assume(provider, id);
    this.names.claim(model, { id, key, list, aliases: figures.aliases ?? [] });
    if (isNamedById) this.names.claimId(model, figures.id);
    this.definitions.set(model, applyFigures(before, figures, key));
  }

  /** Assigns each name to exactly one model. */
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

/** Quoted as in the configuration's own errors, so that a name with a dot does not look like a nested key. */
function serverKey(server: string): string {
  return `provider.compatible${/^[\w-]+$/.test(server) ? `.${server}` : `[${JSON.stringify(server)}]`}`;
}

/** The key of one model: two providers may have the same id. */
function keyOf({ provider, id }: ModelIdentity): string {
  return `${provider} ${id}`;
}

/** A model that is added, or corrected if it is known. */
interface ModelSetting extends ModelFigures {
  /** `anthropic`, `openai` or the name of a compatible server; by default derived from the id. */
  provider?: string | undefined;
}

/** The provider of a model and its full id: `NAME/MODEL` for a server's model. */
interface ModelIdentity {
  provider: string;
  id: string;
}

/** The servers that settings may refer to. */
interface KnownNames {
  /** The names of the configured servers. */
  servers: readonly string[];
  find(idOrAlias: string): ModelDefinition | undefined;
}

/**
 * The model that a setting is about.
 *
 * @param key of the setting, for errors.
 * @throws ModelSettingError if its server is not configured, or its provider is unknown.
 */
function identifyModel({ id, provider }: ModelSetting, key: string, known: KnownNames): ModelIdentity {
  if (provider !== undefined) return identifyAt(provider, id, { key, known });
  const found = known.find(id);
  if (found) return found;
  const inferred = inferProvider(id);
  if (inferred !== undefined) return { provider: inferred, id: splitProvider(id).id };
  if (id.startsWith("scripted/")) {
    throw new ModelSettingError(`${key}.id`, `${id} is a script, which has no settings; remove it`);
  }
  if (id.includes("/")) throw unknownServer(id.slice(0, id.indexOf("/")), `${key}.id`, known);
  const choices = ["anthropic", "openai", ...known.servers].map((name) => JSON.stringify(name)).join(", ");
  throw new ModelSettingError(
    `${key}.id`,
    `the provider of the model ${JSON.stringify(id)} is unknown; add "provider", one of ${choices}`,
  );
}

/** The server whose `NAME/` an id begins with, if something follows. */
function serverOf(id: string, servers: readonly string[]): string | undefined {
  return servers.find((server) => id.startsWith(`${server}/`) && id.length > server.length + 1);
}

function identifyAt(
  provider: string,
  id: string,
  { key, known }: { key: string; known: KnownNames },
): ModelIdentity {
  if (known.servers.includes(provider)) {
    return { provider, id: serverOf(id, [provider]) === undefined ? `${provider}/${id}` : id };
  }
  if (provider !== "anthropic" && provider !== "openai") {
    throw unknownServer(provider, `${key}.provider`, known);
  }
  const split = splitProvider(id);
  if (split.provider !== undefined && split.provider !== provider) {
    throw new ModelSettingError(`${key}.provider`, `the id ${id} already says ${split.provider}`);
  }
  return known.find(`${provider}/${split.id}`) ?? { provider, id: split.id };
}

function unknownServer(name: string, key: string, { servers }: KnownNames): ModelSettingError {
  const configured = servers.length === 0 ? "there are none" : `servers: ${servers.join(", ")}`;
  return new ModelSettingError(
    key,
    `no server called ${JSON.stringify(name)} is configured (${configured}); add provider.compatible.${name} to your configuration, or correct the name`,
  );
}

/** The names that a setting requests for a model. */
interface Claim {
  /** The model's own id. */
  id: string;
  /** The setting, such as `models[0]`. */
  key: string;
  /** The list of the setting: a model may be in several lists, but only once in each. */
  list: string;
  aliases: readonly string[];
}

interface Owner {
  /** The caller's key for the model. */
  model: string;
  id: string;
}

// Such ids are resolved before names are considered: they are scripts or state their provider.
const RESERVED = ["anthropic", "openai", "scripted"];

/** The names that a configuration gives to models; each model is identified by a key of the caller. */
class ModelNames {
  private readonly claims = new Map<string, Claim[]>();
  private readonly claimedIds = new Map<string, Set<string>>();
  private owners: ReadonlyMap<string, string> = new Map();

  constructor(private readonly servers: readonly string[]) {}

  /** @throws ModelSettingError if the same list already has a setting for this model. */
  claim(model: string, claim: Claim): void {
    const claims = this.claims.get(model) ?? [];
    const earlier = claims.find(({ list }) => list === claim.list);
    if (earlier) {
      throw new ModelSettingError(
        claim.key,
        `${claim.id} is set by ${earlier.key} already; keep one of them`,
      );
    }
    this.claims.set(model, [...claims, claim]);
  }

  /**
   * The model's id without its server's name, which also becomes a name of the model unless another setting claims
   * it.
   */
  claimId(model: string, id: string): void {
    this.claimedIds.set(id, (this.claimedIds.get(id) ?? new Set()).add(model));
  }

  /**
   * Decides which model each name means.
   *
   * @param ids of all models.
   * @throws ModelSettingError for an alias that two models claim, or that is another model's id.
   */
  settle(ids: ReadonlySet<string>): ReadonlyMap<string, string> {
    const owners = new Map<string, string>();
    for (const [id, models] of this.claimedIds) {
      const [model, ...others] = models;
      if (model !== undefined && others.length === 0) owners.set(id, model);
    }
    for (const [alias, { model }] of this.settleAliases(ids)) owners.set(alias, model);
    this.owners = owners;
    return owners;
  }

  /** The model that a name was assigned to. */
  find(name: string): string | undefined {
    return this.owners.get(name);
  }

  private settleAliases(ids: ReadonlySet<string>): Map<string, Owner> {
    const owners = new Map<string, Owner>();
    for (const [model, claims] of this.claims) {
      for (const { id, key, aliases } of claims) {
        for (const [index, alias] of aliases.entries()) {
          if (alias === id) continue;
          const problem = this.findProblem(alias, { ids, model, owner: owners.get(alias) });
          if (problem !== undefined) throw new ModelSettingError(`${key}.aliases[${index}]`, problem);
          owners.set(alias, { model, id });
        }
      }
    }
    return owners;
  }

  private findProblem(
    alias: string,
    { ids, model, owner }: { ids: ReadonlySet<string>; model: string; owner: Owner | undefined },
  ): string | undefined {
    const quoted = JSON.stringify(alias);
    if (ids.has(alias)) return `${quoted} is the id of a model; choose another alias`;
    if (owner !== undefined && owner.model !== model)
      return `${quoted} means ${owner.id} already; choose another alias`;
    const head = [...RESERVED, ...this.servers].find((name) => alias.startsWith(`${name}/`));
    return head === undefined ? undefined : `an alias cannot begin with ${head}/; choose another`;
  }
}

// Such servers do not report their limits, and often silently truncate the beginning of a request that is too long.
// Local models usually have at least this window; a larger one has to be configured.
const ASSUMED_WINDOW = 32_768;
const ASSUMED_OUTPUT = 8_192;

/** A model of a compatible server without further settings. */
function assumeServerModel(server: string, id: string): ModelDefinition {
  return {
    id,
    provider: server,
    contextWindow: ASSUMED_WINDOW,
    maxOutputTokens: Math.min(ASSUMED_OUTPUT, quarterOf(ASSUMED_WINDOW)),
    thinking: "none",
    assumed: ["contextWindow", "maxOutputTokens"],
  };
}

/** A model of Anthropic or OpenAI that is not among the known ones. */
function assumePublicModel(provider: string, id: string): ModelDefinition {
  return { ...assumeModel(`${provider}/${id}`), assumed: ["contextWindow", "maxOutputTokens"] };
}

/**
 * The model with the configured properties; aliases are added to those it has.
 *
 * @param key of the setting, for errors.
 * @throws ModelSettingError if an answer could be longer than the window.
 */
function applyFigures(model: ModelDefinition, figures: ModelFigures, key: string): ModelDefinition {
  const { aliases: _, assumed = [], longContext, maxInputTokens, ...rest } = model;
  const aliases = [...new Set([...(model.aliases ?? []), ...(figures.aliases ?? [])])];
  const { contextWindow = model.contextWindow, thinking = model.thinking } = figures;
  const price = readPrice(figures);
  const stillAssumed = assumed.filter((limit) => figures[limit] === undefined);
  return {
    ...rest,
    ...price,
    contextWindow,
    maxOutputTokens: toOutputLimit(model, figures, key),
    ...(maxInputTokens !== undefined && maxInputTokens < contextWindow && { maxInputTokens }),
    // A price for long input belongs to the vendor's own prices, not to configured ones.
    ...(longContext && Object.keys(price).length === 0 && { longContext }),
    ...(thinking && { thinking }),
    ...(aliases.length > 0 && { aliases }),
    ...(stillAssumed.length > 0 && { assumed: stillAssumed }),
  };
}

function toOutputLimit(model: ModelDefinition, figures: ModelFigures, key: string): number {
  const { contextWindow: window = model.contextWindow, maxOutputTokens: said } = figures;
  if (said === undefined) {
    const limit: ModelLimit = "maxOutputTokens";
    const isFitting = model.maxOutputTokens <= window && !model.assumed?.includes(limit);
    return isFitting ? model.maxOutputTokens : Math.min(model.maxOutputTokens, quarterOf(window));
  }
  if (said <= window) return said;
  const advice = figures.contextWindow === undefined ? "; set its contextWindow too" : "";
  throw new ModelSettingError(
    `${key}.maxOutputTokens`,
    `${said} tokens are more than its window of ${window}${advice}`,
  );
}

/** The share of a window that an answer may take by default: the conversation needs the rest. */
function quarterOf(window: number): number {
  return Math.max(1, Math.floor(window / 4));
}

function readPrice(figures: ModelFigures): ModelPrice {
  const { inputCostPer1M, outputCostPer1M, cacheReadCostPer1M, cacheWriteCostPer1M } = figures;
  return {
    ...(inputCostPer1M !== undefined && { inputCostPer1M }),
    ...(outputCostPer1M !== undefined && { outputCostPer1M }),
    ...(cacheReadCostPer1M !== undefined && { cacheReadCostPer1M }),
    ...(cacheWriteCostPer1M !== undefined && { cacheWriteCostPer1M }),
  };
}
