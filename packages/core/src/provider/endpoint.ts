import { isLoopbackUrl } from "../infrastructure/urls.ts";
import { ProviderError } from "./errors.ts";

/** The names of a provider and its settings in messages. */
export interface Vendor {
  name: string;
  keyVariable: string;
  /** What stands in messages where the key was, such as `[key of anthropic]`. */
  keyPlaceholder: string;
  urlVariable: string;
}

/** Where a provider's requests go: `baseUrl` ends without a slash. */
export interface ProviderEndpoint extends Endpoint {
  baseUrl: string;
}

/** The endpoint for an address as configured. It may be invalid: see `checkEndpoint`. */
export function toEndpoint(apiKey: string, baseUrl: string): ProviderEndpoint {
  const url = baseUrl.trim().replace(/\/+$/, "");
  return { apiKey, baseUrl: url, host: URL.parse(url)?.host || url };
}

/** Throws when no request can go there: the key is missing or invalid, or the address is invalid. */
export function checkEndpoint({ apiKey, baseUrl }: ProviderEndpoint, vendor: Vendor): void {
  const { name, keyVariable, urlVariable } = vendor;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const problem =
      apiKey === ""
        ? `There is no ${name} key: set ${keyVariable}.`
        : `The ${name} key holds characters that no key has: check ${keyVariable}.`;
    throw new ProviderError(problem, "auth");
  }
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) {
    throw new ProviderError(
      `The base URL is not an http address: check ${urlVariable} (${baseUrl}).`,
      "invalid_request",
    );
  }
}

/**
 * What the request of any SDK adds to its own settings. Followed, a redirect would carry the conversation, and perhaps
 * the key, to an address nobody chose. A proxy, which Bun takes from the environment, cannot reach our own loopback.
 */
export function fetchOptionsFor({ baseUrl }: ProviderEndpoint): { redirect: "manual"; proxy?: false } {
  return { redirect: "manual", ...(isLoopbackUrl(baseUrl) && { proxy: false }) };
}

const DEFAULT_MAX_CHARS = 200;

/** Where requests go, as messages need to know it. */
export interface Endpoint {
  /** Name and port, such as `api.anthropic.com`. */
  host: string;
  apiKey: string;
}

/** The text without the key: a server or a library may repeat it in an error message. */
export function hideKey(
  text: string,
  { apiKey }: Endpoint,
  { keyPlaceholder }: Pick<Vendor, "keyPlaceholder">,
): string {
  return apiKey === "" ? text : text.replaceAll(apiKey, keyPlaceholder);
}

/**
 * External text as part of a one-line message: control characters, escape sequences and characters that turn
 * the writing direction are gone, white space is single, and what is longer than `maxChars` ends in `…`.
 */
export function toOneLine(text: string, maxChars = DEFAULT_MAX_CHARS): string {
  // A body may have megabytes, of which nearly all would be cut off again.
  const line = text
    .slice(0, maxChars * 50)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences begin with one.
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?/g, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .toWellFormed()
    .trim();
  const chars = [...line];
  return chars.length > maxChars ? `${chars.slice(0, maxChars).join("")}…` : line;
}
