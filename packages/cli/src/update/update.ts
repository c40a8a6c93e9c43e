import { join } from "node:path";
import {
  createProgramFetch,
  isUpdateUrl,
  type ProgramFetch,
  readCheckedFile,
  updatePrivateFile,
} from "@diligent/core/interactive";
import { type Environment, now, userStateDirectory } from "@diligent/core/light";
import { isLoopbackUrl, type WatchConnection } from "@diligent/core/run";
import { VERSION } from "../version.ts";

const TIMEOUT_MS = 5_000;
// A registry's document about one version has a few kilobytes.
const MAX_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * They do not identify the user. Compression is refused because a small response could unpack to a large one.
 */
const HEADERS = { "user-agent": "diligent", accept: "application/json", "accept-encoding": "identity" };

/** How long to wait for an answer. */
interface RequestLimits {
  /** Aborting it cancels the request. */
  signal?: AbortSignal;
  /** For everything, including redirects and the body; five seconds if omitted. */
  timeoutMs?: number;
  /** Receives the connections. */
  watch?: WatchConnection | undefined;
}

/**
 * Asks a server for the newest version: the `version` of the JSON object in its response, as an npm registry
 * returns for `NAME/latest`. Sends one GET without body, cookie or key. Follows redirects only to allowed
 * addresses, and from other machines never to this one.
 * @param url see `isUpdateUrl`.
 * @throws UpdateError if there is no such answer, or not in time.
 */
export async function askForVersion(
  url: string,
  { signal, timeoutMs = TIMEOUT_MS, watch }: RequestLimits = {},
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs);
  const ended = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    const send = createProgramFetch({ purpose: "update", by: 'the setting "updateUrl"', watch });
    return readVersion(await readBody(await follow(url, { signal: ended, send })));
  } catch (error) {
    if (error instanceof UpdateError) throw error;
    if (signal?.aborted) throw createCancelledError();
    if (limit.aborted) throw new UpdateError(`no answer within ${timeoutMs / 1_000} s`);
    throw new UpdateError(codeOf(error), { cause: error });
  }
}

/** How the requests of one check are sent. */
interface Sending {
  signal: AbortSignal;
  send: ProgramFetch;
}

async function follow(url: string, sending: Sending): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(address, sending);
    if (response.ok) return response;
    await response.body?.cancel();
    if (!REDIRECTS.has(response.status)) throw new UpdateError(`the server answered ${response.status}`);
    const next = findRedirect(address, response.headers.get("location"));
    if (next === undefined) throw new UpdateError("it redirects to an address that is not allowed");
    address = next;
  }
  throw new UpdateError(`it redirects more than ${MAX_REDIRECTS} times`);
}

/**
 * The target of a redirect; undefined for an address that is not allowed, and for one on this machine if
 * another machine redirects to it.
 */
export function findRedirect(from: string, location: string | null): string | undefined {
  const { href } = URL.parse(location ?? "", from) ?? {};
  if (location === null || href === undefined || !isUpdateUrl(href)) return undefined;
  return isLoopbackUrl(href) && !isLoopbackUrl(from) ? undefined : href;
}

function request(url: string, { signal, send }: Sending): Promise<Response> {
  const options = { headers: HEADERS, redirect: "manual", decompress: false, keepalive: false } as const;
  // Bun takes a proxy from the environment; it could not reach this machine's loopback.
  return send(url, { ...options, signal, ...(isLoopbackUrl(url) && { proxy: false }) });
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
  throw new UpdateError("the answer contains no version");
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new UpdateError("the answer is not valid JSON", { cause: error });
  }
}

/** Such as `ECONNREFUSED`. The error's message could contain the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error && error.code;
  return typeof code === "string" ? code : "the connection failed";
}

/** The message about a newer version, without a full stop; undefined if this version is as new. */
export function describeUpdate(newest: string, current: string): string | undefined {
  return isNewer(newest, current) ? `diligent ${newest} is available; this is ${current}` : undefined;
}

/** The time of the check and the version to compare with, and the time limits. */
interface CheckOptions extends RequestLimits {
  environment: Environment;
  /** Milliseconds since the epoch; now if omitted. */
  at?: number;
  /** The running version; this program's if omitted. */
  current?: string;
}

/** The newest version that is known. */
interface KnownVersion {
  /** The message, if that version is newer than the running one. */
  news?: string;
  /** Undefined if no server has answered yet. */
  version?: string;
  /** False if it comes from an earlier check. */
  isAsked: boolean;
}

/**
 * The newest version: the answer of the last 24 hours if there is one, otherwise the server's answer now,
 * which is stored.
 * @throws UpdateError if the server gives no answer; Error if no answer could be stored, in which case
 * nothing is asked.
 */
export async function checkForUpdate(
  url: string,
  { environment, at = now(), current = VERSION, ...check }: CheckOptions,
): Promise<KnownVersion> {
  const path = updateRecordPath(environment);
  let fresh = await readFreshRecord(path, { url, at });
  // A program that is quitting must not use up the day's check.
  if (fresh === undefined && check.signal?.aborted) throw createCancelledError();
  fresh ??= await claimCheck(path, { url, at });
  if (fresh) return { isAsked: false, ...describe(fresh.version, current) };
  const version = await askForVersion(url, check);
  await storeAnswer(path, { url, at }, version);
  return { isAsked: true, ...describe(version, current) };
}

function describe(version: string | undefined, current: string): Pick<KnownVersion, "version" | "news"> {
  if (version === undefined) return {};
  const news = describeUpdate(version, current);
  return { version, ...(news !== undefined && { news: `${news}.` }) };
}

/**
 * The newest version could not be determined. The message is a few words for a log, without the address,
 * which may contain private data.
 */
export class UpdateError extends Error {
  override name = "UpdateError";
}

/** For an answer that is no longer needed. */
function createCancelledError(): UpdateError {
  return new UpdateError("the program quit meanwhile");
}

// Longer than any real version.
const MAX_CHARACTERS = 64;

/** From semver.org, with parts of at most nine digits, which every comparison treats as numbers. */
const VERSION_TEXT =
  /^(?:(?:0|[1-9]\d{0,8})\.){2}(?:0|[1-9]\d{0,8})(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * True for a text such as `0.3.0` or `1.0.0-rc.1`. Nothing longer or freer passes, so a server cannot show
 * its own text to the user.
 */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_CHARACTERS && VERSION_TEXT.test(value);
}

/**
 * True if one version comes after another by semver: `1.0.0` after `1.0.0-rc.1`. Build numbers are ignored.
 */
export function isNewer(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
// A record has some hundred bytes.
const MAX_RECORD_BYTES = 4_096;
// Sixteen digits are enough to distinguish a user's addresses.
const ADDRESS_DIGITS = 16;

/** The time of the last check, and its answer. */
interface UpdateRecord {
  /** Milliseconds since the epoch. */
  askedAt: number;
  /** The beginning of the SHA-256 of the address, hexadecimal. */
  address: string;
  /** The newest version from the last answer; omitted before the first answer. */
  version?: string;
}

/** One check: its address and time. */
interface VersionCheck {
  url: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** `update.json` in the user's state directory. @throws UpdateError without a home directory. */
export function updateRecordPath(environment: Environment): string {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new UpdateError("there is no home directory to store the answer in");
  return join(state, "update.json");
}

/**
 * The stored record for this address, if it is younger than a day; undefined if it is time to ask. A damaged
 * file counts as no record.
 * @throws UpdateError if it cannot be read: nothing could be stored then either.
 */
async function readFreshRecord(path: string, check: VersionCheck): Promise<UpdateRecord | undefined> {
  const reading = await readCheckedFile(path, MAX_RECORD_BYTES);
  if (reading.kind === "missing") return undefined;
  if (reading.kind === "unreadable") throw new UpdateError(reading.reason);
  const record = parseRecord(reading.file.content);
  return record && isFresh(record, check) ? record : undefined;
}

/**
 * Records the check before it starts, so that processes that start at the same moment, or after a failure, do
 * not repeat it. Returns undefined to the process that may ask, otherwise the record that another process has
 * stored meanwhile.
 * @throws Error if it cannot be stored: nothing may be asked then.
 */
async function claimCheck(path: string, check: VersionCheck): Promise<UpdateRecord | undefined> {
  const found: { fresh?: UpdateRecord } = {};
  await updatePrivateFile(path, (content) => {
    const record = content && parseRecord(content);
    if (content && record && isFresh(record, check)) {
      found.fresh = record;
      return content;
    }
    const address = toFingerprint(check.url);
    const version = record?.address === address ? record.version : undefined;
    return encode({ askedAt: check.at, address, ...(version !== undefined && { version }) });
  });
  return found.fresh;
}

/** Stores an answer. @throws Error on failure. */
export async function storeAnswer(path: string, { url, at }: VersionCheck, version: string): Promise<void> {
  await updatePrivateFile(path, () => encode({ askedAt: at, address: toFingerprint(url), version }));
}

/** A record from the future does not count: the clock was set back since. */
function isFresh({ askedAt, address }: UpdateRecord, { url, at }: VersionCheck): boolean {
  return address === toFingerprint(url) && askedAt <= at && at - askedAt < DAY_MS;
}

function toFingerprint(url: string): string {
  return Bun.SHA256.hash(url, "hex").slice(0, ADDRESS_DIGITS);
}

function encode({ askedAt, ...rest }: UpdateRecord): Uint8Array {
  const written = { askedAt: new Date(askedAt).toISOString(), ...rest };
  return new TextEncoder().encode(`${JSON.stringify(written)}\n`);
}

function parseRecord(content: Uint8Array): UpdateRecord | undefined {
  const written = parseUpdateRecord(content);
  if (typeof written !== "object" || written === null) return undefined;
  const { askedAt, address, version }: { askedAt?: unknown; address?: unknown; version?: unknown } = written;
  const at = typeof askedAt === "string" ? Date.parse(askedAt) : Number.NaN;
  if (Number.isNaN(at) || typeof address !== "string") return undefined;
  return { askedAt: at, address, ...(isVersion(version) && { version }) };
}

function parseUpdateRecord(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch {
    return undefined; // Damaged: it will be written anew.
  }
}
