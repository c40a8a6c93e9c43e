import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { type PeakMemory, watchPeakMemory } from "../measure/peak-memory.ts";
import { runProcess } from "../measure/process-run.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { streamedAnswer, textAnswer } from "../stage/answers.ts";
import { type Answer, MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import { writeScript } from "../stage/programs.ts";
import { createProject } from "../stage/project.ts";
import type { Stage } from "../stage/stage.ts";
import { assertAllSucceeded, toolRounds } from "../stage/tool-rounds.ts";
import { MANY_CHUNKS } from "./streaming.ts";

const RUNS = 7;
const BUDGET_MEGABYTES = 100;

const CONVERSATIONS: Readonly<Record<string, Answer[]>> = {
  "one answer": [textAnswer("Done.")],
  "50 tool calls": toolRounds("mixed", 50),
  "5,000 chunks": [streamedAnswer(Array.from({ length: MANY_CHUNKS }, () => "word "))],
};

/** The most memory a `-p` run holds at any moment. */
export const memory: Benchmark = {
  name: "memory",
  about: "peak resident memory of -p",
  async measure(stage) {
    using server = new MessagesServer();
    // An empty script is gone before it can be looked at.
    const idleScript = writeScript(stage.scratch.makeDirectory("idle"), "await Bun.sleep(50);\n");
    const idle = peakOf((onStart) =>
      runProcess({
        argv: [idleScript],
        cwd: createProject(stage.scratch),
        environment: stage.environment(),
        onStart,
      }),
    );
    const subjects = await conversationsOf(stage, server);
    await takeTurns([idle, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    return subjects.map(
      ({ name, series }): Figure => ({
        name,
        unit: "MB",
        rule: { kind: "amount" },
        measured: series.values,
        reference: { name: "idle script", values: idle.values },
        budget: BUDGET_MEGABYTES,
      }),
    );
  },
};

async function conversationsOf(stage: Stage, server: MessagesServer) {
  return (await stage.programs()).flatMap((program) =>
    Object.entries(CONVERSATIONS).map(([name, answers]) => ({
      name: `memory, ${name}, ${program.name}`,
      series: peakOf(async (onStart) => {
        server.begin(answers);
        await runPrint(stage, { program, server, onStart });
        assertAllSucceeded(server, answers.length - 1);
      }),
    })),
  );
}

/** @param run runs a process and calls back with its id. */
function peakOf(run: (onStart: (pid: number) => void) => Promise<unknown>): Series {
  return new Series(async () => {
    let peak: PeakMemory | undefined;
    try {
      await run((pid) => {
        peak = watchPeakMemory(pid);
      });
    } finally {
      peak?.stop();
    }
    if (!peak?.megabytes) throw new Error("The kernel shows no memory figures (/proc) here.");
    return peak.megabytes;
  });
}
