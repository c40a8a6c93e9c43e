import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import type { Program, Stage } from "../stage/stage.ts";
import { assertAllSucceeded, type CallKind, toolRounds } from "../stage/tool-rounds.ts";
import { createUnboxedHome } from "../stage/unboxed-home.ts";

const RUNS = 9;
const COUNT = 50;
const BUDGET_MS = 5;

interface Calls {
  name: string;
  kind: CallKind;
  /** Where commands run in a sandbox, if there is one: its own cost is judged by the benchmark of that. */
  isBoxed?: boolean;
  budget?: number;
}

const CALLS: readonly Calls[] = [
  { name: "bash", kind: "bash", budget: BUDGET_MS },
  { name: "bash in the sandbox", kind: "bash", isBoxed: true },
  { name: "read", kind: "read", budget: BUDGET_MS },
  { name: "mixed", kind: "mixed", budget: BUDGET_MS },
  // Of a search most is ripgrep's own time, which the benchmark of grep takes apart.
  { name: "grep", kind: "grep" },
];

/** What one of 50 calls in a row costs all told: request, answer, tool, session file. */
export const toolCalls: Benchmark = {
  name: "tool-calls",
  about: "50 tool calls in a row against a local server, per call",
  async measure(stage) {
    using server = new MessagesServer();
    const unboxed = createUnboxedHome(stage.scratch);
    const homeOf = ({ isBoxed = false }: Calls) => (isBoxed ? undefined : unboxed);
    const subjects = (await stage.programs()).flatMap((program) => {
      const none = callsInARow(stage, server, { program, kind: "bash", count: 0, home: unboxed });
      return CALLS.filter(({ budget }) => program === stage.checkout || budget !== undefined).map((calls) => {
        const { kind } = calls;
        const series = callsInARow(stage, server, { program, kind, count: COUNT, home: homeOf(calls) });
        return { ...calls, program, none, series };
      });
    });
    const series = subjects.flatMap((subject) => [subject.none, subject.series]);
    await takeTurns([...new Set(series)], stage.runs(RUNS));
    return subjects.map(
      ({ name, program, budget, none, series }): Figure => ({
        name: `tool call, ${name}, ${program.name}`,
        unit: "ms",
        rule: { kind: "per_item", items: COUNT },
        measured: series.values,
        reference: { name: "no call", values: none.values },
        // Judged as it ships; the sources load what they need in many more pieces.
        ...(budget !== undefined && program !== stage.checkout && { budget }),
      }),
    );
  },
};

interface CallsOptions {
  program: Program;
  kind: CallKind;
  count: number;
  home: string | undefined;
}

/** A whole run with so many calls, in ms. */
function callsInARow(
  stage: Stage,
  server: MessagesServer,
  { program, kind, count, home }: CallsOptions,
): Series {
  return new Series(async () => {
    server.begin(toolRounds(kind, count));
    const { wallMs } = await runPrint(stage, {
      program,
      server,
      ...(home !== undefined && { home }),
    });
    assertAllSucceeded(server, count);
    return wallMs;
  });
}
