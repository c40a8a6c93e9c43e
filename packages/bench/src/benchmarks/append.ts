import { join } from "node:path";
import { generateEntryId } from "@diligent/core/run";
import { DeferredWriter } from "@diligent/core/sessions";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { toMessage } from "../stage/session-files.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 15;
const APPENDS = 10_000;
// One append is shorter than what a clock can tell, so so many are timed together.
const TIMED = 200;
const OUTPUT = "a line of a tool's output\n".repeat(40);
const BUDGET_RATIO = 1.5;
const BUDGET_MS = 0.05;

/** What adding an entry to a session file costs, at its beginning and behind 10,000 others; without waiting for the disk. */
export const append: Benchmark = {
  name: "append",
  about: "an entry added to a session, the 10,000th against the first",
  async measure(stage) {
    const first: number[] = [];
    const last: number[] = [];
    for (let run = 0; run <= stage.runs(RUNS); run++) {
      const { firstMs, lastMs } = fillSession(stage);
      // The first run warms up.
      if (run === 0) continue;
      first.push(firstMs);
      last.push(lastMs);
    }
    const figures: Figure[] = [
      {
        name: "append, the 10,000th entry",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: last,
        reference: { name: "the first", values: first },
        budget: BUDGET_RATIO,
      },
      { name: "append, one entry", unit: "ms", rule: { kind: "amount" }, measured: last, budget: BUDGET_MS },
    ];
    return figures;
  },
};

/** Milliseconds an append, among the first ones and among the last. */
function fillSession(stage: Stage): { firstMs: number; lastMs: number } {
  const directory = join(stage.scratch.makeDirectory("append"));
  const writer = new DeferredWriter(directory, directory);
  appendEntries(writer, 4);
  const firstMs = appendEntries(writer, TIMED);
  appendEntries(writer, APPENDS - 2 * TIMED);
  const lastMs = appendEntries(writer, TIMED);
  writer.close();
  return { firstMs, lastMs };
}

function appendEntries(writer: DeferredWriter, count: number): number {
  const timestamp = new Date(0).toISOString();
  const begin = performance.now();
  for (let number = 0; number < count; number++) {
    const message = toMessage(number, OUTPUT);
    writer.write({ type: "message", id: generateEntryId(), parentId: null, timestamp, message });
  }
  return (performance.now() - begin) / count;
}
