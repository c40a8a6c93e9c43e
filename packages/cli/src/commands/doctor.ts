import { findProjectRoot, homeDirectory, resolvePaths, userStateDirectory } from "@diligent/core/light";
import type { CliIo } from "../cli-io.ts";
import { EXIT_FAILURE, EXIT_SUCCESS } from "../exit-codes.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";
import { type Check, type CheckStatus, warning } from "./doctor/check.ts";
import { checkConfiguration } from "./doctor/check-configuration.ts";
import { checkPlace, checkProjectPlace } from "./doctor/check-disk.ts";
import { checkEndpoint } from "./doctor/check-endpoint.ts";
import { checkModel } from "./doctor/check-model.ts";
import { checkProgram } from "./doctor/check-program.ts";
import { checkSandbox } from "./doctor/check-sandbox.ts";
import { checkTerminal } from "./doctor/check-terminal.ts";
import { checkTools } from "./doctor/check-tools.ts";
import { checkUpdates } from "./doctor/check-updates.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const MARKS: Readonly<Record<CheckStatus, string>> = {
  ok: "ok      ",
  warning: "warning ",
  problem: "PROBLEM ",
  skipped: "skipped ",
};
const NAME_COLUMNS = 14;

/**
 * Looks at everything that diligent needs and says what is missing. Exit code 1 where it cannot work.
 * @param directory as given with `-C`.
 * @throws UsageError for arguments that it does not take.
 */
export async function runDoctor(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("doctor", rest);
  if (words[0] !== undefined)
    throw new UsageError(`doctor takes no words; to name a directory: -C ${words[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const questions = { modelId: values.get("model"), isOffline: switches.has("offline") };
  const checks = await checkAll(cwd, questions, io);
  const isWell = checks.every(({ status }) => status !== "problem");
  if (switches.has("json")) io.stdout.write(toJsonText({ ok: isWell, checks }));
  else for (const line of checks.flatMap(formatCheck)) writeLine(io.stdout, line);
  return isWell ? EXIT_SUCCESS : EXIT_FAILURE;
}

interface Questions {
  /** Undefined: the one that is configured. */
  modelId: string | undefined;
  isOffline: boolean;
}

async function checkAll(cwd: string, { modelId, isOffline }: Questions, io: CliIo): Promise<Check[]> {
  const { environment, platform } = io;
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const configuration = await checkConfiguration(cwd, io);
  const { loaded } = configuration;
  const model = loaded ? await checkModel(loaded, { cwd, modelId }) : { checks: [] };
  const endpoint = model.provider && checkEndpoint(model.provider, { isOffline, environment });
  const state = userStateDirectory(environment);
  return [
    ...(await checkProgram(platform)),
    ...(configuration.loaded ? [await checkUpdates(configuration.loaded.config, { isOffline })] : []),
    ...configuration.checks,
    ...model.checks,
    ...(endpoint ? [await endpoint] : []),
    ...(await checkTools({ environment, root })),
    await checkSandbox(configuration.loaded?.config ?? {}, { environment, platform, root }),
    checkTerminal(io),
    checkProjectPlace(resolvePaths(root)),
    state === undefined
      ? warning("state", "there is no home directory to keep it in")
      : checkPlace("state", state),
  ];
}

function formatCheck({ name, status, message, hint }: Check): string[] {
  const line = `${MARKS[status]}${name.padEnd(NAME_COLUMNS)} ${message}`;
  return hint === undefined ? [line] : [line, `${" ".repeat(MARKS.ok.length + NAME_COLUMNS)} ${hint}`];
}
