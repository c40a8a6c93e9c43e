import { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import type { ConnectionPurpose, TrafficWatcher } from "../infrastructure/network/connection.ts";
import type { NetworkSetting } from "../infrastructure/network/network-setting.ts";
import type { ServerProgram } from "../infrastructure/process/server-process.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { SessionSandbox } from "./session-sandbox.ts";

/** What a server may do in its sandbox. */
interface ServerSandbox {
  /** Of the server, for messages. */
  name: string;
  /** `required`: sandboxed or not at all. */
  setting: "auto" | "required";
  environment: Environment;
  /** The project root, absolute and real; the server can only read it. */
  root: string;
  /** Directories that it may write to besides its own temporary one; absolute. */
  writable?: readonly string[] | undefined;
  /** What it reaches; nothing when left out. */
  network?: NetworkSetting | undefined;
  /** In which its own private directory is created. */
  temporaryDirectory: SessionTempDir;
  /** Further environment variables, by the directory to which it may write. */
  toVariables?(directory: string): Readonly<Record<string, string>>;
  /** Why it connects. */
  purpose: Exclude<ConnectionPurpose, "command">;
  /** Receives its connections, or that they cannot be seen. */
  traffic?: TrafficWatcher | undefined;
  /** Reports to the user, in a sentence, that there is no sandbox. */
  notify(message: string): void;
}

/**
 * The program in a sandbox of its own, which ends with it; unsandboxed where none is required and there is none.
 * @throws Error with a sentence when it may only run in a sandbox.
 */
export async function prepareSandboxedProgram(
  program: ServerProgram,
  { name, setting, writable, network = "off", temporaryDirectory, toVariables, ...options }: ServerSandbox,
): Promise<ServerProgram> {
  const { purpose } = options;
  const own = new SessionTempDir(temporaryDirectory.path()).path();
  if (own === undefined) throw new Error("Its sandbox needs a temporary directory, which cannot be created.");
  const sandbox = new SessionSandbox({
    setting,
    environment: options.environment,
    root: options.root,
    isRootReadOnly: true,
    writable,
    directory: () => own,
    network: {
      setting: network,
      isChosen: true,
      onConnection: (connection) => options.traffic?.add({ ...connection, purpose, command: name }),
    },
  });
  const state = await sandbox.sandboxState();
  if (state.kind === "refused") throw new Error(`It may only run in a sandbox, and ${state.problem}.`);
  if (state.kind === "open") {
    options.notify(`The server ${name} runs without a sandbox: ${state.problem ?? "there is none"}.`);
    options.traffic?.addUnseen({ purpose, command: name });
    return program;
  }
  const directory = sandbox.commandTemporary?.directory ?? own;
  const environment = { ...program.environment, ...toVariables?.(directory) };
  const wrapped = await state.wrapper.wrapCommand({ ...program, environment });
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
