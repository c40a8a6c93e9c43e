import type {
  CallToolResult,
  Client,
  GetPromptResult,
  ReadResourceResult,
} from "@modelcontextprotocol/client";
import type { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import { monotonicMs, sleep } from "../../infrastructure/runtime.ts";
import {
  type CatalogPrompt,
  type CatalogTool,
  MAX_RESOURCES,
  type ServerCatalog,
  toCatalogTools,
  toInstructions,
  toPlainText,
} from "./catalog.ts";
import type { ClientHooks, ListedKind } from "./open-client.ts";
import { DEFAULT_TIMEOUT_MS, type ServerDefinition } from "./server-definition.ts";
import { createServerLog } from "./stdio-transport.ts";

/** `idle`: not started yet. `failed`: the next use starts it again, up to three times. */
export type ConnectionState = "idle" | "connecting" | "ready" | "failed" | "closed";

/** What a connection needs from its surroundings. */
export interface ConnectionDeps {
  /** Opens a client; loads the protocol's library. */
  open(definition: ServerDefinition, hooks: ClientHooks, log: ByteRing): Promise<Client>;
  elicit: ClientHooks["elicit"];
  sample: ClientHooks["sample"];
  /** Called when the state has changed, or what the server offers. */
  onChange(connection: ServerConnection): void;
}

/** A call of a tool. */
export interface ToolCallOptions {
  signal: AbortSignal;
  onProgress?(text: string): void;
}

// A server that cannot be started three times in a row will not be the fourth time either.
const MAX_FAILURES = 3;
const FIRST_PAUSE_MS = 250;
// A call that reports progress may take longer than its time limit, but not for ever.
const MAX_CALL_MS = 60 * 60_000;
const SHOWN_LOG_BYTES = 600;
// Somebody who types waits no longer for suggestions.
const COMPLETION_MS = 1_500;
const TYPABLE = /^[^\p{Cc}\p{Cf}"]{1,200}$/u;

/** The connection to one server, which is started when it is needed, and again after it has ended. */
export class ServerConnection {
  state: ConnectionState = "idle";
  /** Why it could not be used last time; a sentence. */
  error: string | undefined;
  /** What the server offers, once it was reached. */
  catalog: ServerCatalog | undefined;
  /** What it has printed, and the messages of its log. */
  readonly log = createServerLog();
  private client: Client | undefined;
  private opening: Promise<Client> | undefined;
  private failures = 0;
  private lastFailureAt = 0;

  constructor(
    readonly definition: ServerDefinition,
    private readonly deps: ConnectionDeps,
  ) {}

  /** Milliseconds for connecting, and for a call without progress. */
  get timeoutMs(): number {
    return this.definition.setting.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** What it has printed last. */
  readLog(maxBytes?: number): string {
    return this.log.read(maxBytes).toString("utf8");
  }

  /**
   * Connects if necessary.
   * @throws Error, for the model, when the server cannot be used; with the signal's reason when that is aborted.
   */
  async ready(signal?: AbortSignal): Promise<Client> {
    // While it is opening there is a client already, but no list of its tools yet.
    if (this.client && !this.opening) return this.client;
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    // Without a listener, a failure that nobody waits for would end the program.
    this.opening.catch(() => {});
    return orAborted(this.opening, signal);
  }

  /** Ends it, and forgets how often it has failed; the next use starts it again. */
  async restart(): Promise<void> {
    await this.end();
    this.failures = 0;
    this.error = undefined;
    this.setState("idle");
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.setState("closed");
    await this.end();
  }

  /**
   * Calls a tool, once: it may have had its effect even if the call fails.
   * @throws Error for the model.
   */
  async call(
    { name, inputSchema }: CatalogTool,
    input: Record<string, unknown>,
    { signal, onProgress }: ToolCallOptions,
  ): Promise<CallToolResult> {
    const client = await this.ready(signal);
    const startedAt = monotonicMs();
    try {
      const result = await client.callTool(
        { name, arguments: input },
        {
          signal,
          timeout: this.timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: MAX_CALL_MS,
          onprogress: ({ progress, total, message }) =>
            onProgress?.(describeProgress({ progress, total, message })),
          // Without an output schema: a result that does not match it is still what the tool has answered.
          toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" } },
        },
      );
      this.failures = 0;
      return result;
    } catch (error) {
      throw await this.toCallError(error, { signal, startedAt });
    }
  }

  /** @throws Error for the model. */
  async readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const client = await this.ready(signal);
    return client.readResource({ uri }, { signal, timeout: this.timeoutMs });
  }

  /** The resources and the templates of their addresses. @throws Error for the model. */
  async listResources(signal?: AbortSignal): Promise<ListedResource[]> {
    const client = await this.ready(signal);
    const options = { timeout: this.timeoutMs, ...(signal && { signal }) };
    if (!client.getServerCapabilities()?.resources) return [];
    const { resources } = await client.listResources(undefined, options);
    const templates = await client.listResourceTemplates(undefined, options).catch(() => undefined);
    return [
      ...resources.map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
      ...(templates?.resourceTemplates ?? []).map(({ uriTemplate, name, description, mimeType }) => ({
        uri: uriTemplate,
        name,
        description,
        mimeType,
      })),
    ];
  }

  /** @throws Error for the user. */
  async getPrompt(name: string, input: Record<string, string>): Promise<GetPromptResult> {
    const client = await this.ready();
    return client.getPrompt({ name, arguments: input }, { timeout: this.timeoutMs });
  }

  /** Values for an argument of a prompt; none from a server that does not run, or does not know any. */
  async complete(
    prompt: string,
    argument: { name: string; value: string },
    others: Record<string, string>,
  ): Promise<string[]> {
    const { client } = this;
    if (!client?.getServerCapabilities()?.completions) return [];
    const ref = { type: "ref/prompt" as const, name: prompt };
    const context = { arguments: others };
    const found = await client
      .complete({ ref, argument, context }, { timeout: COMPLETION_MS })
      .catch(() => undefined);
    return (found?.completion.values ?? []).filter((value) => TYPABLE.test(value));
  }

  private async open(): Promise<Client> {
    const { definition } = this;
    if (this.state === "closed") throw new Error(`The server ${definition.name} has been closed.`);
    if (this.failures >= MAX_FAILURES) throw this.unusable();
    if (this.failures > 0) await this.pause();
    this.setState("connecting");
    try {
      const client = await this.deps.open(definition, this.createHooks(), this.log);
      this.client = client;
      this.catalog = await this.readCatalog(client);
      if (this.isClosed()) throw new Error("It has been closed.");
      this.error = undefined;
      this.setState("ready");
      return client;
    } catch (error) {
      await this.end();
      this.fail(describeOpenError(error, this));
      throw this.unusable();
    }
  }

  private isClosed(): boolean {
    return this.state === "closed";
  }

  private unusable(): Error {
    const more =
      this.failures >= MAX_FAILURES
        ? ` It is not tried again before /mcp restart ${this.definition.name}.`
        : "";
    return new Error(`The server ${this.definition.name} cannot be used. ${this.error ?? ""}${more}`);
  }

  private async pause(): Promise<void> {
    const dueAt = this.lastFailureAt + FIRST_PAUSE_MS * 4 ** (this.failures - 1);
    const leftMs = dueAt - monotonicMs();
    if (leftMs > 0) await sleep(leftMs);
  }

  private createHooks(): ClientHooks {
    return {
      elicit: this.deps.elicit,
      sample: this.deps.sample,
      onLog: (text) => this.log.write(new TextEncoder().encode(text)),
      onListChanged: (kind) => void this.refresh(kind),
      onClose: () => this.handleClose(),
    };
  }

  private async readCatalog(client: Client): Promise<ServerCatalog> {
    const options = { timeout: this.timeoutMs };
    const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
    const listed = tools ? (await client.listTools(undefined, options)).tools : [];
    return {
      instructions: toInstructions(client.getInstructions()),
      tools: toCatalogTools(listed),
      prompts: prompts ? await listPrompts(client, options).catch(() => []) : [],
      hasResources: resources !== undefined,
      resources: resources ? await listAddresses(client, options).catch(() => []) : [],
    };
  }

  /** What was known stays when it cannot be listed now. */
  private async refresh(kind: ListedKind): Promise<void> {
    const { client } = this;
    if (!client || !this.catalog) return;
    try {
      const options = { timeout: this.timeoutMs, cacheMode: "refresh" as const };
      const changed =
        kind === "tools"
          ? { tools: toCatalogTools((await client.listTools(undefined, options)).tools) }
          : kind === "prompts"
            ? { prompts: await listPrompts(client, options) }
            : { resources: await listAddresses(client, options) };
      this.catalog = { ...this.catalog, ...changed };
      this.deps.onChange(this);
    } catch (error) {
      this.log.write(new TextEncoder().encode(`[${kind} not listed] ${messageOf(error)}\n`));
    }
  }

  private handleClose(): void {
    if (!this.client) return;
    this.client = undefined;
    if (this.state !== "ready") return;
    this.fail(`It has ended unexpectedly.${this.describeLog()}`);
  }

  private fail(error: string): void {
    this.failures += 1;
    this.lastFailureAt = monotonicMs();
    this.error = error;
    this.setState("failed");
  }

  private setState(state: ConnectionState): void {
    if (this.state === "closed") return;
    this.state = state;
    this.deps.onChange(this);
  }

  private async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.close().catch(() => {});
  }

  /** The end of what it has printed, for a failure. */
  describeLog(): string {
    const text = toPlainText(this.readLog(SHOWN_LOG_BYTES), SHOWN_LOG_BYTES);
    return text === "" ? "" : ` It printed: ${text}`;
  }

  private async toCallError(
    error: unknown,
    { signal, startedAt }: { signal: AbortSignal; startedAt: number },
  ): Promise<Error> {
    const { name } = this.definition;
    if (signal.aborted) return new Error("Interrupted.");
    const code = codeOf(error);
    if (code === "REQUEST_TIMEOUT") {
      const seconds = Math.round((monotonicMs() - startedAt) / 1_000);
      return new Error(
        `The server ${name} did not answer within ${seconds} s; the call was cancelled. It may have had an effect. timeoutMs in its settings is the limit.`,
      );
    }
    if (code === "CONNECTION_CLOSED" || !this.client) {
      return new Error(
        `The server ${name} ended during the call, which may have had an effect.${this.describeLog()}`,
      );
    }
    if (isLostSession(error)) await this.end();
    if (error instanceof Error && error.name === "InsufficientScopeError")
      return new Error(
        `The server ${name} wants you to sign in with more rights: run diligent mcp login ${name}.`,
      );
    return new Error(`The server ${name} answered with an error: ${toPlainText(messageOf(error), 2_000)}`);
  }
}

async function listPrompts(client: Client, options: ListOptions): Promise<CatalogPrompt[]> {
  const { prompts } = await client.listPrompts(undefined, options);
  return prompts.map(({ name, description, arguments: all = [] }) => ({
    name,
    description: toPlainText(description ?? "", 500),
    arguments: all.map((each) => ({ name: each.name, isRequired: each.required === true })),
  }));
}

async function listAddresses(client: Client, options: ListOptions): Promise<string[]> {
  const { resources } = await client.listResources(undefined, options);
  return resources.slice(0, MAX_RESOURCES).map(({ uri }) => uri);
}

/** In milliseconds. */
interface ListOptions {
  timeout: number;
  /** Left out: a list that the client still has will do. */
  cacheMode?: "refresh";
}

/** A resource, or a template of its address. */
export interface ListedResource {
  uri: string;
  name: string;
  description?: string | undefined;
  mimeType?: string | undefined;
}

function describeProgress({
  progress,
  total,
  message,
}: {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${toPlainText(message, 500)}`;
}

function describeOpenError(error: unknown, connection: ServerConnection): string {
  const text = toPlainText(messageOf(error), 1_000);
  const code = codeOf(error);
  if (code === "REQUEST_TIMEOUT")
    return `It did not answer within ${connection.timeoutMs / 1_000} s.${connection.describeLog()}`;
  const isRefused = (error instanceof Error && error.name === "UnauthorizedError") || /HTTP 401\b/.test(text);
  if (isRefused && connection.definition.setting.headers?.Authorization !== undefined)
    return "It refuses the Authorization header that is configured.";
  if (isRefused) return `It wants you to sign in: run diligent mcp login ${connection.definition.name}.`;
  if (/ECONNREFUSED|ConnectionRefused/.test(text)) return "Nothing answers at its address.";
  // The library's words, without a code, for a message to a server that has ended since the last answer.
  if (code === "CONNECTION_CLOSED" || text === "Not connected")
    return `It ended before it could be used.${connection.describeLog()}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The server no longer knows the session: the next use starts another one. */
function isLostSession(error: unknown): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === 404;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new Error("Interrupted."));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
