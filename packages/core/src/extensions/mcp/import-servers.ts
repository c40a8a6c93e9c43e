import { join } from "node:path";
import { McpServerSchema, type McpServerSetting } from "../../config/schema.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { toMilliseconds } from "./project-file.ts";

/** A server that another program uses. */
export interface ForeignServer {
  name: string;
  /** The program, such as `Codex`. */
  agent: string;
  /** The file that it was found in. */
  path: string;
  /** As it would be stored; undefined if it cannot be used here. */
  setting: McpServerSetting | undefined;
  /** Why not, a sentence. */
  problem?: string;
}

/** A file of another program. */
interface ForeignFile {
  agent: string;
  path: string;
  format: "json" | "toml";
  /** Its servers, each in the shape of that program. */
  find(content: Fields, root: string): unknown;
  convert(entry: Fields): Fields;
  /** Comes with the project: such a server stays in a sandbox. */
  isProjects?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const MAX_BYTES = 8 * 1024 * 1024;

/** The servers in the files of other agents, the first file of a name first. Nothing is started. */
export function findForeignServers(environment: Environment, root: string): ForeignServer[] {
  const home = homeDirectory(environment);
  const files = [...(home === undefined ? [] : homeFiles(home, environment)), ...projectFiles(root)];
  return files.flatMap((file) => readForeignFile(file, root));
}

function homeFiles(home: string, environment: Environment): ForeignFile[] {
  const config = environment.XDG_CONFIG_HOME || join(home, ".config");
  const codexHome = environment.CODEX_HOME || join(home, ".codex");
  const json = { format: "json", find: ({ mcpServers }: Fields) => mcpServers } as const;
  const opencode = ["opencode.json", "opencode.jsonc"].map(
    (name): ForeignFile => ({
      agent: "opencode",
      path: join(config, "opencode", name),
      format: "json",
      find: ({ mcp }) => toFields(mcp).servers ?? mcp,
      convert: fromOpencode,
    }),
  );
  return [
    {
      agent: "Claude Code",
      path: join(home, ".claude.json"),
      format: "json",
      find: findClaude,
      convert: fromClaude,
    },
    {
      agent: "Codex",
      path: join(codexHome, "config.toml"),
      format: "toml",
      find: (content) => content.mcp_servers,
      convert: fromCodex,
    },
    ...opencode,
    { ...json, agent: "gemini-cli", path: join(home, ".gemini", "settings.json"), convert: fromGemini },
    { ...json, agent: "pi", path: join(home, ".pi", "agent", "mcp.json"), convert: fromPi },
    {
      agent: "VS Code",
      path: join(config, "Code", "User", "mcp.json"),
      format: "json",
      find: ({ servers }) => servers,
      convert: fromClaude,
    },
  ];
}

function projectFiles(root: string): ForeignFile[] {
  return [
    {
      agent: "VS Code",
      path: join(root, ".vscode", "mcp.json"),
      format: "json",
      find: ({ servers }) => servers,
      convert: fromClaude,
      isProjects: true,
    },
  ];
}

/** Those of the user, and those of this project. */
function findClaude({ mcpServers, projects }: Fields, root: string): Fields {
  const own = toFields(toFields(projects)[root]);
  return { ...toFields(mcpServers), ...toFields(own.mcpServers) };
}

function readForeignFile(file: ForeignFile, root: string): ForeignServer[] {
  const { agent, path } = file;
  const text = readSmallText(path, MAX_BYTES);
  if (text === undefined) return [];
  let content: unknown;
  try {
    content = file.format === "toml" ? Bun.TOML.parse(text) : Bun.JSONC.parse(text);
  } catch {
    return [{ name: "", agent, path, setting: undefined, problem: "The file cannot be read." }];
  }
  const entries = Object.entries(toFields(file.find(toFields(content), root)));
  // A configuration file refuses this name.
  const named = entries.filter(([name]) => name !== "" && name !== "__proto__");
  return named.map(([name, entry]) => ({ name, agent, path, ...toSetting(file, entry) }));
}

function toSetting(
  { convert, isProjects }: ForeignFile,
  entry: unknown,
): Pick<ForeignServer, "setting" | "problem"> {
  const converted = Object.entries(convert(toFields(entry))).filter(([, value]) => value !== undefined);
  const fields = { ...Object.fromEntries(converted), ...(isProjects && { sandbox: {} }) };
  const asked = /\$\{input:([^}]*)\}/.exec(JSON.stringify(fields));
  if (asked) return { setting: undefined, problem: `It asks for "${asked[1]}", which is not known here.` };
  const parsed = McpServerSchema.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { setting: undefined, problem: `Its "${issue?.path.map(String).join(".")}" cannot be used here.` };
  }
  const { command, url } = parsed.data;
  if ((command === undefined) === (url === undefined))
    return { setting: undefined, problem: "It needs either a command or an address." };
  return { setting: parsed.data };
}

const HTTP_TYPES: readonly unknown[] = ["http", "streamable-http", "streamableHttp"];

function fromClaude({ type, command, args, env, cwd, url, headers, timeout, disabled }: Fields): Fields {
  const isAddress = url !== undefined;
  return {
    ...(isAddress && { type: type === "sse" ? "sse" : "http" }),
    ...(type !== undefined && isAddress && !HTTP_TYPES.includes(type) && type !== "sse" && { type }),
    ...{ command, args, env, cwd, url, headers, timeoutMs: toTimeout(timeout) },
    ...(disabled === true && { enabled: false }),
  };
}

function fromCodex(entry: Fields): Fields {
  const { command, args, env, env_vars: passed, cwd, url, enabled } = entry;
  const { bearer_token_env_var: token, http_headers: headers, env_http_headers: fromEnvironment } = entry;
  const { tool_timeout_sec: seconds } = entry;
  const names = Array.isArray(passed) ? passed.filter((name) => typeof name === "string") : [];
  const variables = Object.entries(toFields(fromEnvironment)).map(([name, variable]) => [
    name,
    toVariable(variable),
  ]);
  const allHeaders = {
    ...toFields(headers),
    ...Object.fromEntries(variables),
    ...(typeof token === "string" && { Authorization: `Bearer ${toVariable(token)}` }),
  };
  const allVariables = {
    ...toFields(env),
    ...Object.fromEntries(names.map((name) => [name, toVariable(name)])),
  };
  return {
    ...(url !== undefined && { type: "http" }),
    ...{ command, args, cwd, url },
    ...(Object.keys(allVariables).length > 0 && { env: allVariables }),
    ...(url !== undefined && Object.keys(allHeaders).length > 0 && { headers: allHeaders }),
    ...(typeof seconds === "number" && { timeoutMs: Math.ceil(seconds * 1_000) }),
    ...(enabled === false && { enabled }),
  };
}

function fromOpencode({
  command,
  environment,
  cwd,
  url,
  headers,
  enabled,
  disabled,
  timeout,
}: Fields): Fields {
  const [program, ...args] = Array.isArray(command) ? command : [command];
  return {
    ...(url !== undefined && { type: "http" }),
    ...{ command: program, cwd, url, headers, env: environment, timeoutMs: toTimeout(timeout) },
    ...(args.length > 0 && { args }),
    ...((enabled === false || disabled === true) && { enabled: false }),
  };
}

function fromGemini({ command, args, env, cwd, url, httpUrl, headers, timeout }: Fields): Fields {
  const address = httpUrl ?? url;
  return {
    ...(address !== undefined && { type: httpUrl === undefined ? "sse" : "http", url: address }),
    ...{ command, args, env, cwd, headers, timeoutMs: toTimeout(timeout) },
  };
}

function fromPi({ timeout, enabled, ...entry }: Fields): Fields {
  return {
    ...fromClaude(entry),
    ...(typeof timeout === "number" && { timeoutMs: Math.ceil(timeout * 1_000) }),
    ...(enabled === false && { enabled }),
  };
}

function toTimeout(timeout: unknown): number | undefined {
  return typeof timeout === "number" && timeout > 0 ? toMilliseconds(timeout) : undefined;
}

function toVariable(name: unknown): string {
  return `\${${String(name)}}`;
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
