import { ModelSettingError } from "./models.ts";

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
export class ModelNames {
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
