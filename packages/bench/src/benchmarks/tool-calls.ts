import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import type { Stage } from "../stage/stage.ts";
import { assertAllSucceeded, type CallKind, toolRounds } from "../stage/tool-rounds.ts";

const RUNS = 9;
const COUNT = 50;
const BUDGET_MS = 5;
const KINDS: readonly CallKind[] = ["bash", "read", "mixed", "grep"];

/** What one of 50 calls in a row costs all told: request, answer, tool, session file. */
export const toolCalls: Benchmark = {
  name: "tool-calls",
  about: "50 tool calls in a row against a local server, per call",
  async measure(stage) {
    using server = new MessagesServer();
    const none = callsInARow(stage, server, { kind: "bash", count: 0 });
    const subjects = KINDS.map((kind) => ({
      kind,
      series: callsInARow(stage, server, { kind, count: COUNT }),
    }));
    await takeTurns([none, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    return subjects.map(
      ({ kind, series }): Figure => ({
        name: `tool call, ${kind}`,
        unit: "ms",
        rule: { kind: "per_item", items: COUNT },
        measured: series.values,
        reference: { name: "no call", values: none.values },
        // Of a search most is ripgrep's own time, which the benchmark of grep takes apart.
        ...(kind !== "grep" && { budget: BUDGET_MS }),
      }),
    );
  },
};

/** A whole run from the checkout with so many calls, in ms. */
function callsInARow(
  stage: Stage,
  server: MessagesServer,
  { kind, count }: { kind: CallKind; count: number },
): Series {
  return new Series(async () => {
    server.begin(toolRounds(kind, count));
    const { wallMs } = await runPrint(stage, { program: stage.checkout, server });
    assertAllSucceeded(server, count);
    return wallMs;
  });
}
