import { isLoopbackUrl } from "../infrastructure/loopback-url.ts";
import type { Endpoint } from "./error-text.ts";
import { ProviderError } from "./errors.ts";

/** What messages call a provider and the settings that lead to it. */
export interface Vendor {
  name: string;
  keyVariable: string;
  urlVariable: string;
}

/** Where a provider's requests go: `baseUrl` ends without a slash. */
export interface ProviderEndpoint extends Endpoint {
  baseUrl: string;
}

/** The endpoint for an address as somebody wrote it. It may be no address at all: see `checkEndpoint`. */
export function toEndpoint(apiKey: string, baseUrl: string): ProviderEndpoint {
  const url = baseUrl.trim().replace(/\/+$/, "");
  return { apiKey, baseUrl: url, host: URL.parse(url)?.host || url };
}

/** Throws when no request can go there: the key is missing or none, or the address is none. */
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
      `The base URL is no http address: check ${urlVariable} (${baseUrl}).`,
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
