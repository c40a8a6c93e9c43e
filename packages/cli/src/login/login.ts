import { loadCatalog, openModel, VENDORS } from "@diligent/core/harness";
import { nearestName } from "@diligent/core/light";
import {
  DEFAULT_MODELS,
  type DiligentConfig,
  type Environment,
  inferProvider,
  type LoadedConfig,
  ProviderError,
} from "@diligent/core/run";
import { orUsageError, UsageError } from "../errors.ts";
import { toSingleLine } from "../text/terminal-text.ts";

/** The key could not be tested, so it was not stored. */
export class UnprovenKeyError extends Error {
  override readonly name = "UnprovenKeyError";
}

interface LoginOptions extends TrialOptions {
  environment: Environment;
  /** False: stored without a test request. */
  isProved: boolean;
}

/**
 * Tests a key with one request and stores it in the user's configuration.
 * @returns what to tell the user, a line each.
 * @throws UsageError for a wrong key, UnprovenKeyError if it could not be tested; nothing is stored then.
 */
export async function logIn(provider: KeyProvider, text: string, options: LoginOptions): Promise<string[]> {
  const { environment, isProved } = options;
  const key = text.trim();
  assertKey(key);
  const note = isProved ? await prove(provider, key, options) : undefined;
  const { storeUserKey } = await import("@diligent/core/config");
  const change = await orUsageError(() => storeUserKey(environment, provider.name, key));
  return [
    `${isProved ? `The key for ${provider.name} works and is` : `The key for ${provider.name} is`} stored in ${describeFile(change)} (mode 0600).`,
    ...(note === undefined ? [] : [`The provider says: ${note}`]),
    ...describeShadow(provider, key, environment),
  ];
}

async function prove(provider: KeyProvider, key: string, options: LoginOptions): Promise<string | undefined> {
  const proof = await proveKey(provider, key, options);
  switch (proof.kind) {
    case "accepted":
      return proof.note;
    case "refused":
      throw new UsageError(`${withoutHint(proof.reason)} The key was not stored.`);
    case "unproven":
      throw new UnprovenKeyError(
        `${withoutHint(proof.reason)} The key was not stored because it could not be tested.`,
      );
  }
}

/** The key did not come from the variable. */
function withoutHint(reason: string): string {
  const sentence = reason.replace(/ \(check [A-Z_]+\)$/, "");
  return sentence.endsWith(".") ? sentence : `${sentence}.`;
}

/** A key in the environment overrides a stored one. */
function describeShadow({ variable }: KeyProvider, key: string, environment: Environment): string[] {
  const other = variable === undefined ? undefined : environment[variable]?.trim();
  if (!other || other === key) return [];
  return [`${variable} is set to a different key, which overrides the stored one: unset it.`];
}

/**
 * Removes a provider's stored key.
 * @returns what to tell the user, a line each.
 * @throws UsageError if the user's configuration cannot be changed.
 */
export async function logOut(provider: KeyProvider, environment: Environment): Promise<string[]> {
  const { removeUserKey } = await import("@diligent/core/config");
  const { name, variable } = provider;
  const change = await orUsageError(() => removeUserKey(environment, name));
  const isSet = variable !== undefined && Boolean(environment[variable]?.trim());
  return [
    change.hadKey
      ? `The key for ${name} was removed from ${describeFile(change)}.`
      : `There was no stored key for ${name}.`,
    ...(isSet ? [`${variable} is still set in the environment.`] : []),
  ];
}

/** A provider that a key can be stored for. */
export interface KeyProvider {
  /** `anthropic`, `openai`, or the name of a compatible server. */
  name: string;
  /** The variable for its key; the user's own servers have none. */
  variable?: string;
  /** Where to get a key. */
  keyPage?: string;
  /** The address of its requests. */
  address: string;
  /**
   * `in FILE` or `by VARIABLE` that sets the address; undefined for the vendor's own address and for the user's own
   * servers.
   */
  addressOrigin?: string | undefined;
  hasKey: boolean;
}

const MAX_ORIGIN_COLUMNS = 200;

/** The host of its requests; the name of a server whose address is none. */
export function hostOf({ name, address }: KeyProvider): string {
  return URL.parse(address)?.host ?? name;
}

/** The host at which a key is tested, and the setting that names it if it is not the vendor's own. */
export function describeHost(provider: KeyProvider): string {
  const { addressOrigin } = provider;
  const host = hostOf(provider);
  return addressOrigin === undefined
    ? host
    : `${host} (set ${toSingleLine(addressOrigin, MAX_ORIGIN_COLUMNS)})`;
}

/** @throws UsageError if the user's configuration is invalid. */
export async function listStoredProviders(
  loaded: KeyConfiguration,
  environment: Environment,
): Promise<KeyProvider[]> {
  const { listUserKeys } = await import("@diligent/core/config");
  const names = await orUsageError(() => listUserKeys(environment));
  return listKeyProviders(loaded).filter(({ name }) => names.includes(name));
}

type KeyConfiguration = Pick<LoadedConfig, "config" | "origins">;

/** The vendors first, then the compatible servers in configuration order. */
export function listKeyProviders({ config, origins }: KeyConfiguration): KeyProvider[] {
  const { provider = {} } = config;
  return [
    ...VENDORS.map(({ name, variable, keyPage, address }) => ({
      name,
      variable,
      keyPage,
      address: provider[name]?.baseUrl ?? address,
      addressOrigin: provider[name]?.baseUrl && toOrigin(origins[`provider.${name}.baseUrl`]),
      hasKey: Boolean(provider[name]?.apiKey),
    })),
    ...Object.entries(provider.compatible ?? {}).map(([name, { baseUrl, apiKey }]) => ({
      name,
      address: baseUrl,
      hasKey: Boolean(apiKey),
    })),
  ];
}

function toOrigin(origin: string | undefined): string | undefined {
  const [, variable] = /^environment (\w+)$/.exec(origin ?? "") ?? [];
  return variable === undefined ? origin && `in ${origin}` : `by ${variable}`;
}

// Longer than a name as a rule.
const MIN_KEY_CHARS = 16;

/** @throws UsageError for an unknown name, without repeating it: it may be a misplaced key. */
export function findKeyProvider(name: string, loaded: KeyConfiguration): KeyProvider {
  const providers = listKeyProviders(loaded);
  const found = providers.find((provider) => provider.name === name);
  if (found) return found;
  const names = providers.map((provider) => provider.name);
  const nearest = nearestName(name, names);
  const isLikeKey = name.length >= MIN_KEY_CHARS;
  const near = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  const hint = isLikeKey ? " A key is never an argument: it is asked for, and not shown." : near;
  throw new UsageError(`Unknown provider; choose one of ${names.join(", ")}.${hint}`);
}

/**
 * The model for testing a key: the configured one if it is the provider's, else a known model of the provider.
 * @throws UsageError for a server without listed models.
 */
async function findTrialModel({ name }: KeyProvider, config: TrialOptions["config"]): Promise<string> {
  const catalog = await loadCatalog(config);
  const { model } = config;
  if (model !== undefined) {
    const providerOfModel = catalog.find(model)?.provider ?? inferProvider(model);
    if (providerOfModel === name) return model;
  }
  if (name === "anthropic" || name === "openai") return DEFAULT_MODELS[name];
  const listed = catalog.list().find(({ provider }) => provider === name);
  if (listed) return listed.id;
  throw new UsageError(
    `The server ${name} lists no model to test the key with. Name one: diligent login ${name} -m ${name}/MODEL`,
  );
}

// The smallest limit that every provider accepts; OpenAI's API allows no less.
const MAX_TOKENS = 16;
// Providers answer such a request within a few seconds; a slower network is unusable.
const TIMEOUT_MS = 30_000;

/** The result of one request. `unproven`: the key could not be tested; `reason` is a sentence. */
type KeyProof =
  | { kind: "accepted"; modelId: string; note?: string }
  | { kind: "refused"; reason: string }
  | { kind: "unproven"; reason: string };

/** What testing a key needs. */
interface TrialOptions {
  /** Absolute. */
  cwd: string;
  config: Pick<DiligentConfig, "model" | "provider" | "models">;
  /** Instead of the default choice. */
  modelId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Tests a key with one minimal request to its provider. Reasons never contain the key.
 * @throws UsageError for an invalid key, and for a model or server that cannot be used.
 */
async function proveKey(
  provider: KeyProvider,
  key: string,
  { cwd, config, modelId, signal }: TrialOptions,
): Promise<KeyProof> {
  assertKey(key);
  const id = modelId ?? (await findTrialModel(provider, config));
  const { model, streamFunction } = await openModel(id, {
    cwd,
    config: withKey(config, provider.name, key),
    setting: "model",
  });
  if (model.provider !== provider.name) throw new UsageError(`${id} is a model of ${model.provider}`);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const ended = signal ? AbortSignal.any([signal, limit]) : limit;
  const context = {
    systemPrompt: "",
    messages: [{ role: "user" as const, content: "Say ok.", timestamp: 0 }],
    tools: [],
  };
  try {
    await streamFunction(model, context, { maxTokens: MAX_TOKENS, signal: ended }).result();
  } catch (error) {
    return toProof(error, id);
  }
  if (!ended.aborted) return { kind: "accepted", modelId: id };
  const reason = signal?.aborted ? "Stopped." : `${provider.name} did not answer within 30 s.`;
  return { kind: "unproven", reason };
}

/** @throws UsageError if it cannot be a key. */
function assertKey(key: string): void {
  if (key === "") throw new UsageError("No key was given; nothing was stored.");
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError("That is not a key: it contains spaces or invalid characters. Nothing was stored.");
}

function toProof(error: unknown, modelId: string): KeyProof {
  if (!(error instanceof ProviderError)) throw error;
  const reason = error.message;
  switch (error.errorType) {
    case "auth":
      return { kind: "refused", reason };
    // The account name comes from the provider.
    case "quota":
    case "rate_limit":
      return { kind: "accepted", modelId, note: reason };
    default:
      return { kind: "unproven", reason };
  }
}

function withKey(config: TrialOptions["config"], name: string, apiKey: string): TrialOptions["config"] {
  const { provider = {} } = config;
  if (name === "anthropic" || name === "openai")
    return { ...config, provider: { ...provider, [name]: { ...provider[name], apiKey } } };
  const server = provider.compatible?.[name];
  if (server === undefined) return config;
  const compatible = { ...provider.compatible, [name]: { ...server, apiKey } };
  return { ...config, provider: { ...provider, compatible } };
}

/** A link is followed and stays; its target may be in a directory that others can see. */
function describeFile({ path, linkedTo }: { path: string; linkedTo?: string | undefined }): string {
  return linkedTo === undefined ? path : `${linkedTo}, to which ${path} leads`;
}
