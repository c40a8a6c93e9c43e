import { isAbsolute, resolve } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import type { McpServerSetting } from "../../config/schema.ts";
import type { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
import type { TrafficWatcher } from "../../infrastructure/network/connection.ts";
import { listLimitedHosts } from "../../infrastructure/network/host-limit.ts";
import { cleanPath, inheritEnvironment } from "../../infrastructure/process/environment.ts";
import type { ServerProgram } from "../../infrastructure/process/server-process.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { prepareSandboxedProgram } from "../../sandbox/sandboxed-program.ts";
import type { ServerDefinition } from "./server-definition.ts";

/** Where servers are started. */
export interface ProgramPlace {
  environment: Environment;
  loaded: LoadedConfig;
  temporaryDirectory: SessionTempDir;
  /** Reports to the user, in a sentence, that there is no sandbox. */
  notify(message: string): void;
  /** Receives the connections of the server. */
  traffic?: TrafficWatcher | undefined;
}

/**
 * The program of a server, with the allowed part of the environment. A server of a project or a plugin, and one with the
 * setting `sandbox`, runs in a sandbox of its own, in which it can write only where that setting says.
 * @param setting with its variables replaced. @throws Error with a sentence when it cannot be started.
 */
export async function prepareProgram(
  definition: ServerDefinition,
  setting: McpServerSetting,
  place: ProgramPlace,
): Promise<ServerProgram> {
  const { environment: own, loaded } = place;
  const { projectRoot: root, config } = loaded;
  const cwd = setting.cwd === undefined ? root : toAbsolute(setting.cwd, root, own);
  const environment = {
    ...inheritEnvironment(own, config.inheritEnvironment),
    PATH: cleanPath(own.PATH, { root, cwd }),
    AI_AGENT: "diligent",
    ...setting.env,
  };
  const { command = "", args = [] } = setting;
  const program = command.includes("/")
    ? toAbsolute(command, cwd, own)
    : Bun.which(command, { PATH: environment.PATH });
  if (program === null) throw new Error(`${command} was not found in PATH.`);
  const plain = { argv: [program, ...args], cwd, environment };
  const limited = listLimitedHosts();
  const isOpen = definition.origin === "user" && setting.sandbox === undefined;
  if ((isOpen && !limited) || config.sandbox === "off") {
    place.traffic?.addUnseen({ purpose: "mcp", command: definition.name });
    return plain;
  }
  // Outside a sandbox it would reach everything, so inside it reaches all that is left.
  const { write = [], network = isOpen && limited ? { allow: limited } : undefined } = setting.sandbox ?? {};
  return prepareSandboxedProgram(plain, {
    name: definition.name,
    purpose: "mcp",
    traffic: place.traffic,
    setting: config.sandbox ?? "auto",
    environment: own,
    root,
    writable: write.map((path) => toAbsolute(path, root, own)),
    network,
    temporaryDirectory: place.temporaryDirectory,
    notify: place.notify,
  });
}

function toAbsolute(path: string, base: string, environment: Environment): string {
  const home = homeDirectory(environment);
  const full = home !== undefined && /^~(?:\/|$)/.test(path) ? home + path.slice(1) : path;
  return isAbsolute(full) ? full : resolve(base, full);
}
