import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { isAddress } from "../../infrastructure/network/addresses.ts";
import type { NetworkConnection } from "../../infrastructure/network/connection.ts";
import {
  findHostAddresses,
  HostAddressError,
  type ResolveName,
} from "../../infrastructure/network/host-addresses.ts";
import { findLimitRefusal } from "../../infrastructure/network/host-limit.ts";
import type { HostAndPort } from "../../infrastructure/network/host-pattern.ts";
import { findUpstreamProxy } from "../../infrastructure/network/upstream-proxy.ts";
import { type Environment, monotonicMs } from "../../infrastructure/runtime.ts";
import { isLoopbackUrl } from "../../infrastructure/urls.ts";
import { isSameHost, parseWebAddress, showAddress, type WebAddress } from "./address.ts";

/** An answer of a web server, after redirects. */
export interface Download {
  address: WebAddress;
  /** The addresses that redirected, in order. */
  redirects: readonly URL[];
  status: number;
  /** In lower case; empty if the server sent none. */
  contentType: string;
  /** Decompressed. */
  bytes: Uint8Array;
  /** True if only the first `MAX_BYTES` were read. */
  isCut: boolean;
  /** What remains of the time limit. */
  leftMs: number;
}

/** How pages are downloaded. */
export interface DownloadOptions {
  /** Its variables name the user's proxy. */
  environment: Environment;
  /** By default, the system's resolver. */
  resolve?: ResolveName | undefined;
  signal: AbortSignal;
  /** For the whole download, without the time that `allow` takes. */
  timeoutMs: number;
  /** Replaces secrets in the address of a redirect before it is requested. */
  redact(text: string): string;
  /** Asks about a redirect to another host. The host of the first address is allowed already. */
  allow(address: WebAddress): Promise<boolean>;
  /** True for a private address that the user has listed; without it, none is. */
  allowsPrivate?: ((wanted: HostAndPort) => boolean | Promise<boolean>) | undefined;
  /** Reports each connection when it has ended, also one that was refused. */
  onConnection?: ((connection: NetworkConnection) => void) | undefined;
}

/** Decompressed. */
export const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;

const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5",
  "accept-encoding": "gzip, br",
  "user-agent": "diligent",
};

/** Why there is no page: a sentence for the model. */
export class DownloadError extends Error {
  /** @param refusal why no connection may be made, a clause. */
  constructor(
    message: string,
    readonly refusal?: string,
  ) {
    super(message);
  }
}

/**
 * Downloads a page. Each name is resolved once and the connection is made to a checked address; with a proxy of the
 * user, the proxy connects. A private address is reached only if `allowsPrivate` says so, and by no name.
 *
 * @throws DownloadError, also for a time limit
 */
export async function downloadPage(first: WebAddress, options: DownloadOptions): Promise<Download> {
  const limit = new TimeLimit(options.timeoutMs, options.signal);
  const redirects: URL[] = [];
  let address = first;
  for (;;) {
    const step = address;
    const answer = await reportConnection(step, options, (traffic) =>
      limit.run(step, (signal) => request(step, redirects, { ...options, signal, traffic })),
    );
    if (!(answer instanceof URL)) return { ...answer, leftMs: limit.leftMs };
    const next = toRedirected(step, answer, options);
    redirects.push(step.url);
    if (redirects.some(({ href }) => href === next.url.href))
      throw new DownloadError(`${show(first)} redirects in a circle, over ${show(next)}.`);
    if (redirects.length > MAX_REDIRECTS)
      throw new DownloadError(`${show(first)} redirects more than ${MAX_REDIRECTS} times.`);
    if (!isSameHost(next, step) && !(await options.allow(next)))
      throw new DownloadError(
        `${show(step)} redirects to ${show(next)}, and connecting to that host was not allowed.`,
      );
    address = next;
  }
}

/** Counts what arrives. */
interface Traffic {
  bytes: number;
}

async function reportConnection<T>(
  { host, port }: WebAddress,
  { onConnection }: DownloadOptions,
  connect: (traffic: Traffic) => Promise<T>,
): Promise<T> {
  const traffic: Traffic = { bytes: 0 };
  const made = { host, port, allowed: true, by: "the approval of web_fetch", purpose: "web_fetch" as const };
  try {
    const answer = await connect(traffic);
    onConnection?.({ ...made, ...traffic });
    return answer;
  } catch (error) {
    const refusal = error instanceof DownloadError ? error.refusal : undefined;
    const ended = refusal === undefined ? { problem: describe(error) } : { allowed: false, by: refusal };
    onConnection?.({ ...made, ...traffic, ...ended });
    throw error;
  }
}

function show({ url }: WebAddress): string {
  return showAddress(url.href);
}

/** A time limit over several steps, between which time may pass. */
class TimeLimit {
  constructor(
    public leftMs: number,
    private readonly signal: AbortSignal,
  ) {}

  async run<T>(address: WebAddress, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const startedAt = monotonicMs();
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(this.leftMs)));
    const signal = AbortSignal.any([this.signal, timeout]);
    const stopped = Promise.withResolvers<never>();
    const onAbort = () =>
      stopped.reject(new DownloadError(`${show(address)} was not answered completely in time.`));
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      // A connection that ignores the signal must not hold the call.
      return await Promise.race([work(signal), stopped.promise]);
    } catch (error) {
      if (error instanceof DownloadError) throw error;
      const reason = describe(error);
      const isRefusal = error instanceof HostAddressError && error.isRefusal;
      throw new DownloadError(
        `${show(address)} could not be fetched: ${reason}.`,
        isRefusal ? reason : undefined,
      );
    } finally {
      signal.removeEventListener("abort", onAbort);
      stopped.promise.catch(() => {});
      this.leftMs -= monotonicMs() - startedAt;
    }
  }
}

function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return showAddress(message).replace(/\.$/, "");
}

type Answer = Omit<Download, "leftMs">;

/** Resolves with the answer, or with the address of a redirect. */
async function request(
  address: WebAddress,
  redirects: readonly URL[],
  { traffic, signal, ...options }: DownloadOptions & { traffic: Traffic },
): Promise<Answer | URL> {
  const response = await connect(address, { ...options, signal });
  const target = toRedirectTarget(response, address);
  if (target) {
    await response.body?.cancel();
    return target;
  }
  const { bytes, isCut } = await readBody(response, { signal, traffic });
  const contentType = (response.headers.get("content-type") ?? "").toLowerCase();
  return { address, redirects, status: response.status, contentType, bytes, isCut };
}

function toRedirectTarget({ status, headers }: Response, { url }: WebAddress): URL | undefined {
  const location = headers.get("location");
  if (status < 300 || status > 399 || status === 304 || location === null) return undefined;
  const target = URL.parse(location, url.href);
  if (!target) throw new DownloadError(`${showAddress(url.href)} redirects to an invalid address.`);
  return target;
}

function toRedirected(from: WebAddress, to: URL, { redact }: DownloadOptions): WebAddress {
  const parsed = parseWebAddress(redact(to.href));
  if ("problem" in parsed)
    throw new DownloadError(`${show(from)} redirects to an address that is not fetched. ${parsed.problem}`);
  return parsed;
}

async function connect(
  { url, host, port }: WebAddress,
  { environment, resolve, signal, allowsPrivate }: DownloadOptions,
): Promise<Response> {
  const isPlainHttp = url.protocol === "http:";
  // As for a provider on this machine, which a proxy cannot reach.
  const upstream = isLoopbackUrl(url.href)
    ? undefined
    : findUpstreamProxy(environment, { host, port }, { isPlainHttp });
  const beyondLimit = findLimitRefusal({ host, port });
  if (beyondLimit !== undefined) throw new HostAddressError(beyondLimit, true);
  if (/(?:^|\.)localhost$/.test(host))
    throw new HostAddressError(`${host} is this computer: name its address, such as 127.0.0.1`, true);
  const addresses = await findHostAddresses(host, {
    mayBePrivate: (await allowsPrivate?.({ host, port })) ?? false,
    hasProxy: upstream !== undefined,
    resolve,
  });
  const init = { headers: HEADERS, redirect: "manual", decompress: false, signal } as const;
  if (upstream) {
    const { authorization } = upstream;
    const place = `${upstream.host.includes(":") ? `[${upstream.host}]` : upstream.host}:${upstream.port}`;
    const proxy = {
      url: `${upstream.isEncrypted ? "https" : "http"}://${place}`,
      ...(authorization !== undefined && { headers: { "Proxy-Authorization": authorization } }),
    };
    return fetch(url.href, { ...init, proxy });
  }
  let problem: unknown;
  for (const pinned of addresses) {
    try {
      return await fetch(toPinned(url, pinned), {
        ...init,
        headers: { ...HEADERS, host: url.host },
        proxy: false,
        ...(!isPlainHttp && !isAddress(host) && { tls: { serverName: host } }),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      problem = error;
    }
  }
  throw problem;
}

/** The same address with the host's resolved address in place of its name. */
function toPinned(url: URL, address: string): string {
  const pinned = new URL(url.href);
  pinned.hostname = address.includes(":") ? `[${address}]` : address;
  return pinned.href;
}

/** Decompresses while it reads: a small body can expand to gigabytes. */
async function readBody(
  { body, headers }: Response,
  { signal, traffic }: { signal: AbortSignal; traffic: Traffic },
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  if (!body) return { bytes: new Uint8Array(), isCut: false };
  const pieces: Uint8Array[] = [];
  let size = 0;
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const piece of source) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_BYTES) return;
    }
  };
  const source = Readable.from(count(body, traffic));
  const decoder = createDecoder(headers.get("content-encoding"));
  try {
    await (decoder ? pipeline(source, decoder, collect, { signal }) : pipeline(source, collect, { signal }));
  } catch (error) {
    // Ending the stream early is reported as an error.
    if (size <= MAX_BYTES) throw error;
  }
  const isCut = size > MAX_BYTES;
  if (isCut) await body.cancel().catch(() => {}); // It is locked while the stream winds down.
  return { bytes: Buffer.concat(pieces).subarray(0, MAX_BYTES), isCut };
}

async function* count(body: AsyncIterable<Uint8Array>, traffic: Traffic): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    traffic.bytes += piece.length;
    yield piece;
  }
}

function createDecoder(encoding: string | null) {
  switch ((encoding ?? "").trim().toLowerCase()) {
    case "":
    case "identity":
      return undefined;
    case "br":
      return createBrotliDecompress();
    case "gzip":
    case "x-gzip":
    case "deflate":
      return createUnzip();
    default:
      throw new DownloadError(
        `The body is compressed by ${showAddress(encoding ?? "")}, which was not requested.`,
      );
  }
}
