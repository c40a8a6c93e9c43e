import { isAbsolute, resolve } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import type { McpServerSetting } from "../../config/schema.ts";
import type { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
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
  const isSandboxed = definition.origin !== "user" || setting.sandbox !== undefined;
  if (!isSandboxed || config.sandbox === "off") return plain;
  const { write = [], network } = setting.sandbox ?? {};
  return prepareSandboxedProgram(plain, {
    name: definition.name,
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
