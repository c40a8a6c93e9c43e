import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ResolveName } from "../../src/infrastructure/network/host-addresses.ts";
import { matchesHostPattern } from "../../src/infrastructure/network/host-pattern.ts";
import { toHostPatterns } from "../../src/infrastructure/network/network-setting.ts";
import { type ConnectionRecord, NetworkProxy, type ProxyOptions } from "../../src/sandbox/network/proxy.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A proxy with a list of allowed hosts, and what it reports. */
export interface TestProxy extends AsyncDisposable {
  path: string;
  records: ConnectionRecord[];
  /** Resolves when this many connections were reported. */
  reported(count: number): Promise<readonly ConnectionRecord[]>;
  /** A client of the proxy; its label has been sent. */
  connect(): TestClient;
  close(): void;
}

export async function startProxy(
  allow: readonly string[],
  options: Partial<ProxyOptions> = {},
): Promise<TestProxy> {
  const path = `${makeTempDir()}/proxy.sock`;
  const records: ConnectionRecord[] = [];
  const waiting: { count: number; resolve(): void }[] = [];
  const patterns = toHostPatterns(allow);
  const proxy = await NetworkProxy.listen(path, {
    environment: {},
    resolve: async () => [],
    async authorize(wanted) {
      const pattern = patterns.find((each) => matchesHostPattern(each, wanted));
      if (!pattern) return { isAllowed: false, by: "it is not in the list" };
      return { isAllowed: true, by: pattern.text, mayBePrivate: pattern.host === wanted.host };
    },
    onConnection(record) {
      records.push(record);
      for (const { resolve } of waiting.filter(({ count }) => records.length >= count)) resolve();
    },
    ...options,
  });
  const clients: TestClient[] = [];
  return {
    path,
    records,
    async reported(count) {
      if (records.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return records;
    },
    connect() {
      const client = new TestClient(connect({ path, allowHalfOpen: true }));
      clients.push(client);
      client.send("label\n");
      return client;
    },
    close: () => proxy.close(),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.socket.destroy();
      proxy.close();
    },
  };
}

/** Collects what a connection receives. */
export class TestClient {
  received: Buffer = Buffer.alloc(0);
  isEnded = false;
  private changed = Promise.withResolvers<void>();

  constructor(readonly socket: Socket) {
    const change = () => {
      this.changed.resolve();
      this.changed = Promise.withResolvers<void>();
    };
    socket.on("data", (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      change();
    });
    for (const event of ["end", "close", "error"])
      socket.on(event, () => {
        this.isEnded = true;
        change();
      });
  }

  get text(): string {
    return this.received.toString("latin1");
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  /** Resolves with everything received once it matches. @throws Error when the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.isEnded) throw new Error(`The connection ended with ${JSON.stringify(this.text)}.`);
      await this.changed.promise;
    }
    return this.text;
  }

  /** Resolves with everything received, at the end. */
  async end(): Promise<string> {
    while (!this.isEnded) await this.changed.promise;
    return this.text;
  }
}

/** A server on loopback that collects what each connection sends, and answers as told. */
export interface TestServer extends AsyncDisposable {
  port: number;
  connections: TestClient[];
  /** Resolves with connection number `index`. */
  connection(index: number): Promise<TestClient>;
}

export async function startServer(serve: (client: TestClient) => void = () => {}): Promise<TestServer> {
  const connections: TestClient[] = [];
  const arrivals: PromiseWithResolvers<TestClient>[] = [];
  const arrival = (index: number) => (arrivals[index] ??= Promise.withResolvers<TestClient>());
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const client = new TestClient(socket);
    arrival(connections.length).resolve(client);
    connections.push(client);
    serve(client);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    port: address.port,
    connections,
    connection: (index) => arrival(index).promise,
    async [Symbol.asyncDispose]() {
      for (const { socket } of connections) socket.destroy();
      server.close();
    },
  };
}

/** The first bytes of a TLS client that asks for this server; an empty name for one that asks for none. */
export async function recordClientHello(servername: string): Promise<Buffer> {
  await using listener = await startServer();
  const client = connectTls({ host: "127.0.0.1", port: listener.port, ...(servername && { servername }) });
  client.on("error", () => {});
  const connection = await listener.connection(0);
  await connection.until(/./s);
  client.destroy();
  return connection.received;
}

/** Answers each request for a name with the next of these lists; the last one stays. */
export function resolveInTurn(...answers: readonly (readonly string[])[]): ResolveName & { asked: string[] } {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return Object.assign(resolve, { asked });
}
