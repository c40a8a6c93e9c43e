import type { Benchmark } from "../benchmark.ts";
import { runProcess } from "../measure/process-run.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { createProject } from "../stage/project.ts";
import { writeSessions } from "../stage/session-files.ts";
import { wholeProcess } from "../stage/whole-process.ts";

const RUNS = 15;
const SESSIONS = 1000;
const BUDGET_MS = 300;

/** `--list` in a project with very many sessions: the whole process, from start to end. */
export const list: Benchmark = {
  name: "list",
  about: "--list of 1,000 sessions of 100 KB",
  async measure(stage) {
    const cwd = createProject(stage.scratch);
    writeSessions(cwd, SESSIONS, { entries: 40, bytes: 100_000 });
    const environment = stage.environment();
    const argv = [stage.checkout.path, "--list"];
    const listing = new Series(async () => {
      const { wallMs, stdout } = await runProcess({ argv, cwd, environment });
      if (stdout.split("\n").length !== SESSIONS + 2) throw new Error("Not all sessions are listed.");
      return wallMs;
    });
    const empty = wholeProcess(stage, [stage.emptyScript]);
    await takeTurns([listing, empty], stage.runs(RUNS));
    return [
      {
        name: "list, 1,000 sessions of 100 KB",
        unit: "ms",
        rule: { kind: "amount" },
        measured: listing.values,
        reference: { name: "empty script", values: empty.values },
        budget: BUDGET_MS,
      },
    ];
  },
};
