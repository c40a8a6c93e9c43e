import type { Vendor } from "./endpoint.ts";
import { type Endpoint, hideKey, toOneLine } from "./error-text.ts";
import { ProviderError, type ProviderErrorType } from "./errors.ts";
import { asString, isRecord } from "./json-value.ts";

// Bun's and OpenSSL's codes for a certificate that does not hold; trying again does not help.
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;
// No connection was made at all: no such name, nobody listening, no way there, no TLS.
const UNREACHABLE = /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EPROTO)$/;

/**
 * What was thrown instead of a response or in the middle of one: by `fetch`, by reading its body, or by a parser that
 * got a damaged event.
 */
export function toConnectionError(error: unknown, endpoint: Endpoint, vendor: Vendor): ProviderError {
  const code = codeOf(error);
  const reason = hideKey(error instanceof Error ? error.message : String(error), endpoint);
  const detail = code === "" || reason.includes(code) ? toOneLine(reason) : `${toOneLine(reason)} (${code})`;
  const message = messageFor(error, { host: endpoint.host, detail, hint: hintFor(code, vendor) });
  return new ProviderError(message, kindOf(error, code));
}

/** True when nobody listens at the address, or at that of the proxy before it. */
export function isRefusedConnection(error: unknown): boolean {
  return (
    codeOf(error) === "ECONNREFUSED" || (error instanceof Error && codeOf(error.cause) === "ECONNREFUSED")
  );
}

function kindOf(error: unknown, code: string): ProviderErrorType {
  if (error instanceof SyntaxError) return "stream_cut";
  if (isTimeout(error)) return "timeout";
  if (CERTIFICATE.test(code)) return "unknown";
  return code === "" ? "unknown" : "network";
}

function messageFor(
  error: unknown,
  { host, detail, hint }: { host: string; detail: string; hint: string },
): string {
  if (error instanceof SyntaxError) return `The answer of ${host} was damaged: ${detail}`;
  if (isTimeout(error)) return `${host} did not answer in time.`;
  return `The request to ${host} failed: ${detail}${hint}`;
}

function hintFor(code: string, { urlVariable }: Vendor): string {
  if (CERTIFICATE.test(code)) return " (NODE_EXTRA_CA_CERTS names additional certificates)";
  // Bun does not tell a proxy that cannot be reached from the host behind it.
  return UNREACHABLE.test(code) ? ` (check the network, HTTPS_PROXY and ${urlVariable})` : "";
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function codeOf(error: unknown): string {
  return isRecord(error) ? asString(error.code) : "";
}
