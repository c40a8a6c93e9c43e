import { resolve } from "node:path";
import {
  findForeignSessions,
  type ImportedSession,
  importSessions,
  isOfProject,
  listForeignSessions,
} from "@diligent/core/history";
import {
  FOREIGN_AGENTS,
  findProjectRoot,
  homeDirectory,
  isForeignAgent,
  nearestName,
  resolvePaths,
} from "@diligent/core/light";
import { EXIT_FAILURE, EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openMaskingRedactor } from "../session/saved-secrets.ts";
import { formatMessageCount, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * Imports sessions of another agent into this project.
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown agent and for a path that does not exist.
 */
export async function runImport(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("import", rest);
  const [name, path, ...more] = words;
  const agent = readAgent(name);
  if (more[0] !== undefined) throw new UsageError(`import takes one PATH, not also ${more[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const root = findProjectRoot(cwd, homeDirectory(io.environment));
  const { locations, problems } =
    path === undefined
      ? await listForeignSessions(agent, io.environment)
      : await orUsageError(() => findForeignSessions(agent, resolve(cwd, path)));
  const wanted = path === undefined ? locations.filter((location) => isOfProject(location, root)) : locations;
  const isJson = switches.has("json");
  const options = {
    paths: resolvePaths(root),
    redactor: await openMaskingRedactor(cwd, io.environment),
    onImported: (session: ImportedSession) => {
      if (!isJson) writeLine(io.stdout, sanitizeTerminalText(describe(session)));
    },
  };
  const outcome = await orUsageError(() => importSessions(wanted, options));
  if (isJson) io.stdout.write(toJsonText(outcome.imported.map(({ change: _, ...session }) => session)));
  else if (outcome.imported.length === 0) io.stdout.write("No sessions found.\n");
  const failures = [...problems, ...outcome.problems];
  for (const problem of failures) writeLine(io.stderr, sanitizeTerminalText(`warning: ${problem}`));
  return failures.length > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

function readAgent(name: string | undefined) {
  if (name !== undefined && isForeignAgent(name)) return name;
  const known = FOREIGN_AGENTS.join(", ");
  if (name === undefined) throw new UsageError(`import needs an agent: ${known}`);
  const nearest = nearestName(name, FOREIGN_AGENTS);
  const hint = nearest === undefined ? `known: ${known}` : `did you mean ${nearest}?`;
  throw new UsageError(`import: unknown agent ${name} (${hint})`);
}

function describe({ id, messages, toolCalls, skipped, change }: ImportedSession): string {
  const kinds = Object.entries(skipped).map(([kind, count]) => `${kind} ${count}`);
  const facts = [
    formatMessageCount(messages),
    `${toolCalls} tool call${toolCalls === 1 ? "" : "s"}`,
    ...(change === "new" ? [] : [change === "branched" ? BRANCHED : change]),
    ...(kinds.length > 0 ? [`skipped: ${kinds.join(", ")}`] : []),
  ];
  return `${id} (${facts.join("; ")})`;
}

const BRANCHED = "updated on another branch, because you have continued it here: see /tree";
