import { readFileSync, statSync } from "node:fs";
import { relative } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
import type { TrafficWatcher } from "../../infrastructure/network/connection.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { FileChange } from "../../tools/workspace.ts";
import { type LanguageServerDefinition, selectServer } from "./find-servers.ts";
import { DEFAULT_LIMITS, LanguageServer, type RunningServer, type ServerLimits } from "./language-server.ts";
import type { FileProblems, TextChange } from "./open-documents.ts";
import { prepareLanguageServer } from "./server-program.ts";

/** Which servers there are, and who hears of them. */
interface ServersOptions {
  definitions: readonly LanguageServerDefinition[];
  loaded: LoadedConfig;
  environment: Environment;
  /** Reports to the user, in a sentence. */
  notify(message: string): void;
  /** Receives their connections. */
  traffic?: TrafficWatcher | undefined;
  limits?: Partial<ServerLimits> | undefined;
}

// Larger files are data, or generated.
const MAX_BYTES = 1024 * 1024;
const MAX_LINES = 20;

/** The language servers of a harness: its sessions and their sub-agents share them. */
export class LanguageServers {
  private readonly servers: readonly LanguageServer[];
  private readonly temporaryDirectory = new SessionTempDir();
  private readonly root: string;

  constructor({ definitions, loaded, environment, notify, traffic, limits }: ServersOptions) {
    this.root = loaded.projectRoot;
    this.servers = definitions.map(
      (definition) =>
        new LanguageServer(definition, {
          root: this.root,
          limits: { ...DEFAULT_LIMITS, ...limits },
          prepare: (each) =>
            prepareLanguageServer(each, {
              ...{ loaded, environment, notify, traffic },
              temporaryDirectory: this.temporaryDirectory,
            }),
          onProblem: notify,
        }),
    );
  }

  /** The server of a file; undefined if no server knows its language. */
  serverOf(path: string): LanguageServer | undefined {
    const definition = selectServer(
      this.servers.map((each) => each.definition),
      path,
    );
    return this.servers.find((server) => server.definition === definition);
  }

  /** Those that run. */
  get running(): readonly RunningServer[] {
    return this.servers.flatMap(({ running }) => running ?? []);
  }

  /** For the model: the servers that are used, with their files. */
  describe(): string {
    const usable = this.servers.filter(({ isUsable }) => isUsable);
    const named = usable.map(({ definition: { name, extensions } }) => `${name} (${extensions.join(", ")})`);
    return named.join("; ") || "none";
  }

  /** Gives a server the current text of the documents that it has open: commands may have changed them. */
  refresh({ documents }: RunningServer, except: ReadonlySet<string> = new Set()): void {
    for (const path of documents.paths) {
      if (except.has(path)) continue;
      const text = readFileText(path);
      if (text === undefined) documents.close(path);
      else documents.show(path, text);
    }
  }

  /** For the model: the errors that changes have brought; empty if there are none, or none are known yet. */
  async report(changes: readonly FileChange[], signal: AbortSignal): Promise<string> {
    const byServer = new Map<LanguageServer, TextChange[]>();
    for (const { realPath, before } of changes) {
      const server = isInside(realPath, this.root) ? this.serverOf(realPath) : undefined;
      const after = server?.isUsable ? readFileText(realPath) : undefined;
      if (!server || after === undefined) continue;
      byServer.set(server, [...(byServer.get(server) ?? []), { path: realPath, before, after }]);
    }
    const reports = await Promise.all(
      [...byServer].map(async ([server, own]) => {
        if (server.running) this.refresh(server.running, new Set(own.map(({ path }) => path)));
        return { server, found: await server.compare(own, signal) };
      }),
    );
    return reports.flatMap(({ server, found }) => this.list(server, found)).join("\n");
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
    this.temporaryDirectory.remove();
  }

  private list({ definition }: LanguageServer, found: readonly FileProblems[]): string[] {
    const lines = found.flatMap(({ path, problems }) =>
      problems.map(
        ({ line, column, code, message }) =>
          `${relative(this.root, path)}:${line}:${column} ${message}${code === "" ? "" : ` (${code})`}`,
      ),
    );
    if (lines.length === 0) return [];
    const heading = `New ${lines.length === 1 ? "error" : "errors"} since this change, by the language server ${definition.name}:`;
    const room = MAX_LINES - 1;
    if (lines.length <= room) return [heading, ...lines];
    const shown = lines.slice(0, room - 1);
    return [heading, ...shown, `… ${lines.length - shown.length} more.`];
  }
}

/** Undefined for a file that is gone, too large, or not text. */
export function readFileText(path: string): string | undefined {
  try {
    if (statSync(path).size > MAX_BYTES) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch {
    return undefined;
  }
}
