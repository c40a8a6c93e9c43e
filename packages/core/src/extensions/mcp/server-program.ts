import { isAbsolute, resolve } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import type { McpServerSetting } from "../../config/schema.ts";
import { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
import { cleanPath, inheritEnvironment } from "../../infrastructure/process/environment.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { SessionSandbox } from "../../sandbox/session-sandbox.ts";
import type { ServerDefinition } from "./server-definition.ts";
import type { ServerProgram } from "./stdio-transport.ts";

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
  return isSandboxed && config.sandbox !== "off"
    ? sandboxed(plain, setting, { ...place, name: definition.name })
    : plain;
}

async function sandboxed(
  program: ServerProgram,
  { sandbox: { write = [], network = "off" } = {} }: McpServerSetting,
  { environment, loaded, temporaryDirectory, notify, name }: ProgramPlace & { name: string },
): Promise<ServerProgram> {
  const own = new SessionTempDir(temporaryDirectory.path()).path();
  if (own === undefined) throw new Error("Its sandbox needs a temporary directory, which cannot be created.");
  const sandbox = new SessionSandbox({
    setting: loaded.config.sandbox ?? "auto",
    environment,
    root: loaded.projectRoot,
    isRootReadOnly: true,
    writable: write.map((path) => toAbsolute(path, loaded.projectRoot, environment)),
    directory: () => own,
    network: { setting: network, isChosen: true },
  });
  const state = await sandbox.sandboxState();
  if (state.kind === "refused") throw new Error(`It may only run in a sandbox, and ${state.problem}.`);
  if (state.kind === "open") {
    notify(`The server ${name} runs without a sandbox: ${state.problem ?? "there is none"}.`);
    return program;
  }
  const wrapped = await state.wrapper.wrapCommand(program);
  return {
    ...program,
    argv: wrapped.argv,
    environment: wrapped.environment,
    report: wrapped.report,
    processTable: wrapped.processTable,
    inheritedFiles: wrapped.inheritedFiles,
    async release(gone) {
      wrapped.finish({ survivors: false, gone });
      sandbox.endConnections();
      await sandbox.endProcesses();
      await sandbox.close();
    },
  };
}

function toAbsolute(path: string, base: string, environment: Environment): string {
  const home = homeDirectory(environment);
  const full = home !== undefined && /^~(?:\/|$)/.test(path) ? home + path.slice(1) : path;
  return isAbsolute(full) ? full : resolve(base, full);
}
