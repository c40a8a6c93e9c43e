import type * as OpenAISdk from "openai";
import type { Vendor } from "./endpoint.ts";
import type { Endpoint } from "./error-text.ts";
import type { ProviderError } from "./errors.ts";
import { toSdkError } from "./sdk-answer.ts";

/** What messages about a missing key or a bad address name. */
export const OPENAI_VENDOR: Vendor = {
  name: "OpenAI",
  keyVariable: "OPENAI_API_KEY",
  urlVariable: "OPENAI_BASE_URL",
};

/** Whatever broke a request, as the error that everybody else reads. Its message names the host and never the key. */
export function toOpenAIError(error: unknown, sdk: typeof OpenAISdk, endpoint: Endpoint): ProviderError {
  return toSdkError(error, sdk, { endpoint, vendor: OPENAI_VENDOR });
}

// "The encrypted content … could not be verified", "Item 'rs_…' of type 'reasoning' was provided without its required
// following item", "Reasoning input items can only be provided to a reasoning or computer use model", "Item 'fc_…' … without its required 'reasoning' item" and "Item with id 'rs_…' not found".
const REASONING_ITEM =
  /encrypted[_ ]content.*(verified|decrypted|parsed)|invalid_encrypted_content|provided without its required|reasoning input items|item with id '?\w+'? not found/i;

// "Encrypted content is not supported with this model", "Unsupported parameter: 'reasoning.effort' is not supported …".
const REASONING_FIELD =
  /encrypted[_ ]content|'?(reasoning(\.effort)?|include)'? (is not|does not) support|unsupported (parameter|value): '(reasoning|include)/i;

/** What a request can do without. */
export type Dispensable = "reasoning items" | "summary" | "reasoning";

/** What of a request the API refused, when it accepts the same conversation without that. */
export function refusedPartOf({ errorType, statusCode, message }: ProviderError): Dispensable | undefined {
  // An item that is not found is a 404, whose hint would otherwise name the model.
  if (errorType !== "invalid_request" || (statusCode !== 400 && statusCode !== 404)) return undefined;
  if (REASONING_ITEM.test(message)) return "reasoning items";
  if (/reasoning[. ]summar/i.test(message)) return "summary";
  return REASONING_FIELD.test(message) ? "reasoning" : undefined;
}
