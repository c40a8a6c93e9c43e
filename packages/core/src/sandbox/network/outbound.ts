import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { isAddress } from "../../infrastructure/network/addresses.ts";
import {
  findHostAddresses,
  HostAddressError,
  type ResolveName,
  resolveBySystem,
} from "../../infrastructure/network/host-addresses.ts";
import { formatHostAndPort, type HostAndPort } from "../../infrastructure/network/host-pattern.ts";
import { findUpstreamProxy, type UpstreamProxy } from "../../infrastructure/network/upstream-proxy.ts";
import { type Environment, sleep } from "../../infrastructure/runtime.ts";
import { HEAD_END, MAX_HEAD_BYTES } from "./http-message.ts";
import { SocketReader, writeChunk } from "./socket-reader.ts";

/** How connections leave this machine. */
export interface OutboundOptions {
  /** Its variables name the user's own proxy. */
  environment: Environment;
  /** By default, the system's resolver. */
  resolve?: ResolveName | undefined;
  /** The time limit for resolving the name and for connecting to each address. */
  timeoutMs?: number | undefined;
}

/** A connection to make. The host is canonical and allowed. */
export interface OutboundTarget extends HostAndPort {
  /** True for an address that the user has listed, which need not be public. */
  mayBePrivate: boolean;
  /** The proxy forwards a plain HTTP request; otherwise it passes bytes through. */
  isPlainHttp: boolean;
}

/** An open connection; for plain HTTP perhaps one to the user's own proxy. */
export interface Outbound {
  socket: Socket;
  reader: SocketReader;
  /** Set if requests go to another proxy, which forwards them. */
  forwardingProxy?: UpstreamProxy;
}

/** Why there is no connection: a clause, and whether the host rules are the reason. */
export class OutboundError extends Error {
  constructor(
    message: string,
    readonly isRefusal: boolean,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 15_000;

/**
 * Connects to a host. A name is resolved once, and the connection is made to a checked address, so that a later
 * change of the name has no effect.
 *
 * @throws OutboundError
 */
export async function openOutbound(target: OutboundTarget, options: OutboundOptions): Promise<Outbound> {
  const proxy = findProxy(target, options);
  const addresses = await findAddresses(target, { ...options, hasProxy: proxy !== undefined });
  if (proxy === undefined) return toOutbound(await connectToAny(addresses, target.port, options));
  const socket = await openSocket(proxy, options, proxy.isEncrypted ? proxy.host : undefined);
  if (target.isPlainHttp) return { ...toOutbound(socket), forwardingProxy: proxy };
  return openTunnel(toOutbound(socket), target, { proxy, ...options });
}

function findProxy(target: OutboundTarget, { environment }: OutboundOptions): UpstreamProxy | undefined {
  try {
    return findUpstreamProxy(environment, target, target);
  } catch (error) {
    throw new OutboundError(error instanceof Error ? error.message : String(error), false);
  }
}

function toOutbound(socket: Socket): Outbound {
  return { socket, reader: new SocketReader(socket) };
}

/** The user's own proxy resolves names itself, so a name that is unknown here is left to it. */
async function findAddresses(
  { host, mayBePrivate }: OutboundTarget,
  { resolve = resolveBySystem, hasProxy, timeoutMs = TIMEOUT_MS }: OutboundOptions & { hasProxy: boolean },
): Promise<readonly string[]> {
  if (/(?:^|\.)localhost$/.test(host))
    throw new OutboundError(`${host} is reached directly, not through the proxy`, true);
  const resolveInTime: ResolveName = (name) => within(timeoutMs, resolve(name));
  try {
    return await findHostAddresses(host, { mayBePrivate, hasProxy, resolve: resolveInTime });
  } catch (error) {
    throw error instanceof HostAddressError ? new OutboundError(error.message, error.isRefusal) : error;
  }
}

async function connectToAny(
  addresses: readonly string[],
  port: number,
  options: OutboundOptions,
): Promise<Socket> {
  let problem: unknown;
  for (const host of addresses) {
    try {
      return await openSocket({ host, port }, options);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** @param serverName set if the connection is encrypted. */
async function openSocket(
  { host, port }: HostAndPort,
  { timeoutMs = TIMEOUT_MS }: OutboundOptions,
  serverName?: string,
): Promise<Socket> {
  const socket =
    serverName === undefined
      ? connect({ host, port, allowHalfOpen: true, noDelay: true })
      : connectTls({ host, port, ...(!isAddress(serverName) && { servername: serverName }) });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(serverName === undefined ? "connect" : "secureConnect", () => resolve());
  // Also for later errors: an error without a listener would end the program.
  socket.on("error", reject);
  try {
    await within(timeoutMs, promise);
    return socket;
  } catch (error) {
    socket.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    throw new OutboundError(`no connection to ${formatHostAndPort({ host, port })}: ${reason}`, false);
  }
}

async function openTunnel(
  outbound: Outbound,
  target: HostAndPort,
  { proxy, timeoutMs = TIMEOUT_MS }: OutboundOptions & { proxy: UpstreamProxy },
): Promise<Outbound> {
  const { socket, reader } = outbound;
  const place = formatHostAndPort(target);
  const { authorization } = proxy;
  const lines = [
    `CONNECT ${place} HTTP/1.1`,
    `Host: ${place}`,
    ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`]),
  ];
  try {
    await writeChunk(socket, lines.join("\r\n") + HEAD_END);
    const head = await within(timeoutMs, reader.readThrough(HEAD_END, MAX_HEAD_BYTES));
    const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(head?.toString("latin1") ?? "") ?? [];
    if (status?.startsWith("2")) return outbound;
    throw new Error(status === undefined ? "it did not answer" : `it answered with ${status}`);
  } catch (error) {
    socket.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    throw new OutboundError(`your proxy ${formatHostAndPort(proxy)} opened no connection: ${reason}`, false);
  }
}

/** @throws Error if it takes longer. */
async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = sleep(timeoutMs, late.signal).then(() => {
    if (!late.signal.aborted) throw new Error(`no answer within ${timeoutMs / 1000} s`);
    return promise;
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
    // The result is no longer needed.
    timeout.catch(() => {});
    promise.catch(() => {});
  }
}
