import { nearestName, nearestNames } from "@diligent/core/light";
import type { ModelCatalogue } from "@diligent/core/run";
import { UsageError } from "./usage-error.ts";

interface KnownModels {
  catalogue: ModelCatalogue;
  /** The names of the compatible servers that are configured. */
  servers: readonly string[];
}

// An id such as `openai/gpt-4o` or `scripted/script.json` begins with one of these.
const OWN_PREFIXES = ["anthropic", "openai", "scripted"];

/** What to say about an id that belongs to no provider: the nearest that does, or what is missing. */
export function unknownModel(modelId: string, known: KnownModels): UsageError {
  const unknown = `Unknown model ${JSON.stringify(modelId)}`;
  const prefixed = /^([A-Za-z0-9][\w.-]*)\/(.*)$/s.exec(modelId);
  if (prefixed) {
    const [, head = "", model = ""] = prefixed;
    return model === ""
      ? nameless(head, unknown, known)
      : unknownServer(modelId, { head, model, unknown, known });
  }
  if (known.servers.includes(modelId)) {
    return new UsageError(`${unknown}: ${modelId} is a server; say ${exampleOf(modelId, known)}.`);
  }
  const near = findSameName(modelId, known) ?? findNearest(modelId, known);
  return new UsageError(
    `${unknown}.${near === undefined ? "" : ` Did you mean ${near}?`} See diligent models.`,
  );
}

function nameless(head: string, unknown: string, known: KnownModels): UsageError {
  const isKnown = [...OWN_PREFIXES, ...known.servers].includes(head);
  const advice = isKnown
    ? `: what follows the slash is missing, as in ${exampleOf(head, known)}.`
    : ". See diligent models.";
  return new UsageError(unknown + advice);
}

interface PrefixedId {
  head: string;
  /** What follows the slash. */
  model: string;
  unknown: string;
  known: KnownModels;
}

function unknownServer(modelId: string, { head, model, unknown, known }: PrefixedId): UsageError {
  const { servers } = known;
  const nearHead = nearestName(head, [...servers, ...OWN_PREFIXES]);
  const near = findSameName(modelId, known) ?? (nearHead === undefined ? undefined : `${nearHead}/${model}`);
  const configured = servers.length === 0 ? "none is" : `there are: ${servers.join(", ")}`;
  return new UsageError(
    `${unknown}: no server called ${head} is configured (${configured}).${near === undefined ? "" : ` Did you mean ${near}?`} To add it, set provider.compatible.${head}.baseUrl in your own configuration.`,
  );
}

/** The models that servers have under this name. */
function findSameName(name: string, { catalogue }: KnownModels): string | undefined {
  const ids = catalogue.list().flatMap(({ id }) => (id.endsWith(`/${name}`) ? [id] : []));
  return ids.length === 0 ? undefined : ids.join(" or ");
}

/** The nearest id or alias; the name of a server stands for all its models. */
function findNearest(modelId: string, { catalogue, servers }: KnownModels): string | undefined {
  const names = catalogue.list().flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const [nearest] = nearestNames(modelId, [...servers, ...names], 1);
  return nearest !== undefined && servers.includes(nearest) ? `${nearest}/MODEL` : nearest;
}

function exampleOf(prefix: string, { catalogue }: KnownModels): string {
  if (prefix === "scripted") return "scripted/PATH";
  const id = catalogue.list().find(({ provider }) => provider === prefix)?.id ?? "MODEL";
  return id.startsWith(`${prefix}/`) ? id : `${prefix}/${id}`;
}
