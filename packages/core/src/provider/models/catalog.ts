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
 * The models that hold for a configuration. What it calls a model wins over what the known ones are called.
 * @throws ModelSettingError for two settings of one model or one name, for a model of a server that is not
 * configured,
 * and for one whose provider is unknown.
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
  // Further settings may call these models by the names they have now.
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
  /** The list it stands in: a model may be in several, but once in each. */
  list: string;
  /** The id that the setting says is a name for the model, whatever else it may have meant. */
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

/** A model that is added, or corrected where it is known. */
interface ModelSetting extends ModelFigures {
  /** `anthropic`, `openai` or the name of a compatible server; by default what the id says. */
  provider?: string | undefined;
}

/** Whose model it is, and what it is called here: `NAME/MODEL` where it is a server's. */
interface ModelIdentity {
  provider: string;
  id: string;
}

/** What settings may refer to. */
interface KnownNames {
  /** The names of the servers that are configured. */
  servers: readonly string[];
  find(idOrAlias: string): ModelDefinition | undefined;
}

/**
 * The model that a setting is about.
 * @param key of the setting, for errors.
 * @throws ModelSettingError when its server is not configured, or nothing tells whose model it is.
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

/** The server whose `NAME/` an id begins with, where something follows. */
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
  const configured = servers.length === 0 ? "there is none" : `servers: ${servers.join(", ")}`;
  return new ModelSettingError(
    key,
    `no server called ${JSON.stringify(name)} is configured (${configured}); add provider.compatible.${name} to your configuration, or correct the name`,
  );
}

/** What a setting asks to call a model. */
interface Claim {
  /** The model's own id. */
  id: string;
  /** The setting, such as `models[0]`. */
  key: string;
  /** The list it stands in: a model may be in several, but once in each. */
  list: string;
  aliases: readonly string[];
}

interface Owner {
  /** The caller's key for the model. */
  model: string;
  id: string;
}

// What begins so never reaches the names: it is a script, or says its provider.
const RESERVED = ["anthropic", "openai", "scripted"];

/** The names that a configuration gives to models; a model is known here by a key of the caller's. */
class ModelNames {
  private readonly claims = new Map<string, Claim[]>();
  private readonly claimedIds = new Map<string, Set<string>>();
  private owners: ReadonlyMap<string, string> = new Map();

  constructor(private readonly servers: readonly string[]) {}

  /** @throws ModelSettingError when the same list has a setting for this model already. */
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

  /** The id that a setting says means the model too, without its server's name, unless another setting says the same. */
  claimId(model: string, id: string): void {
    this.claimedIds.set(id, (this.claimedIds.get(id) ?? new Set()).add(model));
  }

  /**
   * Decides which model every name means, and returns that.
   * @param ids of all models there are.
   * @throws ModelSettingError for an alias that two models ask for, or that is another model's id.
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

  /** The model that a name was given to. */
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
// Local models usually have at least this much; more has to be configured.
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

/** A model of Anthropic's or OpenAI's that is not among the known ones. */
function assumePublicModel(provider: string, id: string): ModelDefinition {
  return { ...assumeModel(`${provider}/${id}`), assumed: ["contextWindow", "maxOutputTokens"] };
}

/**
 * The model with what is said of it; aliases are added to those it has.
 * @param key of the setting, for errors.
 * @throws ModelSettingError when an answer would be longer than the window.
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
    // A price for long input belongs to the vendor's own prices, not to somebody else's.
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
  const advice = figures.contextWindow === undefined ? "; say its contextWindow too" : "";
  throw new ModelSettingError(
    `${key}.maxOutputTokens`,
    `${said} tokens are more than its window of ${window}${advice}`,
  );
}

/** As much of a window as an answer may take where nobody says it: the conversation needs the rest. */
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
