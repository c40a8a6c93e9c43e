import { type ProviderEndpoint, toEndpoint, type Vendor } from "./endpoint.ts";

/** A server that speaks OpenAI's Chat Completions, under the name that a configuration gives it. */
export interface CompatibleServer {
  name: string;
  /** Where requests go and with which key; the key is one that a server without keys passes over when there is none. */
  endpoint: ProviderEndpoint;
  /** Where its errors are found and what they may not repeat. */
  shown: ProviderEndpoint;
  vendor: Vendor;
}

// What the documentation of such servers says to put where a client insists on a key. They stand in many a message, in
// which nothing would be hidden by taking them out.
const PLACEHOLDER_KEYS: ReadonlySet<string> = new Set(
  "none x dummy empty EMPTY ollama lm-studio no-key not-needed sk-no-key-required".split(" "),
);

/** `baseUrl` is taken as it is: with `/v1`, where the server has that. */
export function toCompatibleServer(
  name: string,
  { baseUrl, apiKey }: { baseUrl: string; apiKey?: string | undefined },
): CompatibleServer {
  const endpoint = toEndpoint(apiKey || "none", baseUrl);
  const settings = `provider.compatible.${name}`;
  return {
    name,
    endpoint,
    shown: { ...endpoint, apiKey: PLACEHOLDER_KEYS.has(endpoint.apiKey) ? "" : endpoint.apiKey },
    vendor: { name, keyVariable: `${settings}.apiKey`, urlVariable: `${settings}.baseUrl` },
  };
}

/** The server's address as messages show it: without a password or a key that somebody wrote into it. */
export function addressOf({ endpoint }: CompatibleServer): string {
  const url = URL.parse(endpoint.baseUrl);
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, "")}` : endpoint.host;
}

/** The model's id as the server knows it: what follows the server's name, slashes and colons included. */
export function toServerModelId(modelId: string): string {
  return modelId.slice(modelId.indexOf("/") + 1);
}
