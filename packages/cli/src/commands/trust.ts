import { describeTrust, type TrustDescription, trustProject, untrustProject } from "@diligent/core";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { isKnownModel, orUsageError } from "../load-config.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const TRUST_HELP = `diligent trust: let this project's configuration take effect

  diligent trust          shows what would become active, then asks
  diligent trust --yes    without asking

Trust holds for this exact directory and this exact content: a file that changes is asked about again.
`;

const UNTRUST_HELP = `diligent untrust: take back the trust in this project's configuration
`;

/**
 * @param directory as given with `-C`.
 * @throws UsageError when a configuration file is broken, or nobody can be asked.
 */
export async function runTrust(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("trust", rest, ["yes"]);
  if (words[0] !== undefined)
    throw new UsageError(`trust takes no words; to name a directory: -C ${words[0]}`);
  if (switches.has("help")) return say(io, TRUST_HELP.trimEnd());
  const cwd = resolveDirectory(directory, io.cwd);
  const description = await orUsageError(() => describeTrust(cwd, io.environment, { isKnownModel }));
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
  const { words, switches } = readSubcommandArguments("untrust", rest);
  if (words[0] !== undefined)
    throw new UsageError(`untrust takes no words; to name a directory: -C ${words[0]}`);
  if (switches.has("help")) return say(io, UNTRUST_HELP.trimEnd());
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

/** What the user decides about: the exact directory, and each setting that would become active. */
export function formatTrust({
  directory,
  state,
  path,
  activates,
  refused,
  changes,
}: TrustDescription): string[] {
  if (state === "none") return [`${directory} has no configuration that could be trusted.`];
  if (state === "trusted") return [`${directory} is trusted already, as it stands now.`];
  const active = activates.map(({ key, value }) => `  ${key} = ${value}`);
  return [
    `Directory  ${directory}`,
    `File       ${path ?? ""}`,
    ...(state === "changed" ? ["It has changed since you trusted it:", ...changes.map(formatChange)] : []),
    ...(active.length > 0 ? ["Becomes active:", ...active] : ["Nothing in it needs trust."]),
    ...(refused.length > 0
      ? [`Stays ignored, since only your own file can say it: ${refused.join(", ")}`]
      : []),
  ];
}

function formatChange({ key, before, after }: TrustDescription["changes"][number]): string {
  return `  ${key}: ${before ?? "(not set)"} -> ${after ?? "(not set)"}`;
}
