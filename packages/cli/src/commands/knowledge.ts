import { findProjectRoot, homeDirectory, loadKnowledge, resolvePaths } from "@diligent/core/light";
import { isSubcommandWord, type SubcommandWord } from "../arguments/subcommand-table.ts";
import type { CliIo } from "../cli-io.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { orUsageError, UsageError } from "../usage-error.ts";
import { listKnowledge } from "./knowledge/list.ts";
import { pruneKnowledge } from "./knowledge/prune.ts";
import { removeKnowledge } from "./knowledge/remove.ts";
import type { KnowledgeCall, KnowledgeShelf } from "./knowledge/shelf.ts";
import { showKnowledge } from "./knowledge/show.ts";
import { readSubcommandArguments, unknownAction } from "./subcommand-arguments.ts";

type Action = (call: KnowledgeCall, shelf: KnowledgeShelf) => Promise<number> | number;

interface ActionSpec {
  run: Action;
  takes: "none" | "one" | "some";
}

const ACTIONS: Readonly<Record<SubcommandWord<"knowledge">, ActionSpec>> = {
  list: { run: listKnowledge, takes: "none" },
  show: { run: showKnowledge, takes: "one" },
  rm: { run: removeKnowledge, takes: "some" },
  prune: { run: pruneKnowledge, takes: "none" },
};

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action or id, and when the file cannot be read or written.
 */
export async function runKnowledge(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("knowledge", rest);
  const [action = "list", ...ids] = words;
  const { run } = chooseAction(action, ids, switches);
  const isJson = switches.has("json");
  const shelf = await openShelf(resolveDirectory(directory, io.cwd), io);
  return orUsageError(async () => run({ ids, isJson, isDryRun: switches.has("dry-run"), io }, shelf));
}

function chooseAction(action: string, ids: readonly string[], switches: ReadonlySet<string>): ActionSpec {
  if (!isSubcommandWord("knowledge", action)) throw unknownAction("knowledge", action);
  const spec = ACTIONS[action];
  const [first, second] = ids;
  if (spec.takes === "none" && first !== undefined)
    throw new UsageError(`knowledge ${action} takes no id: ${first}`);
  if (spec.takes !== "none" && first === undefined)
    throw new UsageError(`knowledge ${action} needs an ID (see diligent knowledge list)`);
  if (spec.takes === "one" && second !== undefined)
    throw new UsageError(`knowledge ${action} takes one ID, not also ${second}`);
  if (switches.has("dry-run") && action !== "prune")
    throw new UsageError("knowledge: --dry-run goes with prune");
  return spec;
}

/**
 * The knowledge of the project that `cwd` belongs to.
 * @throws UsageError when it cannot be read.
 */
export async function openShelf(
  cwd: string,
  { environment }: Pick<CliIo, "environment">,
): Promise<KnowledgeShelf> {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const { knowledge: path } = resolvePaths(root);
  const library = await loadKnowledge();
  const entries = await orUsageError(() => library.readKnowledge(path));
  return { library, path, root, entries };
}
