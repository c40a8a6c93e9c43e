import { isUpdateUrl } from "@diligent/core/interactive";
import { isLoopbackUrl } from "@diligent/core/run";
import { UpdateError, wasLeft } from "./update-error.ts";
import { isVersion } from "./version-order.ts";

const TIMEOUT_MS = 5_000;
// The document of a version in a registry has a few kilobytes.
const MAX_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Nothing in them says whose they are. Unpacked, a small answer could be a large one: so it is not to be packed. */
const HEADERS = { "user-agent": "diligent", accept: "application/json", "accept-encoding": "identity" };

/** How long an answer is waited for. */
export interface AskingOptions {
  /** Aborted: nobody waits for the answer any more. */
  signal?: AbortSignal;
  /** For everything together, redirects and body; five seconds when left out. */
  timeoutMs?: number;
}

/**
 * The version that a server names: the `version` of the JSON object that it answers with, as an npm registry does for
 * `NAME/latest`. One GET without a body, a cookie or a key; redirects lead only to where one may ask at all, and from
 * elsewhere never to this machine.
 * @param url see `isUpdateUrl`.
 * @throws UpdateError when there is no such answer, or not in time.
 */
export async function askForVersion(
  url: string,
  { signal, timeoutMs = TIMEOUT_MS }: AskingOptions = {},
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs);
  const ended = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    return readVersion(await readBody(await follow(url, ended)));
  } catch (error) {
    if (error instanceof UpdateError) throw error;
    if (signal?.aborted) throw wasLeft();
    if (limit.aborted) throw new UpdateError(`no answer within ${timeoutMs / 1_000} s`);
    throw new UpdateError(codeOf(error), { cause: error });
  }
}

async function follow(url: string, signal: AbortSignal): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(address, signal);
    if (response.ok) return response;
    await response.body?.cancel();
    if (!REDIRECTS.has(response.status)) throw new UpdateError(`the answer was ${response.status}`);
    const next = findRedirect(address, response.headers.get("location"));
    if (next === undefined) throw new UpdateError("it leads to where nobody may be asked");
    address = next;
  }
  throw new UpdateError(`it leads on more than ${MAX_REDIRECTS} times`);
}

/** Where a redirect leads; undefined where one may not ask, and from elsewhere for what is on this machine. */
export function findRedirect(from: string, location: string | null): string | undefined {
  const { href } = URL.parse(location ?? "", from) ?? {};
  if (location === null || href === undefined || !isUpdateUrl(href)) return undefined;
  return isLoopbackUrl(href) && !isLoopbackUrl(from) ? undefined : href;
}

function request(url: string, signal: AbortSignal): Promise<Response> {
  const options = { headers: HEADERS, redirect: "manual", decompress: false, keepalive: false } as const;
  // A proxy, which Bun takes from the environment, cannot reach our own loopback.
  return fetch(url, { ...options, signal, ...(isLoopbackUrl(url) && { proxy: false }) });
}

async function readBody({ body, headers }: Response): Promise<Uint8Array> {
  if (Number(headers.get("content-length")) > MAX_BYTES) {
    await body?.cancel();
    throw tooLong();
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(): UpdateError {
  return new UpdateError(`the answer has more than ${MAX_BYTES} bytes`);
}

function readVersion(body: Uint8Array): string {
  const answer = parseJson(body);
  const version = typeof answer === "object" && answer !== null && "version" in answer && answer.version;
  if (isVersion(version)) return version;
  throw new UpdateError("the answer names no version");
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new UpdateError("the answer is no JSON", { cause: error });
  }
}

/** Such as `ECONNREFUSED`: a message could hold the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error && error.code;
  return typeof code === "string" ? code : "the connection failed";
}
