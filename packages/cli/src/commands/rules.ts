import { resolve } from "node:path";
import { checkRuleFile, findRules, openProjectTrust } from "@diligent/core/definitions";
import { loadConfig } from "@diligent/core/harness";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { formatRules, toListedRules } from "../rules/format-rules.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { readSubcommandArguments, unknownAction } from "./arguments.ts";

/**
 * Lists the rules of a session started here, or those of one file. It runs nothing.
 * @param directory as given with `-C`.
 * @throws UsageError for an invalid configuration and for a file that cannot be read.
 */
export async function runRules(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("rules", rest);
  const [action = "list", file, ...extra] = words;
  if (!isSubcommandWord("rules", action)) throw unknownAction("rules", action);
  const [unexpected] = action === "list" && file !== undefined ? [file] : extra;
  if (unexpected !== undefined) throw new UsageError(`rules ${action}: unexpected argument ${unexpected}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const rules = action === "check" ? await checkFile(file, cwd) : await listRules(cwd, io);
  if (switches.has("json")) io.stdout.write(toJsonText(toListedRules(rules)));
  else for (const line of formatRules(rules)) writeLine(io.stdout, line);
  return EXIT_SUCCESS;
}

async function checkFile(file: string | undefined, cwd: string) {
  if (file === undefined) throw new UsageError("rules check needs a FILE");
  return orUsageError(() => checkRuleFile(resolve(cwd, file), file));
}

async function listRules(cwd: string, { environment }: CliIo) {
  const loaded = await loadConfig(cwd, environment);
  const trust = await openProjectTrust(loaded, { environment });
  const place = { cwd, root: loaded.projectRoot, environment, settings: loaded.config.rules };
  return findRules(place, trust, { nested: true });
}
