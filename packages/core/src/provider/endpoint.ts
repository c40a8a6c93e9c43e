import type { WatchConnection } from "../infrastructure/network/connection.ts";
import { createProgramFetch, type ProgramFetch } from "../infrastructure/network/program-fetch.ts";
import { isLoopbackUrl } from "../infrastructure/urls.ts";
import { ProviderError } from "./errors.ts";

/** The names of a provider and its settings in messages. */
export interface Vendor {
  name: string;
  keyVariable: string;
  /** The placeholder for the key in messages, such as `[key of anthropic]`. */
  keyPlaceholder: string;
  urlVariable: string;
}

/** The address of a provider; `baseUrl` ends without a slash. */
export interface ProviderEndpoint extends Endpoint {
  baseUrl: string;
  /** Sends its requests. */
  fetch: ProgramFetch;
}

/** The endpoint for a configured address. It may be invalid: see `checkEndpoint`. */
export function toEndpoint(apiKey: string, baseUrl: string): ProviderEndpoint {
  const url = baseUrl.trim().replace(/\/+$/, "");
  return { apiKey, baseUrl: url, host: URL.parse(url)?.host || url, fetch: createFetch(undefined) };
}

function createFetch(watch: WatchConnection | undefined): ProgramFetch {
  return createProgramFetch({ purpose: "provider", by: "the model's provider", watch });
}

/** The endpoints of each session, so that each keeps its client. */
const watchedEndpoints = new WeakMap<ProviderEndpoint, WeakMap<WatchConnection, ProviderEndpoint>>();

/** The same endpoint, whose connections `watch` receives. The same arguments give the same object. */
export function withWatch(endpoint: ProviderEndpoint, watch: WatchConnection | undefined): ProviderEndpoint {
  if (watch === undefined) return endpoint;
  const known = watchedEndpoints.get(endpoint) ?? new WeakMap<WatchConnection, ProviderEndpoint>();
  watchedEndpoints.set(endpoint, known);
  const watched = known.get(watch) ?? { ...endpoint, fetch: createFetch(watch) };
  known.set(watch, watched);
  return watched;
}

/** Throws if no request can be sent: the key is missing or invalid, or the address is invalid. */
export function checkEndpoint({ apiKey, baseUrl }: ProviderEndpoint, vendor: Vendor): void {
  const { name, keyVariable, urlVariable } = vendor;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const problem =
      apiKey === ""
        ? `There is no ${name} key: set ${keyVariable}.`
        : `The ${name} key contains invalid characters: check ${keyVariable}.`;
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
 * The request options that are added to those of any SDK. Redirects are not followed: they would send the
 * conversation, and perhaps the key, to an address that nobody chose. The proxy, which Bun reads from the
 * environment, is not used for loopback addresses, which it cannot reach.
 */
export function fetchOptionsFor({ baseUrl }: ProviderEndpoint): { redirect: "manual"; proxy?: false } {
  return { redirect: "manual", ...(isLoopbackUrl(baseUrl) && { proxy: false }) };
}

const DEFAULT_MAX_CHARS = 200;

/** The address of requests, for messages. */
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
 * External text for a one-line message: without control characters, escape sequences and characters that change the
 * writing direction, with single spaces, and truncated to `maxChars` with `…`.
 */
export function toOneLine(text: string, maxChars = DEFAULT_MAX_CHARS): string {
  // A body may have megabytes, nearly all of which would be cut off again.
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
