import { pathToFileURL } from "node:url";
import {
  type AuthProvider,
  Client,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { McpServerSetting } from "../../config/schema.ts";
import type { ProgramFetch } from "../../infrastructure/network/program-fetch.ts";
import { replaceUnknownContent } from "./known-content.ts";
import type { ServerTransport } from "./server-definition.ts";

/** What a server lists. */
export type ListedKind = "tools" | "prompts" | "resources";

/** What a server asks of the user or reports; all of it may come at any time. */
export interface ClientHooks {
  /** What the server offers of this kind has changed. */
  onListChanged(kind: ListedKind): void;
  /** A message of the server's log. */
  onLog(text: string): void;
  /** The connection has ended, for whatever reason. */
  onClose(): void;
  /** Asks the user what the server wants to know. */
  elicit(request: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
  /** Lets the model answer the server; only called where the setting `sampling` allows it. */
  sample(request: CreateMessageRequestParams, signal: AbortSignal): Promise<CreateMessageResult>;
}

/** How a connection is opened. */
export interface OpenClientOptions {
  /** With its variables replaced. */
  setting: McpServerSetting;
  kind: ServerTransport;
  hooks: ClientHooks;
  /** The directories that the server is told about; absolute. */
  roots: readonly string[];
  timeoutMs: number;
  /** Creates the transport of a server that is a program. */
  createStdio(): Promise<Transport>;
  /** Sends the requests of a server at an address. */
  fetch: ProgramFetch;
  /** Signs in; left out where a header does that. */
  authProvider?: AuthProvider | undefined;
}

/** Servers only write it to their logs. */
const CLIENT_VERSION = "1";

// More pages than this are not a list but a loop.
const MAX_PAGES = 200;
const REFRESH_AFTER_MS = 300;

/**
 * Connects to a server. This file loads the protocol's library, so it is only loaded when a server is used.
 * @throws whatever the connection fails with; nothing of it is left then.
 */
export async function openClient(options: OpenClientOptions): Promise<Client> {
  const { kind } = options;
  if (kind === "stdio") return connect(await options.createStdio(), options);
  try {
    return await (kind === "sse" ? connectSse(options) : connect(createHttp(options), options));
  } catch (error) {
    if (kind === "sse" || !mayBeSse(error)) throw error;
    // A server of the first revision answers a POST to its address with an error.
    return connectSse(options).catch(() => {
      throw error;
    });
  }
}

/** This transport is older than every negotiation. */
function connectSse(options: OpenClientOptions): Promise<Client> {
  return connect(createSse(options), { ...options, setting: { ...options.setting, protocol: "legacy" } });
}

async function connect(transport: Transport, options: OpenClientOptions): Promise<Client> {
  const client = createClient(options);
  filterContent(transport);
  try {
    await client.connect(transport, { timeout: options.timeoutMs });
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
  client.onclose = options.hooks.onClose;
  void limitLog(client, options.timeoutMs);
  return client;
}

/** A server may write its smallest step to its log otherwise. In the newer era there is no such request. */
async function limitLog(client: Client, timeout: number): Promise<void> {
  if (!client.getServerCapabilities()?.logging || client.getProtocolEra() !== "legacy") return;
  await client.setLoggingLevel("info", { timeout }).catch(() => {});
}

function createClient({ setting, kind, hooks, roots }: OpenClientOptions): Client {
  const client = new Client(
    { name: "diligent", version: CLIENT_VERSION },
    {
      capabilities: {
        roots: {},
        elicitation: { form: {}, url: {} },
        ...(setting.sampling && { sampling: {} }),
      },
      versionNegotiation: { mode: toMode(setting.protocol ?? (kind === "stdio" ? "legacy" : "auto")) },
      listMaxPages: MAX_PAGES,
      listChanged: {
        tools: listens("tools", hooks),
        prompts: listens("prompts", hooks),
        resources: listens("resources", hooks),
      },
    },
  );
  client.setRequestHandler("roots/list", () => ({
    roots: roots.map((path) => ({ uri: pathToFileURL(path).href })),
  }));
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
    hooks.elicit(params, mcpReq.signal),
  );
  if (setting.sampling)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
      hooks.sample(params, mcpReq.signal),
    );
  client.setNotificationHandler("notifications/message", ({ params }) => {
    const text = typeof params.data === "string" ? params.data : JSON.stringify(params.data);
    hooks.onLog(`[${params.level}] ${text}\n`);
  });
  return client;
}

function listens(kind: ListedKind, hooks: ClientHooks) {
  return { autoRefresh: false, debounceMs: REFRESH_AFTER_MS, onChanged: () => hooks.onListChanged(kind) };
}

function toMode(protocol: NonNullable<McpServerSetting["protocol"]>) {
  return protocol === "auto" || protocol === "legacy" ? protocol : { pin: protocol };
}

function createHttp({ setting, authProvider, fetch }: OpenClientOptions): Transport {
  return new StreamableHTTPClientTransport(toUrl(setting), {
    fetch,
    requestInit: { headers: setting.headers ?? {} },
    ...(authProvider && { authProvider }),
  });
}

function createSse({ setting, authProvider, fetch }: OpenClientOptions): Transport {
  return new SSEClientTransport(toUrl(setting), {
    fetch,
    requestInit: { headers: setting.headers ?? {} },
    ...(authProvider && { authProvider }),
  });
}

function toUrl({ url = "" }: McpServerSetting): URL {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new Error("Its url is not an http address.");
  return parsed;
}

/** True for an answer 4xx that is not about signing in. */
function mayBeSse(error: unknown): boolean {
  if (error instanceof UnauthorizedError || !(error instanceof SdkHttpError)) return false;
  return error.status >= 400 && error.status < 500 && ![401, 403, 407, 429].includes(error.status);
}

/** See `replaceUnknownContent`. */
function filterContent(transport: Transport): void {
  let handler: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: (): Transport["onmessage"] =>
      handler &&
      ((message, extra) => {
        replaceUnknownContent(message);
        handler?.(message, extra);
      }),
    set: (next: Transport["onmessage"]) => {
      handler = next;
    },
  });
}
