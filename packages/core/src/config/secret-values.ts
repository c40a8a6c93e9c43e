import { join } from "node:path";
import { locateFile, readSmallText } from "../infrastructure/fs/read.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SecretValue } from "../infrastructure/text/secret-redactor.ts";
import { isLoopbackUrl } from "../infrastructure/urls.ts";
import type { DiligentConfig } from "./schema.ts";
import { expandVariables } from "./server-variables.ts";
import { CONFIG_NAMES, mayHoldConfig, substituteVariables, toEnvironmentLayers } from "./settings.ts";

/**
 * What `findSecretValues` returns for the configuration of a project, without judging the files: what is broken or not
 * trusted counts as well. Never throws.
 * @param root the project's root.
 */
export function readSecretValues(root: string, environment: Environment): SecretValue[] {
  const directories = [userConfigDirectory(environment), root].flatMap((directory) =>
    directory !== undefined && mayHoldConfig(directory) ? [directory] : [],
  );
  const written = directories.flatMap((directory) => readWrittenKeys(directory, environment));
  return findSecretValues([...toLayers(environment), ...written], environment);
}

/** Those of `readSecretValues` for which no file is read. */
export function findEnvironmentValues(environment: Environment): SecretValue[] {
  return findSecretValues(toLayers(environment), environment);
}

function toLayers(environment: Environment): ProviderKeys[] {
  return toEnvironmentLayers(environment).map(({ config }) => config);
}

/** Names of environment variables that usually contain a key or a password. */
const SECRET_NAME =
  /(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|_pass|_pwd|_auth|_pat)s?(?:_(?:id|base|base64|b64|\d+))?$/i;

// Shorter values are ordinary words.
const MIN_CHARS = 8;
// Values of letters only, such as `postgres` and `development`, are words up to this length.
const MIN_LETTERS = 12;
// Placeholders used for local servers without a key, such as `lm-studio` and `not-needed`, are not keys.
const MIN_LOCAL_CHARS = 20;

const ADDRESS_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i;

/**
 * The keys of the configured providers, and the values of environment variables whose names suggest a secret, unless
 * the settings say that these are not masked.
 */
export function findSecretValues(
  configs: readonly ProviderKeys[],
  environment: Environment,
  { mask = true, allow = [] }: NonNullable<DiligentConfig["secrets"]> = {},
): SecretValue[] {
  return [
    ...configs.flatMap(findProviderKeys),
    ...configs.flatMap(({ mcpServers = {} }) => findServerSecrets(mcpServers, environment)),
    ...(mask ? findEnvironmentSecrets(environment).filter(({ value }) => !allow.includes(value)) : []),
  ];
}

/** The headers of servers, the secrets in their environment, and those in their addresses. */
export function findServerSecrets(
  servers: NonNullable<DiligentConfig["mcpServers"]>,
  environment: Environment,
): SecretValue[] {
  return Object.entries(servers).flatMap(([name, { env = {}, headers = {}, url, oauth }]) => {
    const values = [
      ...Object.values(headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]),
      ...Object.entries(env).flatMap(([variable, value]) => (SECRET_NAME.test(variable) ? [value] : [])),
      ...findAddressSecrets(url),
      oauth?.clientSecret ?? "",
    ];
    const expanded = values.map((value) => expandVariables(value, environment).text.trim());
    return [...new Set(expanded)]
      .filter(isDistinctive)
      .map((value) => ({ value, placeholder: `[secret of the server ${name}]` }));
  });
}

function findAddressSecrets(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  return url === null ? [] : [url.password, ...url.searchParams.values()];
}

function findProviderKeys({ provider = {} }: ProviderKeys): SecretValue[] {
  const { compatible = {}, ...vendors } = provider;
  const ofVendors = Object.entries(vendors).flatMap(([name, access]) => toKeys(name, access ?? {}));
  const ofServers = Object.entries(compatible).flatMap(([name, { apiKey, baseUrl }]) =>
    isLoopbackUrl(baseUrl) && apiKey !== undefined && isPlaceholderKey(apiKey)
      ? toKeys(name, { baseUrl })
      : toKeys(name, { apiKey, baseUrl }),
  );
  return [...ofVendors, ...ofServers];
}

function toKeys(
  name: string,
  { apiKey, baseUrl }: { apiKey?: string | undefined; baseUrl?: string | undefined },
): SecretValue[] {
  const values = [apiKey?.trim(), passwordIn(baseUrl)];
  return values
    .flatMap((value) => (value !== undefined && value.length >= MIN_CHARS ? [value] : []))
    .map((value) => ({ value, placeholder: `[key of ${name}]` }));
}

function isPlaceholderKey(key: string): boolean {
  return key.length < MIN_LOCAL_CHARS && !/\d/.test(key);
}

function findEnvironmentSecrets(environment: Environment): SecretValue[] {
  return Object.entries(environment).flatMap(([name, text]) => {
    const value = SECRET_NAME.test(name) ? text?.trim() : passwordIn(text);
    return value !== undefined && isDistinctive(value) ? [{ value, placeholder: `[value of ${name}]` }] : [];
  });
}

/** False for words, numbers and paths, which appear in texts for other reasons. */
function isDistinctive(value: string): boolean {
  if (value.length < MIN_CHARS || /^(?:\.{0,2}|~)\//.test(value)) return false;
  return value.length >= MIN_LETTERS || !/^(?:[a-z]+|\d+)$/i.test(value);
}

function passwordIn(address: string | undefined): string | undefined {
  return address === undefined ? undefined : ADDRESS_WITH_PASSWORD.exec(address)?.[1];
}

/** The part of a configuration that may hold keys. */
type ProviderKeys = Pick<DiligentConfig, "provider" | "mcpServers">;

const MAX_BYTES = 1024 * 1024;
// The limits keep a file that was made for it from taking long.
const BLANK = String.raw`\s*(?:(?://[^\n]{0,200}\n|/\*(?:[^*]|\*(?!/)){0,200}\*/)\s*){0,8}`;
const CHARACTER = String.raw`(?:[^"\\\n]|\\.)`;
const OBJECT = new RegExp(`"(${CHARACTER}{0,100})"${BLANK}:${BLANK}\\{`, "g");
const ACCESS = new RegExp(`"(apiKey|baseUrl)"${BLANK}:${BLANK}"(${CHARACTER}{0,4096})"`, "g");

/**
 * The keys and addresses of providers that stand in the configuration files of a directory. The texts are searched, not
 * parsed: that finds them in a broken file, too, and does not wait for the JSONC reader, which takes longer to load than
 * a list of sessions takes. Never throws: what cannot be read holds none.
 */
function readWrittenKeys(directory: string, environment: Environment): ProviderKeys[] {
  return CONFIG_NAMES.flatMap((name) => findKeys(readText(join(directory, name)), environment));
}

function readText(path: string): string {
  try {
    return readSmallText(locateFile(path).realPath, MAX_BYTES) ?? "";
  } catch {
    return ""; // A dangling link, or a directory that cannot be entered.
  }
}

interface Access {
  apiKey?: string;
  baseUrl?: string;
}

/** Each with the name of the object that it stands in, which is that of its provider. */
function findKeys(text: string, environment: Environment): ProviderKeys[] {
  const objects = [...text.matchAll(OBJECT)];
  const beginning = { name: "provider", start: 0 };
  const parts = [
    beginning,
    ...objects.map(({ 0: head, 1: name = "", index }) => ({ name, start: index + head.length })),
  ];
  return parts.flatMap(({ name, start }, number) => {
    const access = readAccess(text.slice(start, parts[number + 1]?.start), environment);
    if (access.apiKey === undefined && access.baseUrl === undefined) return [];
    return [{ provider: toProvider(name, access) }];
  });
}

function readAccess(text: string, environment: Environment): Access {
  const access: Access = {};
  for (const [, name, written = ""] of text.matchAll(ACCESS)) {
    const value = substituteVariables(readLiteral(written), environment, () => {});
    if (name === "apiKey") access.apiKey = value;
    else access.baseUrl = value;
  }
  return access;
}

function toProvider(name: string, access: Access): ProviderKeys["provider"] {
  if (name === "anthropic" || name === "openai") return { [name]: access };
  return { compatible: { [name]: { baseUrl: "", ...access } } };
}

function readLiteral(written: string): string {
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written; // An escape that is none.
  }
}
