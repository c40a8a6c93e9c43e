import { join } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import type { McpServerSetting } from "../../config/schema.ts";
import { changeServer, findProjectConfigPath, findUserConfigPath } from "../../config/server-settings.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { SecretRedactor } from "../../infrastructure/text/secret-redactor.ts";
import type { Plugin } from "../definitions/plugin.ts";
import type { CatalogPrompt, CatalogTool } from "./catalog.ts";
import { findServers } from "./find-servers.ts";
import { type ForeignServer, findForeignServers } from "./import-servers.ts";
import { PROJECT_FILE } from "./project-file.ts";
import {
  describeTarget,
  type ServerDefinition,
  type ServerTransport,
  toServerDefinition,
} from "./server-definition.ts";
import { McpServers } from "./servers.ts";
import { switchServer } from "./switched-off.ts";

export type { McpServerSetting };

/** The project whose servers are managed. */
export interface ManagedPlace {
  loaded: LoadedConfig;
  environment: Environment;
  /** The user's plugins that are active. */
  plugins?: readonly Plugin[] | undefined;
}

/** A server as it was found, and whether it answers. */
export interface ServerStatus {
  name: string;
  transport: ServerTransport;
  enabled: boolean;
  state: "ready" | "failed" | "untrusted" | "disabled";
  /** The number of its tools; 0 unless it is ready. */
  tools: number;
  /** Why it cannot be used; a sentence. */
  error?: string;
}

/** More about a server, for people. */
export interface TestedServer extends ServerStatus {
  /** What is started or contacted, without secrets. */
  target: string;
  /** The file that defines it. */
  source: string;
  remark?: string | undefined;
  offeredTools: readonly CatalogTool[];
  offeredPrompts: readonly CatalogPrompt[];
}

/** A server that is not configured: its name, and those that are. */
export class UnknownServerError extends Error {
  override name = "UnknownServerError";

  constructor(
    readonly server: string,
    readonly known: readonly string[],
  ) {
    super(`There is no server ${JSON.stringify(server)}.`);
  }
}

/**
 * Connects to the enabled servers, all at the same time, and ends them again. Nothing is started that is not trusted.
 * @param only the names of those that matter; all when left out. @throws UnknownServerError
 */
export async function testServers(place: ManagedPlace, only?: readonly string[]): Promise<TestedServer[]> {
  const { servers: found } = await findServers(place);
  for (const name of only ?? []) requireServer(found, name);
  const definitions = found.filter(({ name }) => only === undefined || only.includes(name));
  const servers = new McpServers({ definitions, ...place });
  const redactor = new SecretRedactor(place.loaded.secrets);
  try {
    await Promise.allSettled([...servers.connections.values()].map((connection) => connection.ready()));
    return definitions.map((definition) => redactor.redact(toStatus(definition, servers)));
  } finally {
    await servers.close();
  }
}

function toStatus(definition: ServerDefinition, servers: McpServers): TestedServer {
  const { name, transport, source, remark, state, problem } = definition;
  const connection = servers.connections.get(name);
  const catalog = connection?.state === "ready" ? connection.catalog : undefined;
  const error = problem ?? connection?.error;
  return {
    name,
    transport,
    enabled: state !== "disabled",
    state: state === "enabled" ? (catalog ? "ready" : "failed") : state,
    tools: catalog?.tools.length ?? 0,
    ...(state === "enabled" && !catalog && error !== undefined && { error }),
    target: describeTarget(definition),
    source,
    remark,
    offeredTools: catalog?.tools ?? [],
    offeredPrompts: catalog?.prompts ?? [],
  };
}

/** A server of another program that could be taken over; those that exist here under the same name are left out. */
export interface ImportableServer extends ForeignServer {
  /** What would be started or contacted, without secrets. */
  target: string;
}

/** The servers that other programs use and that are not configured here, each name once. Nothing is changed. */
export async function findImportable(place: ManagedPlace): Promise<ImportableServer[]> {
  const { servers } = await findServers(place);
  const known = new Set(servers.map(({ name }) => name));
  const found = findForeignServers(place.environment, place.loaded.projectRoot);
  return found.flatMap((server) => {
    if (known.has(server.name)) return [];
    if (server.setting) known.add(server.name);
    const { name, path: source, setting = {} } = server;
    return [
      { ...server, target: describeTarget(toServerDefinition(name, setting, { origin: "user", source })) },
    ];
  });
}

/** Adds a server to the user's file, or to the project's. @returns the file. @throws Error if there is one already. */
export async function addServer(
  place: ManagedPlace,
  { name, setting, isProject }: { name: string; setting: McpServerSetting; isProject: boolean },
): Promise<string> {
  const { loaded, environment } = place;
  const { servers } = await findServers(place);
  const origin = isProject ? "project" : "user";
  const known = servers.find((each) => each.name === name && each.origin === origin);
  if (known) throw new Error(`There is a server ${name} already, in ${known.source}; remove it first.`);
  const path = isProject
    ? await findProjectConfigPath(loaded.projectRoot)
    : await findUserConfigPath(environment);
  await changeServer(path, { name, change: { kind: "set", setting }, isShared: isProject });
  return path;
}

/** @returns the file that it was removed from. @throws UnknownServerError, and Error for a server of a plugin. */
export async function removeServer(place: ManagedPlace, name: string): Promise<string> {
  const definition = await findServer(place, name);
  if (definition.origin === "plugin")
    throw new Error(`The server ${name} belongs to a plugin; disable it, or remove the plugin.`);
  const path = await findFile(place, definition);
  await changeServer(path, { name, change: { kind: "remove" }, isShared: definition.origin === "project" });
  return path;
}

/**
 * Enables or disables a server; one of a plugin only in this project. The user's choice about a server of a project or a
 * plugin is saved outside of them.
 * @throws UnknownServerError, and Error for a server that its own file disables.
 */
export async function enableServer(
  place: ManagedPlace,
  { name, isEnabled }: { name: string; isEnabled: boolean },
): Promise<void> {
  const definition = await findServer(place, name);
  const { loaded, environment } = place;
  if (definition.origin !== "user") {
    if (isEnabled && definition.setting.enabled === false)
      throw new Error(`${definition.source} disables this server; change it there.`);
    await switchServer(environment, { root: loaded.projectRoot, server: name, isEnabled });
    return;
  }
  const path = await findUserConfigPath(environment);
  await changeServer(path, { name, change: { kind: "enable", isEnabled }, isShared: false });
}

/** @throws UnknownServerError */
export async function findServer(place: ManagedPlace, name: string): Promise<ServerDefinition> {
  const { servers } = await findServers(place);
  return requireServer(servers, name);
}

function requireServer(servers: readonly ServerDefinition[], name: string): ServerDefinition {
  const definition = servers.find((each) => each.name === name);
  if (definition) return definition;
  throw new UnknownServerError(
    name,
    servers.map((each) => each.name),
  );
}

function findFile(
  { loaded, environment }: ManagedPlace,
  { origin, source }: ServerDefinition,
): Promise<string> | string {
  if (origin === "user") return findUserConfigPath(environment);
  return source.endsWith(PROJECT_FILE)
    ? join(loaded.projectRoot, PROJECT_FILE)
    : findProjectConfigPath(loaded.projectRoot);
}
