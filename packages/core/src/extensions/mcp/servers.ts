import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from "@modelcontextprotocol/client";
import type { LoadedConfig } from "../../config/loader.ts";
import { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
import type { TrafficWatcher } from "../../infrastructure/network/connection.ts";
import { createProgramFetch } from "../../infrastructure/network/program-fetch.ts";
import type { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { readCatalog, type ServerCatalog, saveCatalog } from "./catalog.ts";
import { ServerConnection } from "./connection.ts";
import type { ClientHooks } from "./open-client.ts";
import { DEFAULT_TIMEOUT_MS, expandSetting, type ServerDefinition } from "./server-definition.ts";
import { TokenStore } from "./token-store.ts";

/** Where servers run, and who hears of them. */
export interface ServersOptions {
  definitions: readonly ServerDefinition[];
  environment: Environment;
  loaded: LoadedConfig;
  /** Called when a server's state has changed, or what it offers. */
  onChange?(connection: ServerConnection): void;
  /** Reports to the user, in a sentence. */
  notify?(message: string): void;
  /** Receives the connections of servers. */
  traffic?: TrafficWatcher | undefined;
  /** Asks the user what a server wants to know; without it, every such question is declined. */
  elicit?(server: string, request: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
  /** Lets a model answer a server. */
  sample?(
    server: string,
    request: CreateMessageRequestParams,
    signal: AbortSignal,
  ): Promise<CreateMessageResult>;
}

/** The servers of a harness: its sessions and their sub-agents share them. */
export class McpServers {
  /** By name, in the order of the names; only those that are enabled and have no problem. */
  readonly connections: ReadonlyMap<string, ServerConnection>;
  private readonly temporaryDirectory = new SessionTempDir();
  private closing: Promise<void> | undefined;

  constructor(private readonly options: ServersOptions) {
    const usable = options.definitions.filter(
      ({ state, problem }) => state === "enabled" && problem === undefined,
    );
    this.connections = new Map(usable.map((definition) => [definition.name, this.connect(definition)]));
  }

  /** Also those that are not used, and why. */
  get definitions(): readonly ServerDefinition[] {
    return this.options.definitions;
  }

  /** What a server offers, or offered last time; undefined if it was never reached. */
  catalogOf(connection: ServerConnection): ServerCatalog | undefined {
    connection.catalog ??= readCatalog(this.options.environment, connection.definition.id);
    return connection.catalog;
  }

  /** Starts connecting to all of them; nothing waits for it. */
  start(): void {
    for (const connection of this.connections.values()) void connection.ready().catch(() => {});
  }

  /** Ends all of them. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.close()));
    this.temporaryDirectory.remove();
  }

  private connect(definition: ServerDefinition): ServerConnection {
    const { elicit, sample } = this.options;
    return new ServerConnection(definition, {
      open: (...given) => this.open(...given),
      elicit: async (request, signal) =>
        elicit ? elicit(definition.name, request, signal) : { action: "decline" },
      sample: async (request, signal) => {
        if (!sample) throw new Error("No model answers here.");
        return sample(definition.name, request, signal);
      },
      onChange: (connection) => {
        const { catalog } = connection;
        if (connection.state === "ready" && catalog)
          // The next session then only needs to ask the server again.
          void saveCatalog(this.options.environment, definition.id, catalog).catch(() => {});
        this.options.onChange?.(connection);
      },
    });
  }

  private async open(definition: ServerDefinition, hooks: ClientHooks, log: ByteRing) {
    const { environment, loaded, notify, traffic } = this.options;
    const { name } = definition;
    const fetch = createProgramFetch({
      ...{ purpose: "mcp", by: "the server's configuration", command: name },
      watch: (...connection) => traffic?.watch(...connection),
    });
    const setting = expandSetting(definition, environment);
    const { openClient } = await import("./open-client.ts");
    const isSignedByHeader = Object.keys(setting.headers ?? {}).some((name) => /^authorization$/i.test(name));
    const authProvider =
      setting.url === undefined || isSignedByHeader
        ? undefined
        : (await import("./oauth.ts")).createTokenProvider(
            { server: definition.name, url: setting.url, setting },
            new TokenStore(environment),
            fetch,
          );
    return openClient({
      setting,
      fetch,
      authProvider,
      kind: definition.transport,
      hooks,
      roots: [loaded.projectRoot],
      timeoutMs: setting.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      createStdio: async () => {
        const [{ prepareProgram }, { StdioTransport }] = await Promise.all([
          import("./server-program.ts"),
          import("./stdio-transport.ts"),
        ]);
        const { temporaryDirectory } = this;
        const program = await prepareProgram(definition, setting, {
          environment,
          loaded,
          temporaryDirectory,
          notify: (message) => notify?.(message),
          traffic,
        });
        return new StdioTransport(program, log);
      },
    });
  }
}
