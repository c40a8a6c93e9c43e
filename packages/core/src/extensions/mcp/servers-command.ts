import type { ActionCommand } from "../../harness/types.ts";
import { toPlainText } from "./catalog.ts";
import type { ServerConnection } from "./connection.ts";
import type { ServerDefinition } from "./server-definition.ts";
import { describeTarget } from "./server-definition.ts";
import type { McpServers } from "./servers.ts";

const USAGE = "/mcp tools NAME, /mcp resources NAME, /mcp prompts NAME, /mcp log NAME, /mcp restart NAME";
const SHOWN_LOG_BYTES = 8_000;

/** `/mcp`: the servers with their states, and what each of them offers. */
export function createServersCommand(servers: McpServers): ActionCommand {
  return {
    name: "mcp",
    description: "Servers (MCP): state, tools, resources, prompts, log, restart",
    argumentHint: "[tools|resources|prompts|log|restart NAME]",
    run: (args) => run(servers, args.trim().split(/\s+/).filter(Boolean)),
  };
}

async function run(servers: McpServers, words: readonly string[]): Promise<string> {
  const [action, name] = words;
  if (action === undefined) return describeAll(servers);
  const connection = servers.connections.get(name ?? "");
  if (!connection) {
    const known = servers.definitions.map((each) => each.name).join(", ");
    return name === undefined
      ? USAGE
      : `No server ${toPlainText(name, 100)} is in use. The servers are: ${known}.`;
  }
  switch (action) {
    case "tools":
      return listOr(
        "It offers no tools.",
        (servers.catalogOf(connection)?.tools ?? []).map((tool) => line(tool.name, tool.description)),
      );
    case "prompts":
      return listOr(
        "It offers no prompts.",
        (servers.catalogOf(connection)?.prompts ?? []).map((prompt) => line(prompt.name, prompt.description)),
      );
    case "resources": {
      const resources = await connection.listResources();
      return listOr(
        "It offers no resources.",
        resources.map(({ uri, name: title }) => line(`@${connection.definition.name}:${uri}`, title)),
      );
    }
    case "log":
      return toPlainText(connection.readLog(SHOWN_LOG_BYTES), SHOWN_LOG_BYTES) || "It has printed nothing.";
    case "restart":
      await connection.restart();
      await connection.ready().catch(() => {});
      return describeConnection(servers, connection);
    default:
      return USAGE;
  }
}

function describeAll(servers: McpServers): string {
  const lines = servers.definitions.map((definition) => {
    const connection = servers.connections.get(definition.name);
    return connection ? describeConnection(servers, connection) : describeUnused(definition);
  });
  return lines.length === 0
    ? "No servers are configured; see diligent mcp --help."
    : [...lines, USAGE].join("\n");
}

function describeConnection(servers: McpServers, connection: ServerConnection): string {
  const { definition, state, error } = connection;
  const catalog = servers.catalogOf(connection);
  const tools = catalog ? `, ${catalog.tools.length} ${catalog.tools.length === 1 ? "tool" : "tools"}` : "";
  const why = error === undefined || state === "ready" ? "" : ` ${error}`;
  return `${toPlainText(definition.name, 100)}: ${state}${tools} (${toPlainText(describeTarget(definition), 200)})${why}`;
}

function describeUnused({ name, state, problem }: ServerDefinition): string {
  const hint = state === "untrusted" ? ' see "diligent trust"' : "";
  return `${toPlainText(name, 100)}: ${problem === undefined ? state : `failed. ${problem}`}${hint}`;
}

function line(name: string, description: string): string {
  const about = toPlainText(description, 200).replace(/\s+/g, " ");
  return `${toPlainText(name, 200)}${about === "" ? "" : `  ${about}`}`;
}

function listOr(empty: string, lines: readonly string[]): string {
  return lines.length === 0 ? empty : lines.join("\n");
}
