import type { ProjectOverrides } from "@diligent/core/harness";
import { type LoadOptions, limitHosts, type NetworkSetting, parseNetworkSetting } from "@diligent/core/run";
import type { ApprovalMode, RunCommandOptions } from "./arguments/command.ts";
import { UsageError } from "./errors.ts";
import { type CliIo, writeLine } from "./io/io.ts";
import { resolveDirectory } from "./session/project-directory.ts";
import { SESSION_FORMATTER } from "./session/session-formatter.ts";
import type { UpdateCheck } from "./update/update-check.ts";

/** The defaults of a front end, used if neither a file nor an option sets a value. */
export interface FrontEndConfig {
  approvalDefault: ApprovalMode;
  /** Receives warnings that are not part of the conversation; default: stderr. */
  warn?(message: string): void;
  /** Omitted if there is no user to notify. */
  updates?: UpdateCheck | undefined;
  /** A project that is trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
  /** See `SessionSettings` of core. */
  agentDefinition?: ProjectOverrides["agentDefinition"];
}

/**
 * The last layer of the configuration: the command line's values, which override the files and the
 * environment.
 */
export interface CommandLineConfig {
  /** The working directory, whose files apply. Absolute and real. */
  cwd: string;
  overrides: ProjectOverrides;
}

/**
 * The layer of one command line. Core reads the layers below it, from `cwd`.
 * @throws UsageError if the directory is not usable, and for an invalid option.
 */
export function resolveConfig(
  options: RunCommandOptions,
  io: CliIo,
  { approvalDefault, updates, trustedOnce, agentDefinition, ...frontEnd }: FrontEndConfig,
): CommandLineConfig {
  const warn = frontEnd.warn ?? ((message: string) => writeLine(io.stderr, message));
  const cwd = resolveDirectory(options.directory, io.cwd);
  if (options.onlyHosts) limitToHosts(options.onlyHosts);
  return {
    cwd,
    overrides: {
      maxTurns: options.maxTurns,
      maxCost: options.maxCost,
      requiredEvidence: options.requiredEvidence,
      appendSystemPrompt: options.appendSystemPrompt,
      allowedTools: options.allowedTools,
      disallowedTools: options.disallowedTools,
      addedDirectories: options.addedDirectories?.map((path) => resolveDirectory(path, cwd, "--add-dir")),
      persist: options.isSaved,
      isVerbose: options.isVerbose,
      approvalMode: options.approval,
      sandboxNetwork: toNetwork(options.network),
      defaultApprovalMode: approvalDefault,
      record: options.record,
      trustedOnce,
      agentDefinition,
      unrecordedPrompt: io.ownPrompt,
      formatter: SESSION_FORMATTER,
      wrapStream:
        updates &&
        ((stream, { config, ...context }) =>
          updates.watchStream(stream, { url: config.updateUrl, ...context })),
      warn: (message, topic) => (topic === "sandbox" ? void warnEscaped(message, warn) : warn(message)),
    },
  };
}

/**
 * From now on, this process connects to no other host.
 * @param lists each with commas between its entries.
 * @throws UsageError for an invalid host, which it names.
 */
export function limitToHosts(lists: readonly string[]): void {
  const hosts = lists.flatMap((list) => list.split(",").map((entry) => entry.trim()));
  const problem = limitHosts(hosts);
  if (problem !== undefined) throw new UsageError(`--only-host: ${problem}`);
}

/** @throws UsageError for an invalid host, which it names. */
function toNetwork(text: string | undefined): NetworkSetting | undefined {
  if (text === undefined) return undefined;
  const parsed = parseNetworkSetting(text);
  if ("problem" in parsed) throw new UsageError(`--network ${text}: ${parsed.problem}`);
  return parsed.setting;
}

/** Shows a message that contains a command's output in full, on one line, with every character visible. */
async function warnEscaped(message: string, warn: (message: string) => void): Promise<void> {
  const { escapeLine } = await import("./approval/escaped-text.ts");
  warn(escapeLine(message));
}
