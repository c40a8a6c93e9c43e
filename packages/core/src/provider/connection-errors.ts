import { type Endpoint, hideKey, toOneLine } from "./error-text.ts";
import { ProviderError, type ProviderErrorType } from "./errors.ts";
import { asString, isRecord } from "./json-value.ts";

// Bun's and OpenSSL's codes for a certificate that does not hold; trying again does not help.
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;

/**
 * What was thrown instead of a response or in the middle of one: by `fetch`, by reading its body, or by a parser that
 * got a damaged event.
 */
export function toConnectionError(error: unknown, endpoint: Endpoint): ProviderError {
  const code = codeOf(error);
  const reason = hideKey(error instanceof Error ? error.message : String(error), endpoint);
  const detail = code === "" || reason.includes(code) ? toOneLine(reason) : `${toOneLine(reason)} (${code})`;
  return new ProviderError(messageFor(error, code, { host: endpoint.host, detail }), kindOf(error, code));
}

function kindOf(error: unknown, code: string): ProviderErrorType {
  if (error instanceof SyntaxError) return "stream_cut";
  if (isTimeout(error)) return "timeout";
  if (CERTIFICATE.test(code)) return "unknown";
  return code === "" ? "unknown" : "network";
}

function messageFor(
  error: unknown,
  code: string,
  { host, detail }: { host: string; detail: string },
): string {
  if (error instanceof SyntaxError) return `The answer of ${host} was damaged: ${detail}`;
  if (isTimeout(error)) return `${host} did not answer in time.`;
  const hint = CERTIFICATE.test(code) ? " (NODE_EXTRA_CA_CERTS names additional certificates)" : "";
  return `The request to ${host} failed: ${detail}${hint}`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function codeOf(error: unknown): string {
  return isRecord(error) ? asString(error.code) : "";
}
