import { join } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import type { SessionTempDir } from "../../infrastructure/fs/state-files.ts";
import type { TrafficWatcher } from "../../infrastructure/network/connection.ts";
import { cleanPath, inheritEnvironment } from "../../infrastructure/process/environment.ts";
import type { ServerProgram } from "../../infrastructure/process/server-process.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { prepareSandboxedProgram } from "../../sandbox/sandboxed-program.ts";
import type { LanguageServerDefinition } from "./find-servers.ts";

/** Where servers are started. */
interface ProgramPlace {
  environment: Environment;
  loaded: LoadedConfig;
  temporaryDirectory: SessionTempDir;
  /** Reports to the user, in a sentence, that there is no sandbox. */
  notify(message: string): void;
  /** Receives the connections of the server. */
  traffic?: TrafficWatcher | undefined;
}

/**
 * The program of a server, with the allowed part of the environment. It runs in a sandbox of its own, in which it can
 * write only to its temporary directory and reaches no network: servers run what a project's files say, such as plugins
 * and build scripts. Without a sandbox, only servers run that the user has chosen or trusted.
 * @throws Error with a sentence when it cannot be started.
 */
export async function prepareLanguageServer(
  { name, command: [command = "", ...args], origin }: LanguageServerDefinition,
  { environment, loaded, temporaryDirectory, notify, traffic }: ProgramPlace,
): Promise<ServerProgram> {
  const { projectRoot: root, config } = loaded;
  const variables = {
    ...inheritEnvironment(environment, config.inheritEnvironment),
    PATH: cleanPath(environment.PATH, { root, cwd: root }),
    AI_AGENT: "diligent",
  };
  const path = findProgram(command, { root, environment, path: variables.PATH });
  if (path === null) throw new Error(`${command} was not found in PATH.`);
  const program = { argv: [path, ...args], cwd: root, environment: variables };
  const { sandbox = "auto" } = config;
  if (sandbox === "off") {
    if (origin === "found")
      throw new Error(
        `It was found in PATH, and runs without a sandbox only if "lsp" in your settings names it.`,
      );
    traffic?.addUnseen({ purpose: "language_server", command: name });
    return program;
  }
  return prepareSandboxedProgram(program, {
    ...{ name, environment, root, temporaryDirectory, notify, traffic },
    purpose: "language_server",
    setting: origin === "found" ? "required" : sandbox,
    toVariables: (directory) => ({
      // Where compilers keep what they have built; their own directories cannot be written to.
      XDG_CACHE_HOME: join(directory, "cache"),
      CARGO_TARGET_DIR: join(directory, "target"),
    }),
  });
}

function findProgram(
  command: string,
  { root, environment, path }: { root: string; environment: Environment; path: string },
): string | null {
  const home = homeDirectory(environment);
  if (home !== undefined && command.startsWith("~/")) return join(home, command.slice(2));
  if (command.startsWith("/")) return command;
  return command.includes("/") ? join(root, command) : Bun.which(command, { PATH: path });
}
