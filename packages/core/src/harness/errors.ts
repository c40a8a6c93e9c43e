import type { DiligentConfig } from "../config/schema.ts";
import { nearestName, nearestNames } from "../infrastructure/nearest-name.ts";
import type { ModelCatalog } from "../provider/models.ts";

/**
 * The command line, the configuration or the environment is not usable: nothing was sent. The message is one line for
 * the user with the problem and a remedy.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The exit code of a program that ends with this error. */
  readonly exitCode: number = 2;
}

/** A command that has to run before anything is sent was not allowed to. */
export class RefusedCommandError extends UsageError {
  override readonly exitCode = 4;
}

/** The model's provider has no key. */
export class MissingKeyError extends UsageError {
  constructor(
    message: string,
    /** No provider is set up at all: probably the first start. */
    readonly isFirstStart: boolean,
  ) {
    super(message);
  }
}

/**
 * Runs `work` and converts errors that the user can fix into a `UsageError` with the same message.
 * @param kind the errors to convert; all of them when left out. A `UsageError` is thrown unchanged.
 */
export async function orUsageError<T>(
  work: () => T | Promise<T>,
  kind: abstract new (...parameters: never[]) => Error = Error,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof kind)) throw error;
    throw new UsageError(error.message);
  }
}

/** The text of an error for the user. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface KeyLocation {
  /** The provider's name. */
  name: string;
  /** The environment variable of its key. */
  variable: string;
  /** Where to get a key. */
  keyPage: string;
}

/**
 * Creates the error that says where to get a key.
 * @param options `isDefault`: the user did not choose this model.
 */
export function missingKey(
  { name, variable, keyPage }: KeyLocation,
  { provider, isDefault }: Pick<DiligentConfig, "provider"> & { isDefault: boolean },
): MissingKeyError {
  const { anthropic, openai, compatible = {} } = provider ?? {};
  const isSetUp = Boolean(anthropic?.apiKey || openai?.apiKey) || Object.keys(compatible).length > 0;
  const own = `set ${variable} or run \`diligent login ${name}\` (get a key at ${keyPage}).`;
  const any = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `diligent login`.";
  // A model the user chose needs a key of its own provider.
  const advice = isDefault && !isSetUp ? any : own;
  return new MissingKeyError(`No API key: ${advice} \`diligent demo\` needs none.`, !isSetUp);
}

interface KnownModels {
  catalog: ModelCatalog;
  /** The names of the configured compatible servers. */
  servers: readonly string[];
}

// Ids such as `openai/gpt-4o` or `scripted/script.json` start with one of these.
const OWN_PREFIXES = ["anthropic", "openai", "scripted"];

/** The error for an unknown model id, with the nearest known id or the missing part. */
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
    return new UsageError(
      `${unknown}: ${modelId} is a server; name one of its models, as in ${exampleOf(modelId, known)}.`,
    );
  }
  const near = findSameName(modelId, known) ?? findNearest(modelId, known);
  return new UsageError(
    `${unknown}.${near === undefined ? "" : ` Did you mean ${near}?`} Run diligent models for a list.`,
  );
}

function nameless(head: string, unknown: string, known: KnownModels): UsageError {
  const isKnown = [...OWN_PREFIXES, ...known.servers].includes(head);
  const advice = isKnown
    ? `: the model after the slash is missing, as in ${exampleOf(head, known)}.`
    : ". Run diligent models for a list.";
  return new UsageError(unknown + advice);
}

interface PrefixedId {
  head: string;
  /** The text after the slash. */
  model: string;
  unknown: string;
  known: KnownModels;
}

function unknownServer(modelId: string, { head, model, unknown, known }: PrefixedId): UsageError {
  const { servers } = known;
  const nearHead = nearestName(head, [...servers, ...OWN_PREFIXES]);
  const near = findSameName(modelId, known) ?? (nearHead === undefined ? undefined : `${nearHead}/${model}`);
  const configured = servers.length === 0 ? "there is none" : `servers: ${servers.join(", ")}`;
  return new UsageError(
    `${unknown}: no server called ${head} is configured (${configured}).${near === undefined ? "" : ` Did you mean ${near}?`} To add it, set provider.compatible.${head}.baseUrl in your own configuration.`,
  );
}

/** The models that servers list under this name. */
function findSameName(name: string, { catalog }: KnownModels): string | undefined {
  const ids = catalog.list().flatMap(({ id }) => (id.endsWith(`/${name}`) ? [id] : []));
  return ids.length === 0 ? undefined : ids.join(" or ");
}

/** The nearest id or alias; a server's name stands for all its models. */
function findNearest(modelId: string, { catalog, servers }: KnownModels): string | undefined {
  const names = catalog.list().flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const [nearest] = nearestNames(modelId, [...servers, ...names], 1);
  return nearest !== undefined && servers.includes(nearest) ? `${nearest}/MODEL` : nearest;
}

function exampleOf(prefix: string, { catalog }: KnownModels): string {
  if (prefix === "scripted") return "scripted/PATH";
  const id = catalog.list().find(({ provider }) => provider === prefix)?.id ?? "MODEL";
  return id.startsWith(`${prefix}/`) ? id : `${prefix}/${id}`;
}
