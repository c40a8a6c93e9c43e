import { sleep } from "../../infrastructure/runtime.ts";
import {
  type Capabilities,
  type Diagnostic,
  type Publication,
  readReport,
  readTsserverReport,
} from "./messages.ts";
import { ResponseError, type RpcConnection } from "./rpc-connection.ts";

// How servers say what is wrong with a file: some are asked, others publish it when they are ready.

/** A document as the server has it. */
export interface SentDocument {
  path: string;
  uri: string;
  version: number;
}

/** Where the diagnostics come from. */
export interface DiagnosticSource {
  connection: RpcConnection;
  capabilities: Capabilities;
  /** Methods that the server has registered after its start. */
  registered: ReadonlySet<string>;
  publications: Publications;
}

const TSSERVER_COMMAND = "typescript.tsserverRequest";

/** True if the server answers when it is asked; then other open files can be asked about, too. */
export function canAsk({
  capabilities,
  registered,
}: Pick<DiagnosticSource, "capabilities" | "registered">): boolean {
  return (
    capabilities.diagnosticProvider !== undefined ||
    registered.has("textDocument/diagnostic") ||
    hasTsserver(capabilities)
  );
}

function hasTsserver({ executeCommandProvider }: Capabilities): boolean {
  return executeCommandProvider?.commands.includes(TSSERVER_COMMAND) ?? false;
}

/**
 * What is wrong with exactly this version of a document; undefined if the server does not say in time, or when the
 * signal is aborted. Never what it was before.
 */
export async function diagnose(
  source: DiagnosticSource,
  document: SentDocument,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<Diagnostic[] | undefined> {
  const { capabilities, registered, publications } = source;
  try {
    if (capabilities.diagnosticProvider !== undefined || registered.has("textDocument/diagnostic"))
      return await pull(source, document, limits);
    if (hasTsserver(capabilities)) return await askTsserver(source, document, limits);
    return await publications.wait(document, source.connection, limits);
  } catch {
    return undefined; // It has ended, or answers with an error: nothing is known.
  }
}

type Limits = Parameters<typeof diagnose>[2];

// The codes of the protocol for an answer that a change has made useless.
const REPEATABLE: ReadonlySet<number> = new Set([-32_801, -32_802]);
const REPEAT_AFTER_MS = 50;

async function pull(
  { connection }: DiagnosticSource,
  { uri }: SentDocument,
  limits: Limits,
): Promise<Diagnostic[] | undefined> {
  for (let pauseMs = REPEAT_AFTER_MS; ; pauseMs *= 2) {
    try {
      return readReport(
        await connection.request("textDocument/diagnostic", { textDocument: { uri } }, limits),
      );
    } catch (error) {
      const isRepeatable = error instanceof ResponseError && REPEATABLE.has(error.code);
      if (!isRepeatable || limits.signal.aborted || pauseMs > limits.timeoutMs) throw error;
      await sleep(pauseMs, limits.signal);
    }
  }
}

/**
 * `typescript-language-server` publishes nothing when a file without errors still has none, and publishes in several
 * steps; TypeScript's own server, which it runs, answers exactly.
 */
async function askTsserver(
  { connection }: DiagnosticSource,
  { uri }: SentDocument,
  limits: Limits,
): Promise<Diagnostic[] | undefined> {
  const ask = async (command: string) => {
    const params = { command: TSSERVER_COMMAND, arguments: [command, { file: uri }] };
    return readTsserverReport(await connection.request("workspace/executeCommand", params, limits));
  };
  const [syntax, types] = await Promise.all([
    ask("syntacticDiagnosticsSync"),
    ask("semanticDiagnosticsSync"),
  ]);
  return syntax && types && [...syntax, ...types];
}

// A server may publish in several steps.
const QUIET_MS = 150;
// What was on its way when the document changed is only believed if nothing else follows.
const DOUBTFUL_QUIET_MS = 800;

/** The diagnostics that a server publishes by itself. Those of files that are not open are ignored. */
export class Publications {
  private readonly latest = new Map<string, { publication: Publication; number: number }>();
  private readonly listeners = new Set<(publication: Publication) => void>();
  private count = 0;

  receive(publication: Publication, isOpen: boolean): void {
    if (!isOpen) return;
    this.count += 1;
    this.latest.set(publication.path, { publication, number: this.count });
    for (const listener of this.listeners) listener(publication);
  }

  forget(path: string): void {
    this.latest.delete(path);
  }

  /** A point in time; see `since`. */
  mark(): number {
    return this.count;
  }

  /** What was published for a file after a mark; undefined if nothing was. */
  since(path: string, mark: number): Diagnostic[] | undefined {
    const latest = this.latest.get(path);
    return latest && latest.number > mark ? latest.publication.diagnostics : undefined;
  }

  /**
   * Waits for the diagnostics of a document that was just sent. With a version, only that version counts. Without one, a
   * request that no server knows marks the time from which on the server has seen the document.
   */
  async wait(
    { path, version }: SentDocument,
    connection: RpcConnection,
    { timeoutMs, signal }: Limits,
  ): Promise<Diagnostic[] | undefined> {
    const { promise, resolve } = Promise.withResolvers<Diagnostic[] | undefined>();
    let hasSeen = false;
    let found: { diagnostics: Diagnostic[]; isCertain: boolean } | undefined;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const waitForQuiet = () => {
      clearTimeout(quiet);
      if (!found || !(hasSeen || found.isCertain)) return;
      const { diagnostics, isCertain } = found;
      quiet = setTimeout(() => resolve(diagnostics), isCertain ? QUIET_MS : DOUBTFUL_QUIET_MS);
    };
    const listener = (publication: Publication) => {
      if (publication.path !== path) return;
      if (publication.version !== undefined && publication.version !== version) return;
      const isCertain = publication.version !== undefined || hasSeen;
      found = { diagnostics: publication.diagnostics, isCertain };
      waitForQuiet();
    };
    this.listeners.add(listener);
    const limit = setTimeout(() => resolve(undefined), timeoutMs);
    const onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const seen = () => {
      hasSeen = true;
      waitForQuiet();
    };
    void connection.request("$/diligent/seen", {}, { timeoutMs, signal }).then(seen, seen);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      clearTimeout(quiet);
      signal.removeEventListener("abort", onAbort);
      this.listeners.delete(listener);
    }
  }
}
