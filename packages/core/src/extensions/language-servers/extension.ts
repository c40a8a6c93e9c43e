import type { LoadedConfig } from "../../config/loader.ts";
import type { ProjectTrust } from "../../config/trust-items.ts";
import type { HarnessExtension, SessionScope } from "../../harness/types.ts";
import { shareTraffic } from "../../infrastructure/network/shared-traffic.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { findLanguageServers, selectServer } from "./find-servers.ts";
import { hasLanguage } from "./known-servers.ts";
import type { ServerLimits } from "./language-server.ts";
import { createLspTool } from "./lsp-tool.ts";
import type { LanguageServers } from "./servers.ts";

// Its description is part of every request.
const LEAST_WINDOW = 16_000;

/** Where servers are looked for. */
interface ServersPlace {
  loaded: LoadedConfig;
  environment: Environment;
  /** Decides about the project's servers; its owner reports what waits. */
  trust(): Promise<ProjectTrust>;
  /** The defaults where they are left out. */
  limits?: Partial<ServerLimits> | undefined;
}

/** Opens the language servers for the sessions of a harness. None is started before a file of its languages was changed. */
export async function openLanguageServers({
  loaded,
  environment,
  limits,
  ...place
}: ServersPlace): Promise<HarnessExtension> {
  const definitions = await findLanguageServers({ loaded, environment, trust: place.trust });
  const scopes = new Set<SessionScope>();
  const notify = (message: string) => {
    const shown = [...scopes].find((scope) => scope.session() !== undefined);
    shown?.session()?.report(
      shown.redactor.redact({
        type: "notice" as const,
        level: "warning" as const,
        code: "language_server",
        message,
      }),
    );
  };
  const traffic = shareTraffic(scopes);
  let opening: Promise<LanguageServers> | undefined;
  // The code that talks to servers is loaded with the first one.
  const open = () => {
    opening ??= import("./servers.ts").then(
      ({ LanguageServers }) =>
        new LanguageServers({ definitions, loaded, environment, notify, traffic, limits }),
    );
    return opening;
  };
  return {
    name: "language-servers",
    openSession(scope) {
      if (definitions.length === 0) return {};
      scopes.add(scope);
      const { cwd, root, files, sessionId } = scope;
      const outputDirectory = () => scope.outputDirectory();
      const workspace = { cwd, root, files, sessionId, environment, outputDirectory };
      const isOffered =
        scope.contextWindow >= LEAST_WINDOW &&
        definitions.some((each) => each.origin !== "found" || hasLanguage(root, each));
      return {
        tools: [createLspTool({ workspace, open, isOffered: () => isOffered })],
        async afterFileChanges(changes, { signal }) {
          const hasServer = changes.some(({ realPath }) => selectServer(definitions, realPath));
          return hasServer ? (await open()).report(changes, signal) : undefined;
        },
        close: () => void scopes.delete(scope),
      };
    },
    async close() {
      await (await opening)?.close();
    },
  };
}
