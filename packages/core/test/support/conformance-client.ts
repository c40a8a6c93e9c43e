/**
 * The client of the official conformance suite, on the code that a session uses: it connects to the address in its last
 * argument, signs in if it has to, and calls the server's tools as the scenario expects.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDiligentConfig } from "../../src/config/loader.ts";
import type { CatalogTool } from "../../src/extensions/mcp/catalog.ts";
import { answerElicitation } from "../../src/extensions/mcp/elicitation.ts";
import { toServerDefinition } from "../../src/extensions/mcp/server-definition.ts";
import { McpServers } from "../../src/extensions/mcp/servers.ts";
import { signInTo } from "../../src/extensions/mcp/sign-in.ts";

const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const home = mkdtempSync(join(tmpdir(), "diligent-conformance-"));
const environment = { HOME: home, PATH: process.env.PATH };
const loaded = await loadDiligentConfig(home, environment);
const { client_id: clientId, client_secret: clientSecret } = context;
const setting = {
  url,
  timeoutMs: 20_000,
  oauth: {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  },
};

const definition = toServerDefinition("tested", setting, { origin: "user", source: "test" });
const servers = new McpServers({
  definitions: [definition],
  environment,
  loaded,
  // A user who leaves every field as it is.
  elicit: (server, request, signal) =>
    answerElicitation(
      { askUser: async (questions) => questions.map(() => ["Leave out"]) },
      { server, request, signal },
    ),
});

async function attempt(): Promise<void> {
  const connection = servers.connections.get("tested");
  if (!connection) throw new Error("There is no connection.");
  await connection.ready();
  const tools = connection.catalog?.tools ?? [];
  const { signal } = new AbortController();
  const wanted: { name: string; arguments: Record<string, unknown> }[] =
    context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: toInput(tool, tools) }));
  for (const { name, arguments: input } of wanted) {
    const tool = tools.find((each) => each.name === name);
    if (tool) await connection.call(tool, input, { signal });
  }
  for (const prompt of connection.catalog?.prompts ?? [])
    await connection.getPrompt(prompt.name, {}).catch(() => {});
  if (connection.catalog?.hasResources)
    for (const { uri } of await connection.listResources())
      await connection.readResource(uri, new AbortController().signal).catch(() => {});
}

/** A value for each argument. */
function toInput({ inputSchema }: CatalogTool, tools: readonly CatalogTool[]): Record<string, unknown> {
  const properties = Object(inputSchema.properties);
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema], index) => {
      const { type, default: fallback } = Object(schema);
      if (fallback !== undefined) return [name, fallback];
      // One scenario wants to see how the schema of another tool has arrived.
      const seen = tools.find((tool) => tool.name === "json_schema_2020_12_tool");
      if (name === "schema" && seen) return [name, seen.inputSchema];
      if (type === "number" || type === "integer") return [name, index + 1];
      if (type === "boolean") return [name, true];
      return [name, type === "array" ? [] : type === "object" ? {} : "test"];
    }),
  );
}

/** The user's browser: it follows the address at once. */
async function visit(address: string): Promise<void> {
  const response = await fetch(address, { redirect: "manual" });
  const location = response.headers.get("Location");
  if (location !== null) await fetch(location);
}

try {
  for (let signIns = 0; ; signIns++) {
    try {
      await attempt();
      break;
    } catch (error) {
      const isAsked = error instanceof Error && /sign in|scope/i.test(error.message);
      if (!isAsked || signIns >= 3) throw error;
      await signInTo(definition, environment, {
        pasted: new Promise(() => {}),
        onAddress: (address) => void visit(address).catch(() => {}),
      });
      await servers.connections.get("tested")?.restart();
    }
  }
} finally {
  await servers.close();
}
process.exit(0);
