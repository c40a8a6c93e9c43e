import type { ToolResult } from "../../tool/types.ts";
import { toPlainText } from "./catalog.ts";
import type { ListedResource } from "./connection.ts";
import type { McpServers } from "./servers.ts";
import { type ResultFiles, toResourceParts } from "./tool-result.ts";

const MAX_LISTED = 500;

/** Reads a resource, or lists those of a server. @throws Error for the model. */
export async function readServerResource(
  { servers, files }: { servers: McpServers; files: ResultFiles },
  { server, uri, signal }: { server: string; uri: string | undefined; signal: AbortSignal },
): Promise<ToolResult> {
  const connection = servers.connections.get(server);
  if (!connection) {
    const names = [...servers.connections.keys()].join(", ");
    throw new Error(`There is no server ${JSON.stringify(server)}. The servers are: ${names}.`);
  }
  if (uri === undefined || uri === "")
    return { output: formatResources(await connection.listResources(signal)) };
  const { contents } = await connection.readResource(uri, signal);
  return toResourceParts(contents, { server, files });
}

function formatResources(resources: readonly ListedResource[]): string {
  if (resources.length === 0) return "This server has no resources.";
  const lines = resources.slice(0, MAX_LISTED).map(({ uri, name, description }) => {
    const about = toPlainText(description ?? "", 200).replace(/\s+/g, " ");
    return `${uri}  ${toPlainText(name, 100)}${about === "" ? "" : `: ${about}`}`;
  });
  const left = resources.length - lines.length;
  return [...lines, ...(left > 0 ? [`${left} more`] : [])].join("\n");
}
