import type { McpServerSetting } from "../../config/schema.ts";
import { expandVariables } from "../../config/server-variables.ts";
import { maskAddress } from "../../config/settings.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { isHttpUrl } from "../../infrastructure/urls.ts";

/** How a server is reached. */
export type ServerTransport = "stdio" | "http" | "sse";

/** A configured server. */
export interface ServerDefinition {
  name: string;
  /** Who has configured it: only the user's own servers can have rights of their own. */
  origin: "user" | "project" | "plugin";
  /** The file that defines it. */
  source: string;
  transport: ServerTransport;
  /** `untrusted`: the project is not trusted, so nothing of it is started. */
  state: "enabled" | "disabled" | "untrusted";
  /** Why it cannot be used; a sentence. */
  problem?: string | undefined;
  /** A remark about its settings; a sentence. */
  remark?: string | undefined;
  /** As written: variables are not replaced. */
  setting: McpServerSetting;
  /** Variables of its own, in its settings and in its environment. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Changes with everything that determines what is started or contacted. */
  id: string;
}

/** The default of `timeoutMs`. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Reads a configured entry; what is wrong with it becomes its `problem`. */
export function toServerDefinition(
  name: string,
  setting: McpServerSetting,
  from: Pick<ServerDefinition, "origin" | "source" | "variables"> & {
    isTrusted?: boolean;
    isDisabled?: boolean;
  },
): ServerDefinition {
  const transport =
    setting.type ?? (setting.command === undefined && setting.url !== undefined ? "http" : "stdio");
  const isDisabled = setting.enabled === false || from.isDisabled === true;
  return {
    name,
    origin: from.origin,
    source: from.source,
    transport,
    state: from.isTrusted === false ? "untrusted" : isDisabled ? "disabled" : "enabled",
    problem: findProblem(setting, transport),
    ...(setting.type === undefined &&
      transport === "http" && { remark: 'It has no "type"; "http" is assumed.' }),
    setting,
    ...(from.variables && { variables: from.variables }),
    id: toId(setting, transport),
  };
}

function findProblem({ command, url }: McpServerSetting, transport: ServerTransport): string | undefined {
  if (command !== undefined && url !== undefined) return "It has both a command and a url; keep one of them.";
  if (transport === "stdio")
    return command === undefined ? 'It has neither a "command" nor a "url".' : undefined;
  if (url === undefined) return `A server of type ${transport} needs a "url".`;
  // With a variable in it, the address is only known once the server is used.
  return url.includes("{") || isHttpUrl(url)
    ? undefined
    : 'Its "url" is not an address such as https://host/mcp.';
}

function toId(setting: McpServerSetting, transport: ServerTransport): string {
  const { command, args, env, cwd, url, headers } = setting;
  const parts = [
    transport,
    command,
    args,
    Object.entries(env ?? {}),
    cwd,
    url,
    Object.entries(headers ?? {}),
  ];
  return Bun.SHA256.hash(JSON.stringify(parts), "hex").slice(0, 16);
}

/** What is started or contacted, on one line and without secrets. */
export function describeTarget({ setting: { command, args = [], url } }: ServerDefinition): string {
  if (url !== undefined) return maskAddress(url);
  return [command, ...args.map((text) => (/^[a-z]+:\/\//i.test(text) ? maskAddress(text) : text))].join(" ");
}

/**
 * The setting with its variables replaced.
 * @throws Error that names the variables that are not set.
 */
export function expandSetting(
  { setting, variables }: ServerDefinition,
  environment: Environment,
): McpServerSetting {
  const known = { ...environment, ...variables };
  const unset = new Set<string>();
  const expand = (text: string) => {
    const expanded = expandVariables(text, known);
    for (const name of expanded.unset) unset.add(name);
    return expanded.text;
  };
  const expandAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text)]));
  const { command, args, env, cwd, url, headers } = setting;
  const expanded = {
    ...setting,
    ...(command !== undefined && { command: expand(command) }),
    ...(args && { args: args.map(expand) }),
    ...((env || variables) && { env: { ...variables, ...expandAll(env ?? {}) } }),
    ...(cwd !== undefined && { cwd: expand(cwd) }),
    ...(url !== undefined && { url: expand(url) }),
    ...(headers && { headers: expandAll(headers) }),
  };
  if (unset.size > 0) throw new Error(`These environment variables are not set: ${[...unset].join(", ")}.`);
  return expanded;
}
