import type { ServerProgram } from "../../infrastructure/process/server-process.ts";
import { monotonicMs, sleep } from "../../infrastructure/runtime.ts";
import type { DiagnosticSource } from "./diagnose.ts";
import { Publications } from "./diagnose.ts";
import type { LanguageServerDefinition } from "./find-servers.ts";
import { countSettings, readCapabilities, readPublication, readRegistrations, toUri } from "./messages.ts";
import { type FileProblems, OpenDocuments, type TextChange } from "./open-documents.ts";
import { RpcConnection, type RpcHandler } from "./rpc-connection.ts";

/** What a server may use. */
export interface ServerLimits {
  /** How long the result of an edit waits for its errors. */
  waitMs: number;
  /** How long it may take to start. */
  startMs: number;
  /** Of memory, with all processes that it has started. */
  maxBytes: number;
  /** How often its memory is measured. */
  measureEveryMs: number;
}

/** TypeScript's takes a gigabyte for a large project, rust-analyzer two. */
export const DEFAULT_LIMITS: ServerLimits = {
  waitMs: 1_500,
  startMs: 45_000,
  maxBytes: 3 * 1024 ** 3,
  measureEveryMs: 3_000,
};

/** Where a server is started, and who hears of it. */
export interface ServerPlace {
  root: string;
  limits: ServerLimits;
  /** @throws Error with a sentence when it cannot be started. */
  prepare(definition: LanguageServerDefinition): Promise<ServerProgram>;
  /** Reports to the user, in a sentence, why a server is not used any more. Called once a server. */
  onProblem(message: string): void;
}

/** A server that runs. */
export interface RunningServer {
  connection: RpcConnection;
  documents: OpenDocuments;
  source: DiagnosticSource;
}

// It is started again once; a server that ends twice will do so a third time.
const MAX_STARTS = 2;
// How long a server may take for what it has to say right after its start.
const SETTLE_MS = 2_000;

/** One server: started when it is first needed, again once after it has ended, and ended with the harness. */
export class LanguageServer {
  /** While it runs. */
  running: RunningServer | undefined;
  private connection: RpcConnection | undefined;
  private starting: Promise<RunningServer> | undefined;
  private starts = 0;
  private isOff = false;
  private isClosed = false;
  /** Why it ended last time. */
  private problem: string | undefined;
  /** Changes that no round has taken yet, by path. */
  private readonly waiting = new Map<string, TextChange>();
  private round: Promise<boolean> | undefined;
  private endRound = new AbortController();
  /** False after a result has waited for nothing: later ones do not wait before it has started, or answered. */
  private isPrompt = true;

  constructor(
    readonly definition: LanguageServerDefinition,
    private readonly place: ServerPlace,
  ) {}

  /** False once it is not used any more. */
  get isUsable(): boolean {
    return !this.isOff && !this.isClosed;
  }

  /** Why it is not used any more; a sentence. */
  get failure(): string | undefined {
    return this.isOff ? this.problem : undefined;
  }

  /** Starts it if it does not run. @throws Error for the model. */
  async ready(): Promise<RunningServer> {
    if (this.running) return this.running;
    if (!this.isUsable) throw new Error(this.describeFailure());
    this.starting ??= this.start().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /**
   * Compares changed files, and returns the new errors as soon as they are known; nothing if that takes longer than the
   * limit. Then they are part of a later result, if they are still there.
   */
  async compare(changes: readonly TextChange[], signal: AbortSignal): Promise<FileProblems[]> {
    if (!this.isUsable) return [];
    for (const change of changes) {
      const earlier = this.waiting.get(change.path);
      this.waiting.set(change.path, { ...change, before: earlier ? earlier.before : change.before });
    }
    // What is being compared is not what is there now.
    this.endRound.abort();
    this.round = this.runRound(this.round);
    const { round } = this;
    void round.then((isDone) => {
      if (isDone) this.isPrompt = true;
    });
    if (!this.isPrompt) return [];
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal.addEventListener("abort", abort, { once: true });
    const isDone = await Promise.race([
      round,
      sleep(this.place.limits.waitMs, stop.signal).then(() => undefined),
    ]);
    signal.removeEventListener("abort", abort);
    stop.abort();
    if (isDone === undefined) this.isPrompt = false;
    return isDone ? (this.running?.documents.takeAdded() ?? []) : [];
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.endRound.abort();
    await this.connection?.close();
  }

  /** One after the other; a round takes all changes that wait. */
  private async runRound(previous: Promise<boolean> | undefined): Promise<boolean> {
    await previous;
    if (this.waiting.size === 0 || !this.isUsable) return false;
    const controller = new AbortController();
    this.endRound = controller;
    try {
      const { documents } = await this.ready();
      const changes = [...this.waiting.values()];
      this.waiting.clear();
      return await documents.compare(changes, controller.signal);
    } catch {
      return false; // It has ended; `onProblem` says why.
    }
  }

  private async start(): Promise<RunningServer> {
    this.starts += 1;
    const { limits, prepare } = this.place;
    const begin = monotonicMs();
    let connection: RpcConnection | undefined;
    try {
      const program = await prepare(this.definition).catch((error: unknown) => {
        // That will not be different the next time.
        this.starts = MAX_STARTS;
        throw error;
      });
      if (this.isClosed) throw new Error("The session has ended.");
      const registered = new Set<string>();
      const publications = new Publications();
      let documents: OpenDocuments | undefined;
      const opened = new RpcConnection(
        program,
        createHandler(this.place.root, {
          onRegistration: (methods) => {
            for (const method of methods) registered.add(method);
          },
          onPublication: (params) => {
            const publication = readPublication(params);
            if (publication) publications.receive(publication, documents?.has(publication.path) ?? false);
          },
          onEnd: (problem) => this.handleEnd(opened, problem),
        }),
      );
      connection = opened;
      this.connection = opened;
      await opened.start();
      const measuring = this.watchMemory(opened);
      const result = await opened.request(
        "initialize",
        toInitializeParams(this.place.root, this.definition),
        {
          timeoutMs: limits.startMs,
        },
      );
      const capabilities = readCapabilities(result);
      if (!capabilities) throw new Error("Its answer to initialize is not valid.");
      opened.notify("initialized", {});
      // By its answer to a request that no server knows, it has registered what it registers.
      await opened.request("$/diligent/seen", {}, { timeoutMs: SETTLE_MS }).catch(() => {});
      if (this.connection !== opened) throw new Error(this.problem ?? "It has ended.");
      void measuring;
      const source = { connection: opened, capabilities, registered, publications };
      documents = new OpenDocuments(source);
      this.running = { connection: opened, documents, source };
      this.isPrompt = true;
      return this.running;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const seconds = Math.round((monotonicMs() - begin) / 1_000);
      this.fail(seconds * 1_000 >= limits.startMs ? `It did not start within ${seconds} s.` : reason);
      await connection?.close();
      throw new Error(this.describeFailure());
    }
  }

  private handleEnd(connection: RpcConnection, problem: string): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    const wasRunning = this.running !== undefined;
    this.running = undefined;
    this.problem = problem;
    // A start reports its own failure.
    if (wasRunning) this.fail(problem);
  }

  private fail(problem: string): void {
    this.problem = problem;
    if (this.isClosed || this.isOff || this.starts < MAX_STARTS) return;
    this.isOff = true;
    this.place.onProblem(this.describeFailure());
  }

  private describeFailure(): string {
    return `The language server ${this.definition.name} is not used: ${this.problem ?? "it has been closed."}`;
  }

  /** Ends it when it uses more memory than it may. */
  private async watchMemory(connection: RpcConnection): Promise<void> {
    const { maxBytes, measureEveryMs } = this.place.limits;
    const measure = () => {
      if (this.connection !== connection) return clearInterval(timer);
      if ((connection.memoryBytes() ?? 0) <= maxBytes) return;
      clearInterval(timer);
      void connection.close(`It used more than ${Math.round(maxBytes / 1024 ** 2)} MB of memory.`);
    };
    const timer = setInterval(measure, measureEveryMs);
    timer.unref();
  }
}

interface HandlerHooks {
  onRegistration(methods: readonly string[]): void;
  onPublication(params: unknown): void;
  onEnd(problem: string): void;
}

/** Answers a server's requests. It can change nothing: edits that it wants to make are refused. */
function createHandler(root: string, { onRegistration, onPublication, onEnd }: HandlerHooks): RpcHandler {
  return {
    answer(method, params) {
      switch (method) {
        case "workspace/applyEdit":
          return { applied: false, failureReason: "Only the user's agent changes files." };
        case "workspace/configuration":
          return Array.from({ length: countSettings(params) }, () => ({}));
        case "workspace/workspaceFolders":
          return [toFolder(root)];
        case "client/registerCapability":
          onRegistration(readRegistrations(params));
          return null;
        case "client/unregisterCapability":
        case "window/workDoneProgress/create":
        case "window/showMessageRequest":
        case "workspace/diagnostic/refresh":
          return null;
        case "window/showDocument":
          return { success: false };
        default:
          return undefined;
      }
    },
    notify(method, params) {
      if (method === "textDocument/publishDiagnostics") onPublication(params);
    },
    onEnd,
  };
}

function toFolder(root: string): { uri: string; name: string } {
  return { uri: toUri(root), name: root.split("/").at(-1) ?? "" };
}

function toInitializeParams(root: string, { initializationOptions }: LanguageServerDefinition): object {
  return {
    initializationOptions,
    // In its sandbox it would not find our process, and end.
    processId: null,
    clientInfo: { name: "diligent" },
    rootPath: root,
    rootUri: toUri(root),
    workspaceFolders: [toFolder(root)],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      workspace: { configuration: true, workspaceFolders: true, applyEdit: false, symbol: {} },
      textDocument: {
        synchronization: {},
        publishDiagnostics: { versionSupport: true },
        diagnostic: { dynamicRegistration: true },
        definition: { linkSupport: true },
        references: {},
        hover: { contentFormat: ["markdown", "plaintext"] },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        rename: { prepareSupport: false },
      },
    },
  };
}
