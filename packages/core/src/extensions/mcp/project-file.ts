import { join } from "node:path";
import { McpServerSchema, type McpServerSetting } from "../../config/schema.ts";
import type { TrustFindings, TrustItem, TrustKind, TrustPlace } from "../../config/trust-items.ts";
import { locateFile, readCheckedFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import type { Plugin } from "../definitions/plugin.ts";
import { describeTarget, toServerDefinition } from "./server-definition.ts";

/** The file in which other agents, too, look for a project's servers. */
export const PROJECT_FILE = ".mcp.json";

const MAX_BYTES = 1024 * 1024;

/** A server of the file, as the user decides about it. */
export interface ProjectFileServer extends TrustItem {
  setting: McpServerSetting;
}

/** An entry that cannot be used. */
interface BrokenServer {
  name: string;
  problem: string;
}

/** The servers of a project's `.mcp.json`. One bad entry does not affect the others. */
export interface ProjectFile {
  path: string;
  servers: ProjectFileServer[];
  broken: BrokenServer[];
  /** Why the file as a whole is not used, a sentence. */
  problem?: string;
}

/** The servers of `.mcp.json` need trust, each by itself; those of `diligent.jsonc` are trusted with that file. */
export const SERVER_TRUST: TrustKind = {
  kind: "mcp",
  title: `Servers (MCP) that are started or contacted, from ${PROJECT_FILE}`,
  noun: ["server", "servers"],
  find: findItems,
};

async function findItems({ root }: TrustPlace): Promise<TrustFindings> {
  const file = await readServerFile(root);
  const problems = file?.problem === undefined ? [] : [`${file.path} is not used: ${file.problem}`];
  return {
    items: file?.servers ?? [],
    warnings: problems.map((message) => ({ code: "mcp_not_loaded", message })),
  };
}

/** Undefined without the file. Nothing is started, and no variable is replaced. */
export async function readServerFile(root: string): Promise<ProjectFile | undefined> {
  const path = join(root, PROJECT_FILE);
  const none = { path, servers: [], broken: [] };
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return undefined;
  if (reading.kind === "unreadable") return { ...none, problem: `${reading.reason}.` };
  if (!isInside(locateFile(path).realPath, root))
    return { ...none, problem: "It is a link out of the project." };
  const { content } = reading.file;
  if (content.length > MAX_BYTES) return { ...none, problem: `It is larger than ${MAX_BYTES} bytes.` };
  return { ...none, ...parseServers(new TextDecoder().decode(content)) };
}

function parseServers(text: string): Pick<ProjectFile, "servers" | "broken" | "problem"> {
  const nothing = { servers: [], broken: [] };
  let value: unknown;
  try {
    value = Bun.JSONC.parse(text);
  } catch {
    return { ...nothing, problem: "It is not valid JSON." };
  }
  if (!isObject(value)) return { ...nothing, problem: "It must be an object." };
  if (!isObject(value.mcpServers)) {
    const hint = isObject(value.servers) ? ' Rename "servers" to "mcpServers".' : "";
    return { ...nothing, problem: `It has no "mcpServers".${hint}` };
  }
  return parseEntries(value.mcpServers, ([name, entry]) => readEntry(name, entry));
}

function parseEntries(
  entries: object,
  read: (entry: [name: string, value: unknown]) => ProjectFileServer | BrokenServer,
): Pick<ProjectFile, "servers" | "broken"> {
  const all = Object.entries(entries).map(read);
  return {
    servers: all.flatMap((each) => ("problem" in each ? [] : [each])),
    broken: all.flatMap((each) => ("problem" in each ? [each] : [])),
  };
}

/** The servers of a plugin: its files hold them by name, below `mcpServers` or without it. */
export function readPluginServers({
  name: plugin,
  servers,
}: Pick<Plugin, "name" | "servers">): ProjectFile[] {
  return servers.map(({ source: path, value }) => {
    const none = { path, servers: [], broken: [] };
    if (!isObject(value)) return { ...none, problem: "It must be an object." };
    const entries = isObject(value.mcpServers) ? value.mcpServers : value;
    const read = parseEntries(entries, ([name, entry]) => readEntry(`${plugin}:${name}`, entry, path));
    return { ...none, ...read };
  });
}

// Names by which others call the same transport.
const TRANSPORTS: Readonly<Record<string, string>> = { "streamable-http": "http", streamableHttp: "http" };

function readEntry(name: string, entry: unknown, path = PROJECT_FILE): ProjectFileServer | BrokenServer {
  if (!isObject(entry)) return { name, problem: "Its entry must be an object." };
  const { timeout, disabled, type, ...rest } = entry;
  // Other settings are those of other agents; rights are never a project's to give.
  const known = Object.entries(rest).filter(([key]) => READ_SETTINGS.has(key));
  const setting = McpServerSchema.safeParse({
    ...Object.fromEntries(known),
    ...(type !== undefined && { type: TRANSPORTS[String(type)] ?? type }),
    ...(typeof timeout === "number" && { timeoutMs: toMilliseconds(timeout) }),
    ...(disabled === true && { enabled: false }),
  });
  if (!setting.success) {
    const [issue] = setting.error.issues;
    return {
      name,
      problem: `"${issue?.path.map(String).join(".") ?? ""}" is invalid: ${issue?.message ?? ""}.`,
    };
  }
  return toItem(name, setting.data, path);
}

const READ_SETTINGS: ReadonlySet<string> = new Set([
  ...[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "enabled",
    "timeoutMs",
    "sandbox",
    "oauth",
    "protocol",
  ],
]);

/** Less than a second is meant in seconds. */
export function toMilliseconds(timeout: number): number {
  return timeout < 1_000 ? Math.ceil(timeout * 1_000) : Math.ceil(timeout);
}

function toItem(name: string, setting: McpServerSetting, path: string): ProjectFileServer {
  const definition = toServerDefinition(name, setting, { origin: "project", source: path });
  const { command, env = {}, headers = {}, cwd, sandbox } = setting;
  const names = (texts: object) => Object.keys(texts).join(", ");
  return {
    kind: SERVER_TRUST.kind,
    name,
    path,
    details: {
      [command === undefined ? "address" : "command"]: describeTarget(definition),
      ...(cwd !== undefined && { cwd }),
      ...(names(env) !== "" && { env: names(env) }),
      ...(names(headers) !== "" && { headers: names(headers) }),
      ...(sandbox && { sandbox: JSON.stringify(sandbox) }),
    },
    sha256: Bun.SHA256.hash(JSON.stringify([definition.id, setting]), "hex"),
    setting,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
