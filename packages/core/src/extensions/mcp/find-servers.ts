import type { LoadedConfig } from "../../config/loader.ts";
import { ProjectTrust, type ProjectTrustOptions } from "../../config/trust-items.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { PLUGIN_ROOT_VARIABLE, type Plugin } from "../definitions/plugin.ts";
import { readPluginServers, readServerFile, SERVER_TRUST } from "./project-file.ts";
import { type ServerDefinition, toServerDefinition } from "./server-definition.ts";
import { readSwitchedOff } from "./switched-off.ts";

/** Where servers are looked for. */
export interface ServerSearch {
  loaded: LoadedConfig;
  environment: Environment;
  /** Trust that is not saved. */
  trustedOnce?: ProjectTrustOptions["trustedOnce"];
  /** Decides about the servers of `.mcp.json`; reads the saved trust when left out. */
  trust?: ProjectTrust | undefined;
  /** The user's plugins that are active. */
  plugins?: readonly Plugin[] | undefined;
}

/** The servers that were found, and what is wrong with the files that define them. */
export interface FoundServers {
  /** Also those that are disabled, not trusted or broken. */
  servers: ServerDefinition[];
  /** Sentences. */
  problems: string[];
}

/**
 * All configured servers: the user's, those of the project's `diligent.jsonc`, those of its `.mcp.json`, and those of
 * plugins. Of two with the same name the one of the project's `diligent.jsonc` counts, then that of `.mcp.json`, then the
 * user's, then that of a plugin.
 */
export async function findServers({
  loaded,
  environment,
  trustedOnce,
  trust,
  plugins = [],
}: ServerSearch): Promise<FoundServers> {
  const { config, origins, servers, projectRoot: root } = loaded;
  const switchedOff = readSwitchedOff(environment, root);
  const isDisabled = (name: string) => switchedOff.has(name);
  const configured = Object.entries(config.mcpServers ?? {}).map(([name, setting]) => {
    const isProjects = servers.project.includes(name);
    return toServerDefinition(name, setting, {
      origin: isProjects ? "project" : "user",
      source: findOrigin(name, origins),
      isDisabled: isProjects && isDisabled(name),
    });
  });
  const untrusted = Object.entries(servers.untrusted).map(([name, setting]) =>
    toServerDefinition(name, setting, { origin: "project", source: "diligent.jsonc", isTrusted: false }),
  );
  const file = await readServerFile(root);
  const trusted = await (trust ?? new ProjectTrust({ root, environment, trustedOnce })).selectTrusted(
    SERVER_TRUST,
    file?.servers ?? [],
  );
  const fromFile = (file?.servers ?? []).map((item) =>
    toServerDefinition(item.name, item.setting, {
      origin: "project",
      source: item.path,
      isTrusted: trusted.includes(item),
      isDisabled: isDisabled(item.name),
    }),
  );
  const broken = (file?.broken ?? []).map(({ name, problem }) => ({
    ...toServerDefinition(name, {}, { origin: "project" as const, source: file?.path ?? "" }),
    problem,
  }));
  const ofPlugins = plugins.map((plugin) => readServersOf(plugin, isDisabled));
  return {
    // What is not trusted must not replace what is.
    servers: firstOfEachName([
      ...configured.filter(({ origin }) => origin === "project"),
      ...fromFile.filter(({ state }) => state !== "untrusted"),
      ...configured.filter(({ origin }) => origin === "user"),
      ...ofPlugins.flatMap((each) => each.servers),
      ...untrusted,
      ...fromFile,
      ...broken,
    ]),
    problems: [
      ...(file?.problem === undefined ? [] : [`${file.path} is not used: ${file.problem}`]),
      ...ofPlugins.flatMap((each) => each.problems),
    ],
  };
}

function readServersOf(plugin: Plugin, isDisabled: (name: string) => boolean): FoundServers {
  const files = readPluginServers(plugin);
  const variables = { [PLUGIN_ROOT_VARIABLE]: plugin.root };
  const origin = "plugin" as const;
  return {
    servers: files.flatMap(({ path: source, servers, broken }) => [
      ...servers.map(({ name, setting }) =>
        toServerDefinition(name, setting, { origin, source, variables, isDisabled: isDisabled(name) }),
      ),
      ...broken.map(({ name, problem }) => ({
        ...toServerDefinition(name, {}, { origin, source }),
        problem,
      })),
    ]),
    problems: files.flatMap(({ path, problem }) =>
      problem === undefined ? [] : [`${path} is not used: ${problem}`],
    ),
  };
}

function firstOfEachName(definitions: readonly ServerDefinition[]): ServerDefinition[] {
  const byName = new Map<string, ServerDefinition>();
  for (const definition of definitions)
    if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return [...byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The file of the server's settings. */
function findOrigin(name: string, origins: LoadedConfig["origins"]): string {
  const starts = [`mcpServers.${name}.`, `mcpServers[${JSON.stringify(name)}].`];
  const found = Object.entries(origins).find(([key]) => starts.some((start) => key.startsWith(start)));
  return found?.[1] ?? "configuration";
}
