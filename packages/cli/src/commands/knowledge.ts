import {
  findProjectRoot,
  homeDirectory,
  loadKnowledge,
  nearestName,
  resolvePaths,
} from "@diligent/core/light";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { UsageError } from "../usage-error.ts";
import { listKnowledge } from "./knowledge/list.ts";
import { pruneKnowledge } from "./knowledge/prune.ts";
import { removeKnowledge } from "./knowledge/remove.ts";
import type { KnowledgeCall, KnowledgeShelf } from "./knowledge/shelf.ts";
import { showKnowledge } from "./knowledge/show.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const HELP = `diligent knowledge: what was learned about this project, and is told to the model

  diligent knowledge [list] [--json]           what counts most comes first
  diligent knowledge show ID [--json]          all of it, and what it has replaced
  diligent knowledge rm ID... [--json]         take it away, with what it has replaced
  diligent knowledge prune [--dry-run] [--json]
                                               take away what was replaced, and what has faded

ID is an id of the list, or the beginning of one. What counts is confidence, halved every 30 days, times 1.5 for
corrections, 1.3 for preferences, 0.8 for discoveries. Below 0.05 it has faded: a pattern recorded with the usual
confidence of 0.8 after four months. The file .diligent/knowledge/knowledge.jsonl is only ever appended to: what is
taken away stays in it and is no longer told.
`;

type Action = (call: KnowledgeCall, shelf: KnowledgeShelf) => Promise<number> | number;

interface ActionSpec {
  run: Action;
  takes: "none" | "one" | "some";
}

const ACTIONS: Readonly<Record<string, ActionSpec>> = {
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
  const { words, switches } = readSubcommandArguments("knowledge", rest, ["json", "dry-run"]);
  if (switches.has("help")) {
    io.stdout.write(HELP);
    return EXIT_SUCCESS;
  }
  const [action = "list", ...ids] = words;
  const { run } = chooseAction(action, ids, switches);
  const isJson = switches.has("json");
  const shelf = await openShelf(resolveDirectory(directory, io.cwd), io);
  return orUsageError(async () => run({ ids, isJson, isDryRun: switches.has("dry-run"), io }, shelf));
}

function chooseAction(action: string, ids: readonly string[], switches: ReadonlySet<string>): ActionSpec {
  const spec = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (!spec) {
    const nearest = nearestName(action, Object.keys(ACTIONS));
    const hint = nearest === undefined ? "see diligent knowledge --help" : `did you mean ${nearest}?`;
    throw new UsageError(`knowledge: unknown action ${action} (${hint})`);
  }
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

/** What the file system does not allow is told on one line. */
async function orUsageError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(error.message);
  }
}
