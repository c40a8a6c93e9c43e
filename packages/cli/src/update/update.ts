import { join } from "node:path";
import { isUpdateUrl, readCheckedFile, updatePrivateFile } from "@diligent/core/interactive";
import { type Environment, now, userStateDirectory } from "@diligent/core/light";
import { isLoopbackUrl } from "@diligent/core/run";
import { VERSION } from "../version.ts";

const TIMEOUT_MS = 5_000;
// The document of a version in a registry has a few kilobytes.
const MAX_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Nothing in them says whose they are. Unpacked, a small answer could be a large one: so it is not to be packed. */
const HEADERS = { "user-agent": "diligent", accept: "application/json", "accept-encoding": "identity" };

/** How long an answer is waited for. */
interface AskingOptions {
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
    if (!REDIRECTS.has(response.status)) throw new UpdateError(`the server answered ${response.status}`);
    const next = findRedirect(address, response.headers.get("location"));
    if (next === undefined) throw new UpdateError("it redirects to an address that is not allowed");
    address = next;
  }
  throw new UpdateError(`it redirects more than ${MAX_REDIRECTS} times`);
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
  throw new UpdateError("the answer contains no version");
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new UpdateError("the answer is not valid JSON", { cause: error });
  }
}

/** Such as `ECONNREFUSED`: a message could hold the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error && error.code;
  return typeof code === "string" ? code : "the connection failed";
}

/** What to say about the newest version, without a full stop; undefined when this one is as new. */
export function describeUpdate(newest: string, current: string): string | undefined {
  return isNewer(newest, current) ? `diligent ${newest} is available; this is ${current}` : undefined;
}

/** When and for which version it is looked, and how long. */
interface LookOptions extends AskingOptions {
  environment: Environment;
  /** The time in milliseconds since the epoch; now when left out. */
  at?: number;
  /** The version that runs; this program's when left out. */
  current?: string;
}

/** The newest version as far as it is known. */
interface KnownVersion {
  /** What to say where it is newer than the one that runs. */
  news?: string;
  /** Undefined when nobody has answered yet. */
  version?: string;
  /** False: it was kept from an earlier look. */
  isAsked: boolean;
}

/**
 * The newest version: as it was answered within the last 24 hours, else as the server names it now, which is kept.
 * @throws UpdateError when the server gives no answer, and Error where no answer could be kept: nobody is asked then.
 */
export async function lookForUpdate(
  url: string,
  { environment, at = now(), current = VERSION, ...asking }: LookOptions,
): Promise<KnownVersion> {
  const path = updateRecordPath(environment);
  let fresh = await readFreshRecord(path, { url, at });
  // Who is about to leave does not use up the day.
  if (fresh === undefined && asking.signal?.aborted) throw wasLeft();
  fresh ??= await claimAsking(path, { url, at });
  if (fresh) return { isAsked: false, ...describe(fresh.version, current) };
  const version = await askForVersion(url, asking);
  await keepAnswer(path, { url, at }, version);
  return { isAsked: true, ...describe(version, current) };
}

function describe(version: string | undefined, current: string): Pick<KnownVersion, "version" | "news"> {
  if (version === undefined) return {};
  const news = describeUpdate(version, current);
  return { version, ...(news !== undefined && { news: `${news}.` }) };
}

/**
 * Nobody could be asked for the newest version, or what was answered is none. The message is a few words for a log, without
 * the address: that may hold what is nobody's business.
 */
export class UpdateError extends Error {
  override name = "UpdateError";
}

/** For an answer that nobody waits for any more. */
function wasLeft(): UpdateError {
  return new UpdateError("the program quit meanwhile");
}

// Longer than any version that was ever given; what is longer is no version.
const MAX_CHARACTERS = 64;

/** As semver.org has it; a part of nine digits is still a number to whatever compares it. */
const VERSION_TEXT =
  /^(?:(?:0|[1-9]\d{0,8})\.){2}(?:0|[1-9]\d{0,8})(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** True for a text such as `0.3.0` or `1.0.0-rc.1`, and for nothing that could say more than that. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_CHARACTERS && VERSION_TEXT.test(value);
}

/** Whether one version comes after another by semver: `1.0.0` after `1.0.0-rc.1`, build numbers aside. */
export function isNewer(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
// It has some hundred.
const MAX_RECORD_BYTES = 4_096;
// Sixteen digits tell all addresses of a person apart.
const ADDRESS_DIGITS = 16;

/** When was asked last, and what was answered. */
interface UpdateRecord {
  /** Milliseconds since the epoch. */
  askedAt: number;
  /** Begins the SHA-256 of the address that was asked, hexadecimal. */
  address: string;
  /** The newest version as it was answered last; left out before the first answer. */
  version?: string;
}

/** Somebody who wants to know, and the time. */
interface Asking {
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
 * What is kept for this address, if it is younger than a day; undefined when it is time to ask. A file that is damaged counts
 * as none.
 * @throws UpdateError where it cannot be read: then nothing can be kept either.
 */
async function readFreshRecord(path: string, asking: Asking): Promise<UpdateRecord | undefined> {
  const reading = await readCheckedFile(path, MAX_RECORD_BYTES);
  if (reading.kind === "missing") return undefined;
  if (reading.kind === "unreadable") throw new UpdateError(reading.reason);
  const record = parseRecord(reading.file.content);
  return record && isFresh(record, asking) ? record : undefined;
}

/**
 * Notes that somebody asks now, before they do: whoever else starts at this moment, and whoever starts after a failure,
 * finds it. Undefined for the one who is to ask, else what another process has noted meanwhile.
 * @throws Error where it cannot be kept: then nobody may ask.
 */
async function claimAsking(path: string, asking: Asking): Promise<UpdateRecord | undefined> {
  const found: { fresh?: UpdateRecord } = {};
  await updatePrivateFile(path, (content) => {
    const record = content && parseRecord(content);
    if (content && record && isFresh(record, asking)) {
      found.fresh = record;
      return content;
    }
    const address = toFingerprint(asking.url);
    const version = record?.address === address ? record.version : undefined;
    return encode({ askedAt: asking.at, address, ...(version !== undefined && { version }) });
  });
  return found.fresh;
}

/** Keeps an answer. @throws Error where that cannot be done. */
export async function keepAnswer(path: string, { url, at }: Asking, version: string): Promise<void> {
  await updatePrivateFile(path, () => encode({ askedAt: at, address: toFingerprint(url), version }));
}

/** What was noted in the future, by a clock that was set back since, does not count. */
function isFresh({ askedAt, address }: UpdateRecord, { url, at }: Asking): boolean {
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
    return undefined; // Damaged: it is written anew.
  }
}
