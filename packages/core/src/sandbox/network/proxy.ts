import { createServer, type Server, type Socket } from "node:net";
import { toCanonicalHost } from "../../infrastructure/network/addresses.ts";
import type { HostAndPort } from "../../infrastructure/network/host-pattern.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import {
  type BodyLength,
  type ForwardedRequest,
  formatForwardedHead,
  formatProxyAnswer,
  HEAD_END,
  MAX_HEAD_BYTES,
  type ProxyRequest,
  parseProxyRequest,
  toAnswerHead,
} from "./http-message.ts";
import { inspectOpening } from "./opening.ts";
import { type Outbound, OutboundError, type OutboundOptions, openOutbound } from "./outbound.ts";
import { passOn, SocketReader, writeChunk } from "./socket-reader.ts";
import { readSocksRequest, replyToSocks, SOCKS_VERSION } from "./socks.ts";

/** A connection that a client requests. */
export interface WantedConnection extends HostAndPort {
  /** The first line of the connection, which identifies its client. */
  label: string;
}

/** The decision about a connection. */
export type Authorization =
  | {
      isAllowed: true;
      /** The rule or answer that allows it, as a clause. */
      by: string;
      /** True for an address that the user has listed, which need not be public. */
      mayBePrivate: boolean;
    }
  | { isAllowed: false; by: string };

/** A connection that has ended or was refused. */
export interface ConnectionRecord extends WantedConnection {
  isAllowed: boolean;
  by: string;
  /** In both directions. */
  bytes: number;
  /** Why an allowed connection failed, as a clause. */
  problem?: string;
}

/** The rules of a proxy, and where it reports. */
export interface ProxyOptions extends OutboundOptions {
  authorize(wanted: WantedConnection): Promise<Authorization>;
  /** Called once for each connection that named a host. */
  onConnection(record: ConnectionRecord): void;
  limits?: Partial<ProxyLimits>;
}

/** Limits for clients. */
interface ProxyLimits {
  /** Connections beyond this number wait. */
  maxConnections: number;
  /** Connections beyond this number are closed immediately. */
  maxWaiting: number;
  /** For the request of a client. */
  requestMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** The same, once one side has ended. */
  halfOpenMs: number;
}

const LIMITS: ProxyLimits = {
  maxConnections: 256,
  maxWaiting: 1_024,
  requestMs: 30_000,
  idleMs: 5 * 60_000,
  halfOpenMs: 60_000,
};

// The line that the relay writes in front of each connection.
const MAX_LABEL_BYTES = 64;

/**
 * A proxy for HTTP, CONNECT and SOCKS 5 on a Unix socket. The first line of each connection is a label, as the relay in
 * the session's network writes it. Whatever a client sends, no exception leaves a connection.
 */
export class NetworkProxy {
  private readonly open = new Set<ClientConnection>();
  private readonly waiting: Socket[] = [];
  private readonly limits: ProxyLimits;
  private readonly server: Server;

  private constructor(private readonly options: ProxyOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.admit(client));
  }

  /** @throws Error if the socket cannot be created at this path. */
  static async listen(path: string, options: ProxyOptions): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    proxy.server.once("error", reject);
    proxy.server.listen(path, resolve);
    await promise;
    // It ends with the session and does not keep the program alive.
    proxy.server.unref();
    return proxy;
  }

  /** Ends all connections; they are reported before this returns. */
  endConnections(): void {
    for (const client of this.waiting.splice(0)) client.destroy();
    for (const connection of [...this.open]) connection.abort();
  }

  close(): void {
    this.server.close();
    this.endConnections();
  }

  private admit(client: Socket): void {
    client.on("error", () => client.destroy());
    if (this.open.size >= this.limits.maxConnections && this.waiting.length >= this.limits.maxWaiting) {
      client.destroy();
      return;
    }
    this.waiting.push(client);
    this.beginWaiting();
  }

  private beginWaiting(): void {
    while (this.open.size < this.limits.maxConnections) {
      const client = this.waiting.shift();
      if (client === undefined) return;
      // A client that has left in the meantime is not served.
      if (!client.destroyed) this.begin(client);
    }
  }

  private begin(client: Socket): void {
    const connection = new ClientConnection(client, this.options, this.limits);
    this.open.add(connection);
    client.once("close", () => {
      this.open.delete(connection);
      this.beginWaiting();
    });
    void connection.serve().finally(() => connection.end());
  }
}

/** One connection of a client, from its first byte to its end. */
class ClientConnection {
  private readonly reader: SocketReader;
  private label = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private idleMs: number;
  private bytes = 0;
  private outbound: Outbound | undefined;
  /** Set while a connection is open and not yet reported. */
  private target: (WantedConnection & { by: string }) | undefined;

  constructor(
    private readonly client: Socket,
    private readonly options: ProxyOptions,
    private readonly limits: ProxyLimits,
  ) {
    this.reader = new SocketReader(client);
    this.idleMs = limits.idleMs;
    client.once("close", () => this.outbound?.socket.destroy());
  }

  /** Never rejects. */
  async serve(): Promise<void> {
    try {
      this.limitTo(this.limits.requestMs);
      const label = await this.reader.readThrough("\n", MAX_LABEL_BYTES);
      if (label === undefined) return;
      this.label = label.toString("latin1").trimEnd();
      const first = await this.reader.peek();
      if (first?.[0] === SOCKS_VERSION) await this.serveSocks();
      else await this.serveHttp();
    } catch {
      // A connection that breaks off: both sides are closed now.
    }
  }

  /** Pending output still arrives; the client may stay connected. */
  end(): void {
    this.outbound?.socket.destroy();
    this.client.end();
    this.client.resume();
    this.limitTo(LINGER_MS);
  }

  /** Ends it now. */
  abort(): void {
    if (this.target) this.report(this.target, { isAllowed: true, by: this.target.by });
    this.client.destroy();
    this.outbound?.socket.destroy();
  }

  private async serveSocks(): Promise<void> {
    const { client, reader } = this;
    const wanted = await readSocksRequest(reader, client);
    if (wanted === undefined) return;
    const opened = await this.openTo(wanted, { isPlainHttp: false });
    if (!opened.isOpen) return replyToSocks(client, opened.isRefusal ? "refused" : "unreachable");
    await replyToSocks(client, "succeeded");
    await this.tunnel(opened);
  }

  private async serveHttp(): Promise<void> {
    const request = await this.readRequest();
    if (request === undefined) return;
    if (request.kind === "forward") return this.forward(request);
    const opened = await this.openTo(request, { isPlainHttp: false });
    if (!opened.isOpen) return this.answer(opened.isRefusal ? 403 : 502, opened.problem);
    await writeChunk(this.client, `HTTP/1.1 200 Connection established${HEAD_END}`);
    await this.tunnel(opened);
  }

  /** Undefined after an unsupported request, which was answered. */
  private async readRequest(origin?: HostAndPort): Promise<ProxyRequest | undefined> {
    const head = await this.reader.readThrough(HEAD_END, MAX_HEAD_BYTES);
    const request = head ? parseProxyRequest(head, origin) : TOO_LONG;
    if ("kind" in request) return request;
    await this.answer(request.status, request.problem);
    return undefined;
  }

  /** Asks whether the connection is allowed, and opens it. Reports it unless `isOpen`. */
  private async openTo(
    wanted: HostAndPort,
    { isPlainHttp }: { isPlainHttp: boolean },
  ): Promise<OpenedTarget> {
    const host = toCanonicalHost(wanted.host);
    const target = {
      host: host ?? wanted.host.slice(0, MAX_SHOWN_HOST),
      port: wanted.port,
      label: this.label,
    };
    const authorization: Authorization =
      host === undefined ? { isAllowed: false, by: "it is not a valid host" } : await this.authorize(target);
    if (!authorization.isAllowed) {
      this.options.onConnection({ ...target, isAllowed: false, by: authorization.by, bytes: 0 });
      return { isOpen: false, isRefusal: true, problem: refusal(target, authorization.by) };
    }
    const { by, mayBePrivate } = authorization;
    try {
      this.limitTo(undefined);
      this.outbound = await openOutbound({ ...target, mayBePrivate, isPlainHttp }, this.options);
      if (this.client.destroyed) this.outbound.socket.destroy();
      this.limitTo(this.idleMs);
      this.target = { ...target, by };
      return { isOpen: true, outbound: this.outbound, target, by };
    } catch (error) {
      const problem = error instanceof Error ? error.message : systemErrorText(error);
      const isRefusal = error instanceof OutboundError && error.isRefusal;
      const record = isRefusal ? { isAllowed: false, by: problem } : { isAllowed: true, by, problem };
      this.options.onConnection({ ...target, ...record, bytes: 0 });
      return { isOpen: false, isRefusal, problem: isRefusal ? refusal(target, problem) : sentence(problem) };
    }
  }

  /** The user may be asked in the meantime. */
  private authorize(target: WantedConnection): Promise<Authorization> {
    this.limitTo(undefined);
    return this.options.authorize(target);
  }

  private async tunnel({ outbound, target, by }: OpenTarget): Promise<void> {
    const opening = inspectOpening(this.reader, target.host);
    const serverBegins = outbound.reader.peek().then(() => "server_begins" as const);
    const first = await Promise.race([opening, serverBegins]);
    const down = first === "server_begins" ? this.passDown(outbound) : undefined;
    const { kind, problem = "" } = { problem: undefined, ...(await opening) };
    if (kind === "refused") return this.report(target, { isAllowed: false, by: problem });
    // The server has sent data already, so it does not wait for a request.
    if (kind === "http" && down === undefined) return this.forwardInTunnel(outbound, { target, by });
    const up = passOn(this.reader, outbound.socket, (count) => this.count(count));
    await this.whileHalfOpen([up, down ?? this.passDown(outbound)]);
    this.report(target, { isAllowed: true, by });
  }

  /** One request; the host is that of the tunnel. */
  private async forwardInTunnel(outbound: Outbound, { target, by }: Pick<OpenTarget, "target" | "by">) {
    const request = await this.readRequest(target);
    if (request?.kind === "forward") await this.exchange(request.request, outbound, target);
    else if (request) await this.answer(400, "This is a tunnel already.");
    this.report(target, { isAllowed: true, by });
  }

  private async forward({ host, port, request }: Extract<ProxyRequest, { kind: "forward" }>): Promise<void> {
    const opened = await this.openTo({ host, port }, { isPlainHttp: true });
    if (!opened.isOpen) return this.answer(opened.isRefusal ? 403 : 502, opened.problem);
    const { outbound, target, by } = opened;
    await this.exchange(request, outbound, target);
    this.report(target, { isAllowed: true, by });
  }

  /** Forwards a request and its answer. Nothing that follows the request is sent. */
  private async exchange(request: ForwardedRequest, outbound: Outbound, target: HostAndPort): Promise<void> {
    const { socket, forwardingProxy } = outbound;
    const head = Buffer.from(formatForwardedHead(request, target, forwardingProxy), "latin1");
    try {
      await this.send(head, socket);
      // The answer may arrive before the end of the request, and may be the last data.
      const sent = this.sendBody(request.body, socket).catch(() => socket.destroy());
      await this.passAnswer(outbound);
      void sent;
    } catch {
      if (this.client.bytesWritten === 0) await this.answer(502, "The server closed the connection.");
    }
  }

  private async sendBody(body: BodyLength, socket: Socket): Promise<void> {
    if (body.kind === "bytes") return this.sendBytes(body.count, socket);
    for (;;) {
      const line = await this.reader.readThrough("\r\n", MAX_CHUNK_LINE_BYTES);
      const [, digits] = /^([\da-f]{1,12})(?:[ \t]*;.*)?\r\n$/i.exec(line?.toString("latin1") ?? "") ?? [];
      if (digits === undefined) throw new Error("The chunks of the request are not valid.");
      const count = parseInt(digits, 16);
      if (count === 0) return this.send(Buffer.from(`0${HEAD_END}`), socket);
      await this.send(Buffer.from(`${count.toString(16)}\r\n`), socket);
      await this.sendBytes(count, socket);
      const end = await this.reader.readExactly(2);
      if (end?.toString("latin1") !== "\r\n") throw new Error("The chunks of the request are not valid.");
      await this.send(end, socket);
    }
  }

  private async sendBytes(count: number, socket: Socket): Promise<void> {
    for (let left = count; left > 0; ) {
      const chunk = await this.reader.read();
      if (chunk === undefined) throw new Error("The request broke off.");
      this.reader.unread(chunk.subarray(left));
      const part = chunk.subarray(0, left);
      left -= part.length;
      await this.send(part, socket);
    }
  }

  private async passAnswer({ reader }: Outbound): Promise<void> {
    for (let isFinal = false; !isFinal; ) {
      const head = await reader.readThrough(HEAD_END, MAX_HEAD_BYTES);
      const answer = head && toAnswerHead(head);
      if (answer === undefined) return this.answer(502, "The server gave no valid answer.");
      await this.send(Buffer.from(answer.text, "latin1"), this.client);
      isFinal = answer.isFinal;
    }
    await passOn(reader, this.client, (count) => this.count(count));
  }

  private passDown({ reader }: Outbound): Promise<void> {
    return passOn(reader, this.client, (count) => this.count(count));
  }

  /** Once one direction has ended, the time limit without data for the other one is shorter. */
  private async whileHalfOpen(directions: readonly Promise<void>[]): Promise<void> {
    const ends = directions.map((direction) => direction.catch(() => this.client.destroy()));
    await Promise.race(ends);
    this.idleMs = this.limits.halfOpenMs;
    this.limitTo(this.idleMs);
    await Promise.all(ends);
  }

  private async send(bytes: Buffer, socket: Socket): Promise<void> {
    this.count(bytes.length);
    await writeChunk(socket, bytes);
  }

  /** Never rejects. */
  private async answer(status: number, text: string): Promise<void> {
    // The client may have left, which has no consequences.
    await writeChunk(this.client, formatProxyAnswer(status, text)).catch(() => {});
  }

  private report(target: WantedConnection, outcome: Pick<ConnectionRecord, "isAllowed" | "by">): void {
    // Only once, although it may have been aborted in the meantime.
    if (this.target === undefined) return;
    this.target = undefined;
    const { host, port, label } = target;
    this.options.onConnection({ host, port, label, ...outcome, bytes: this.bytes });
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.limitTo(this.idleMs);
  }

  /** Ends the connection after this time; undefined: never. */
  private limitTo(limitMs: number | undefined): void {
    clearTimeout(this.timer);
    if (limitMs === undefined || this.client.destroyed) return;
    this.timer = setTimeout(() => {
      this.client.destroy();
      this.outbound?.socket.destroy();
    }, limitMs);
    this.timer.unref();
  }
}

interface OpenTarget {
  isOpen: true;
  outbound: Outbound;
  target: WantedConnection;
  by: string;
}

type OpenedTarget = OpenTarget | { isOpen: false; isRefusal: boolean; problem: string };

// The time for a client to read the last answer.
const LINGER_MS = 2_000;
const MAX_CHUNK_LINE_BYTES = 4_096;
const MAX_SHOWN_HOST = 255;

const TOO_LONG = { status: 400, problem: "The head of the request is too long, or broke off." };

function refusal({ host, port }: HostAndPort, by: string): string {
  return `diligent refused the connection to ${host}:${port}: ${by}.`;
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
