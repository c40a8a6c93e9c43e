import type { LoadedConfig } from "../../config/loader.ts";
import type { ProjectTrust } from "../../config/trust-items.ts";
import type {
  ExtensionCommand,
  HarnessExtension,
  Notice,
  SessionAddition,
  SessionScope,
} from "../../harness/types.ts";
import { shareTraffic } from "../../infrastructure/network/shared-traffic.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { ApprovedTools } from "./approved-tools.ts";
import type { ServerConnection } from "./connection.ts";
import { answerElicitation } from "./elicitation.ts";
import { findServers } from "./find-servers.ts";
import { readServerResource } from "./resources.ts";
import { answerSampling } from "./sampling.ts";
import { createPromptCommands } from "./server-prompts.ts";
import { McpServers } from "./servers.ts";
import { createServersCommand } from "./servers-command.ts";
import { createServerTools } from "./session-tools.ts";

/** How long an idle screen waits before it starts the servers. */
const START_AFTER_MS = 300;

/** How long the model waits for a call before it continues as a job. */
const LONG_CALL_MS = 120_000;

/** Where the servers are configured. */
interface ServersPlace {
  loaded: LoadedConfig;
  environment: Environment;
  /** Decides about the project's servers; its owner reports what waits. */
  trust(): Promise<ProjectTrust>;
  plugins(): Promise<{ active: readonly Plugin[] }>;
}

/** Opens the configured servers for the sessions of a harness. Nothing is started before the first request was sent. */
export async function openServers({
  loaded,
  environment,
  ...place
}: ServersPlace): Promise<HarnessExtension> {
  const trust = await place.trust();
  const { active: plugins } = await place.plugins();
  const { servers: definitions, problems } = await findServers({ loaded, environment, trust, plugins });
  const scopes = new Set<SessionScope>();
  const notices: Notice[] = [
    ...problems.map((message) => toNotice(message)),
    ...definitions.flatMap(({ name, state, problem }) =>
      problem === undefined || state !== "enabled"
        ? []
        : [toNotice(`The server ${name} is not used: ${problem}`)],
    ),
  ];
  const servers = new McpServers({
    definitions,
    environment,
    loaded,
    onChange: (connection) => {
      for (const scope of scopes) report(scope, connection);
    },
    notify: (message) => {
      for (const scope of scopes)
        scope.session()?.report({ type: "notice", level: "info", code: "mcp_sandbox", message });
    },
    traffic: shareTraffic(scopes),
    sample: (server, request, signal) => answerSampling([...scopes].at(-1), { server, request, signal }),
    elicit: (server, request, signal) => answerElicitation([...scopes].at(-1), { server, request, signal }),
  });
  const approved = new ApprovedTools(environment);
  let isStarted = false;
  const start = () => {
    if (isStarted) return;
    isStarted = true;
    servers.start();
  };
  return {
    name: "mcp",
    get commands(): ExtensionCommand[] {
      return [createServersCommand(servers), ...createPromptCommands(servers)];
    },
    openSession(scope): SessionAddition {
      scopes.add(scope);
      const timer = scope.isAttended ? setTimeout(start, START_AFTER_MS) : undefined;
      timer?.unref();
      const { tools, promptSection } = createServerTools({
        servers,
        approved,
        contextWindow: scope.contextWindow,
        files: { outputDirectory: () => scope.outputDirectory() },
        isAutomatic: () => scope.mode() === "auto",
        jobs: scope.jobs,
        // Without a user the run may end before the job does.
        jobAfterMs: scope.isAttended ? LONG_CALL_MS : undefined,
        defersTools: () => scope.model().defersTools === true,
      });
      return {
        tools: servers.connections.size > 0 ? tools : [],
        promptSection: servers.connections.size > 0 ? promptSection : undefined,
        notices: notices.splice(0),
        close() {
          clearTimeout(timer);
          scopes.delete(scope);
        },
      };
    },
    async readMention(mention, signal) {
      const named = [...servers.connections.keys()].filter((name) => mention.startsWith(`${name}:`));
      // The name of a plugin's server contains a colon itself.
      const server = named.sort((left, right) => right.length - left.length)[0];
      const scope = [...scopes].at(-1);
      if (server === undefined || !scope) return undefined;
      const uri = mention.slice(server.length + 1);
      const files = { outputDirectory: () => scope.outputDirectory() };
      return readServerResource({ servers, files }, { server, uri, signal });
    },
    listMentions: () =>
      [...servers.connections.values()].flatMap((connection) =>
        (servers.catalogOf(connection)?.resources ?? []).map((uri) => `${connection.definition.name}:${uri}`),
      ),
    onEvent({ type }) {
      // The first request is on its way by then.
      if (type === "message_start") setTimeout(start, 0);
    },
    close: () => servers.close(),
  };
}

function toNotice(message: string): Notice {
  return { level: "warning", code: "mcp_server", message };
}

function report(
  { session, redactor }: SessionScope,
  { definition, state, catalog, error }: ServerConnection,
): void {
  if (state === "closed") return;
  const { name } = definition;
  session()?.report(
    redactor.redact({
      type: "mcp_server" as const,
      name,
      state,
      ...(catalog && state === "ready" && { tools: catalog.tools.length }),
      ...(error !== undefined && state !== "ready" && { error }),
    }),
  );
}
