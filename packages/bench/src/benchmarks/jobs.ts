import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";
import { type CommandSession, openSession } from "./box.ts";

const RUNS = 5;
const START_BUDGET_MS = 150;
const OUTPUT_BUDGET_MS = 5;
const LINE_BUDGET_MS = 500;
const IDLE_BUDGET_PERCENT = 1;
const IDLE_MS = 5_000;
const IDLE_JOBS = 10;

/** What a command in the background costs: to start, to read, and while nothing happens. */
export const jobs: Benchmark = {
  name: "jobs",
  about: "background commands: start, output, idle CPU time with ten of them",
  async measure(stage) {
    const figures: Figure[] = [];
    for (const setting of ["off", "required"] as const) figures.push(...(await measureJobs(stage, setting)));
    return figures;
  },
};

async function measureJobs(stage: Stage, setting: "off" | "required"): Promise<Figure[]> {
  const root = stage.scratch.makeDirectory("jobs-project");
  const session = await openSession(stage, root, setting);
  const place = setting === "off" ? "without a sandbox" : "in the sandbox";
  // Opens the sandbox.
  await call(session, "bash", { command: "true" });
  const start = new Series(() => startMs(session));
  const read = new Series(() => readMs(session));
  const line = new Series(() => lineMs(session, root));
  await takeTurns([start, read, line], stage.runs(RUNS));
  const idle = await idlePercent(session);
  await session.jobs.endAll();
  await session.sandbox.endProcesses();
  await session.sandbox.close();
  const toFigure = (name: string, { values }: Series, budget: number): Figure => ({
    name: `jobs, ${place}, ${name}`,
    unit: "ms",
    rule: { kind: "amount" },
    measured: values,
    budget,
  });
  return [
    toFigure("start to id", start, START_BUDGET_MS),
    toFigure("job_output", read, OUTPUT_BUDGET_MS),
    toFigure("line to waiting job_output", line, LINE_BUDGET_MS),
    {
      name: `jobs, ${place}, CPU with ${IDLE_JOBS} silent jobs`,
      unit: "%",
      rule: { kind: "amount" },
      measured: [idle],
      budget: IDLE_BUDGET_PERCENT,
    },
  ];
}

async function startMs(session: CommandSession): Promise<number> {
  const { elapsedMs } = await call(session, "bash", { command: "exec sleep 600", background: true });
  await session.jobs.endAll();
  return elapsedMs;
}

async function readMs(session: CommandSession): Promise<number> {
  await call(session, "bash", { command: "echo up; exec sleep 600", background: true });
  const id = session.jobs.list.at(-1)?.id;
  await call(session, "job_output", { id, filter: "up", wait_ms: 10_000 });
  const { elapsedMs } = await call(session, "job_output", { id });
  await session.jobs.endAll();
  return elapsedMs;
}

async function lineMs(session: CommandSession, root: string): Promise<number> {
  const command = "rm -f go; until [ -e go ]; do sleep 0.01; done; echo came; exec sleep 600";
  await call(session, "bash", { command, background: true });
  const waiting = call(session, "job_output", {
    id: session.jobs.list.at(-1)?.id,
    filter: "came",
    wait_ms: 30_000,
  });
  await Bun.sleep(100);
  const begin = performance.now();
  writeFileSync(join(root, "go"), "");
  await waiting;
  const elapsedMs = performance.now() - begin;
  await session.jobs.endAll();
  return elapsedMs;
}

/** CPU time of this process as a share of the time that passes. */
async function idlePercent(session: CommandSession): Promise<number> {
  for (let count = 0; count < IDLE_JOBS; count++)
    await call(session, "bash", { command: "exec sleep 600", background: true });
  await Bun.sleep(1_000);
  const before = process.cpuUsage();
  await Bun.sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  return (100 * (user + system)) / 1_000 / IDLE_MS;
}

async function call({ tools }: CommandSession, name: string, input: object): Promise<{ elapsedMs: number }> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const args = tool.parameters.parse(input);
  const signal = AbortSignal.timeout(60_000);
  const begin = performance.now();
  const result = await tool.execute(args, { toolCallId: "bench", signal, approve: async () => "once" });
  const elapsedMs = performance.now() - begin;
  if (result.isError) throw new Error(result.output);
  return { elapsedMs };
}
