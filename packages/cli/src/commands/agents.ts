import { listAgents, openProjectTrust, readPlugins } from "@diligent/core/definitions";
import { loadConfig } from "@diligent/core/harness";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments, unknownAction } from "./arguments.ts";

const MAX_COLUMNS = 160;

/**
 * Lists the sub-agents of a session started here, and those that wait for trust. It runs nothing.
 * @param directory as given with `-C`.
 * @throws UsageError for an invalid configuration.
 */
export async function runAgents(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("agents", rest);
  const [action = "list", extra] = words;
  if (!isSubcommandWord("agents", action)) throw unknownAction("agents", action);
  if (extra !== undefined) throw new UsageError(`agents ${action}: unexpected argument ${extra}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const { environment } = io;
  const loaded = await loadConfig(cwd, environment);
  const trust = () => openProjectTrust(loaded, { environment });
  const plugins = () => readPlugins(environment);
  const { agents, waiting, skipped } = await listAgents({ cwd, environment, loaded, trust, plugins });
  const all = [
    ...agents.map((agent) => ({ ...agent, state: "ready" })),
    ...waiting.map((agent) => ({ ...agent, state: "untrusted" })),
  ];
  if (switches.has("json")) {
    const listed = all.map(({ name, description, source, state, model, tools, problems = [] }) => ({
      ...{ name, description, source, state, model: model ?? null },
      ...{ tools: tools.allowed ?? null, deniedTools: tools.denied ?? [], warnings: problems },
    }));
    const unusable = skipped.map(({ shown, reason }) => ({ source: shown, state: "skipped", reason }));
    io.stdout.write(toJsonText([...listed, ...unusable]));
    return EXIT_SUCCESS;
  }
  for (const { name, source, state, description, problems = [] } of all) {
    const mark = state === "untrusted" ? " (not trusted, see diligent trust)" : "";
    writeLine(io.stdout, `${toSingleLine(`${name}  ${source}`, MAX_COLUMNS)}${mark}`);
    writeLine(io.stdout, `    ${toSingleLine(description, MAX_COLUMNS)}`);
    for (const problem of problems)
      writeLine(io.stdout, `    warning: ${toSingleLine(problem, MAX_COLUMNS)}`);
  }
  for (const { shown, reason } of skipped)
    writeLine(io.stdout, `not loaded: ${toSingleLine(`${shown}: ${reason}`, MAX_COLUMNS)}`);
  return EXIT_SUCCESS;
}
