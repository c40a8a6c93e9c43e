import { toConnectionError } from "./connection-errors.ts";
import type { Vendor } from "./endpoint.ts";
import type { Endpoint } from "./error-text.ts";
import { ProviderError } from "./errors.ts";
import { classifyResponse } from "./response-errors.ts";

// More than enough for the first 200 characters of a page that is no answer.
const MAX_ERROR_BYTES = 4096;

/** Until the headers, in milliseconds; a large prompt may be read for minutes before the first byte. */
export const HEADERS_TIMEOUT_MS = 600_000;

type ClassOf<T> = abstract new (...args: never[]) => T;

/** The errors that both SDKs throw, under the same names. */
export interface SdkErrors {
  APIConnectionTimeoutError: ClassOf<Error>;
  APIConnectionError: ClassOf<Error>;
  APIError: ClassOf<Error & { status: number | undefined; headers: Headers | undefined; error: unknown }>;
}

/** The events of a response, if it is a stream of them; throws the error that anything else means. */
export async function toEvents(
  { data, response }: { data: AsyncIterable<unknown>; response: Response },
  endpoint: Endpoint,
  vendor: Vendor,
): Promise<AsyncIterable<unknown>> {
  const { status, headers } = response;
  if (/event-stream/i.test(headers.get("content-type") ?? "text/event-stream")) return data;
  throw classifyResponse({ status, headers, body: await readBeginning(response) }, endpoint, vendor);
}

/** Whatever an SDK threw, as the error that everybody else reads. */
export function toSdkError(
  error: unknown,
  sdk: SdkErrors,
  { endpoint, vendor }: { endpoint: Endpoint; vendor: Vendor },
): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof sdk.APIConnectionTimeoutError) {
    return new ProviderError(`${endpoint.host} did not answer in time.`, "timeout");
  }
  if (error instanceof sdk.APIConnectionError)
    return toConnectionError(error.cause ?? error, endpoint, vendor);
  if (!(error instanceof sdk.APIError)) return toConnectionError(error, endpoint, vendor);
  const { status, headers, message } = error;
  // Without a JSON body an SDK keeps the text in its message only, after the status, or a phrase where there is none.
  const text = message.replace(/^\d{3} (status code \(no body\)$)?/, "");
  return classifyResponse({ status, headers, body: error.error ?? text }, endpoint, vendor);
}

/** As much of a body as an error message may show. */
export async function readBeginning(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES));
}
