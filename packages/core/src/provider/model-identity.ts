import type { ModelDefinition } from "./known-models.ts";
import type { ModelFigures } from "./model-settings.ts";
import { inferProvider, ModelSettingError, splitProvider } from "./models.ts";

/** A model that is added, or corrected where it is known. */
export interface ModelSetting extends ModelFigures {
  /** `anthropic`, `openai` or the name of a compatible server; by default what the id says. */
  provider?: string | undefined;
}

/** Whose model it is, and what it is called here: `NAME/MODEL` where it is a server's. */
export interface ModelIdentity {
  provider: string;
  id: string;
}

/** What settings may refer to. */
export interface KnownNames {
  /** The names of the servers that are configured. */
  servers: readonly string[];
  find(idOrAlias: string): ModelDefinition | undefined;
}

/**
 * The model that a setting is about.
 * @param key of the setting, for errors.
 * @throws ModelSettingError when its server is not configured, or nothing tells whose model it is.
 */
export function identifyModel({ id, provider }: ModelSetting, key: string, known: KnownNames): ModelIdentity {
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
    `nothing tells whose model ${JSON.stringify(id)} is; add "provider", one of ${choices}`,
  );
}

/** The server whose `NAME/` an id begins with, where something follows. */
export function serverOf(id: string, servers: readonly string[]): string | undefined {
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
  const configured = servers.length === 0 ? "none is" : `there are: ${servers.join(", ")}`;
  return new ModelSettingError(
    key,
    `no server called ${JSON.stringify(name)} is configured (${configured}); add provider.compatible.${name} to your configuration, or correct the name`,
  );
}
