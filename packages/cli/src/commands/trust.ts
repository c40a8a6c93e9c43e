import { ConfigError, describeTrust, trustProject, untrustProject } from "@diligent/core";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { isKnownModel } from "../load-config.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { orUsageError, UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { formatTrust } from "./format-trust.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError when a configuration file is broken, or nobody can be asked.
 */
export async function runTrust(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("trust", rest);
  if (words[0] !== undefined)
    throw new UsageError(`trust takes no words; to name a directory: -C ${words[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const description = await orUsageError(
    () => describeTrust(cwd, io.environment, { isKnownModel }),
    ConfigError,
  );
  for (const { message } of description.warnings) writeLine(io.stderr, `warning: ${message}`);
  for (const line of formatTrust(description)) writeLine(io.stdout, line);
  if (description.state === "none" || description.state === "trusted") return EXIT_SUCCESS;
  const question = `Trust the configuration of ${description.directory}?`;
  if (!switches.has("yes") && !(await askYesNo(question, io)))
    return say(io, "Not trusted; nothing was changed.");
  await trustProject(description, io.environment);
  return say(io, `Trusted: ${description.directory}`);
}

/** @param directory as given with `-C`. */
export async function runUntrust(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words } = readSubcommandArguments("untrust", rest);
  if (words[0] !== undefined)
    throw new UsageError(`untrust takes no words; to name a directory: -C ${words[0]}`);
  const result = await untrustProject(resolveDirectory(directory, io.cwd), io.environment);
  return say(
    io,
    result.wasTrusted ? `No longer trusted: ${result.directory}` : `It was not trusted: ${result.directory}`,
  );
}

function say(io: CliIo, text: string): number {
  writeLine(io.stdout, text);
  return EXIT_SUCCESS;
}
