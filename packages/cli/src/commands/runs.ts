import { now } from "@diligent/core/light";
import { listRuns, type RunRecord, stopRun } from "@diligent/core/runs";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { describeError, EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeFailure, writeLine } from "../io/io.ts";
import { formatAge, toJsonText } from "../text/format.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments, unknownAction } from "./arguments.ts";

const MAX_COLUMNS = 160;

/**
 * Lists the sessions that are open now, or stops one.
 * @throws UsageError for an id of none.
 */
export async function runRuns(rest: readonly string[], io: CliIo): Promise<number> {
  const { words, switches } = readSubcommandArguments("runs", rest);
  const [action = "list", id, extra] = words;
  if (!isSubcommandWord("runs", action)) throw unknownAction("runs", action);
  if (extra !== undefined) throw new UsageError(`runs ${action}: unexpected argument ${extra}`);
  const runs = listRuns(io.environment);
  if (action === "stop") return stop(findRun(runs, id), io);
  if (id !== undefined) throw new UsageError(`runs list: unexpected argument ${id}`);
  if (switches.has("json")) {
    const shown = runs.map(({ id, project, model, state, cost, process: { pid } }) => ({
      ...{ id, pid, project, model, state, cost },
    }));
    io.stdout.write(toJsonText(shown));
    return EXIT_SUCCESS;
  }
  if (runs.length === 0) writeLine(io.stdout, "No sessions are running.");
  for (const run of runs) writeLine(io.stdout, toSingleLine(describe(run), MAX_COLUMNS));
  return EXIT_SUCCESS;
}

function describe({ id, project, model, state, cost, startedAtMs, process: { pid } }: RunRecord): string {
  const spent = cost === null ? [] : [`$${cost.toFixed(2)}`];
  const age = formatAge(now() - startedAtMs)
    .replace("just now", "less than a minute")
    .replace(/ ago$/, "");
  return [id, state, `process ${pid}`, age, ...spent, model, project].join(" · ");
}

/** @param id of a session, or a prefix of only one. */
function findRun(runs: readonly RunRecord[], id: string | undefined): RunRecord {
  if (id === undefined) throw new UsageError('runs stop: name a session; "diligent runs" lists them');
  const exact = runs.filter((run) => run.id === id);
  const [found, other] = exact.length > 0 ? exact : runs.filter((run) => run.id.startsWith(id));
  if (other) throw new UsageError(`runs stop: several running sessions begin with ${id}`);
  if (!found)
    throw new UsageError(`runs stop: no running session has the id ${id}; "diligent runs" lists them`);
  return found;
}

async function stop(run: RunRecord, io: CliIo): Promise<number> {
  try {
    if (await stopRun(run)) {
      writeLine(io.stdout, `Stopped ${run.id}.`);
      return EXIT_SUCCESS;
    }
    writeFailure(io.stderr, `${run.id} has not ended yet: process ${run.process.pid}`);
  } catch (error) {
    writeFailure(io.stderr, `${run.id} cannot be stopped: ${describeError(error)}`);
  }
  return EXIT_FAILURE;
}
