import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { textAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import type { Program, Stage } from "../stage/stage.ts";
import { wholeProcess } from "../stage/whole-process.ts";

const RUNS = 21;
const BUDGETS = { checkout: 20, bundle: 12 };

/** How long it takes from the start of `-p` until its first request arrives, as a multiple of an empty script. */
export const firstRequest: Benchmark = {
  name: "first-request",
  about: "from the start of -p to its first request, against an empty script",
  async measure(stage) {
    using server = new MessagesServer();
    const empty = wholeProcess(stage, [stage.emptyScript]);
    const subjects = (await stage.programs()).flatMap((program) => [
      { program, label: program.name, series: untilRequest(stage, server, program) },
      { program, label: `${program.name}, new home`, series: untilRequest(stage, server, program, true) },
    ]);
    await takeTurns([empty, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    return subjects.map(
      ({ program, label, series }): Figure => ({
        name: `first request, ${label}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "empty script", values: empty.values },
        ...(label === program.name && { budget: BUDGETS[program.name] }),
      }),
    );
  },
};

function untilRequest(stage: Stage, server: MessagesServer, program: Program, hasNewHome = false): Series {
  return new Series(async () => {
    server.begin([textAnswer("Done.")]);
    const home = hasNewHome ? stage.scratch.makeDirectory("home") : stage.home;
    const { startedAt } = await runPrint(stage, { program, server, home });
    const [request] = server.requests;
    if (!request) throw new Error("No request came.");
    return request.arrivedAt - startedAt;
  });
}
