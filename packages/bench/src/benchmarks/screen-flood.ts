import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { measureEchoes } from "../measure/echo-times.ts";
import { readMegabytes } from "../measure/process-figures.ts";
import { quantile } from "../measure/statistics.ts";
import { openScreen } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 3;
const INTERVAL_MS = 10;
const LAST_WORD = "THE-FLOOD-IS-OVER";
// A command that fails at once leaves no time for them.
const LEAST_KEYS = 20;
const BUDGETS = { echoMs: 100, megabytes: 64 };

/** Commands that print very much, and one that prints next to nothing for as long. */
const QUIET = "sleep 3; echo done";
const FLOODS = {
  "1 GB in lines": "yes 'a line of output as a build prints them, again and again' | head -c 1000000000",
  "1 GB in one line": "tr '\\0' 'x' < /dev/zero | head -c 1000000000",
};

interface Flood {
  /** The 99th percentile. */
  echoMs: number;
  /** What the highest memory lies above that before the command. */
  megabytes: number;
}

/** Keys and memory while a tool prints 1 GB. */
export const screenFlood: Benchmark = {
  name: "screen-flood",
  about: "key to echo and memory while a command prints 1 GB",
  async measure(stage) {
    const subjects = Object.entries(FLOODS).map(([name, command]) => ({
      name,
      command,
      floods: [] as Flood[],
    }));
    const quiet: Flood[] = [];
    for (let run = 0; run < stage.runs(RUNS); run++) {
      quiet.push(await measureCommand(stage, QUIET));
      for (const { command, floods } of subjects) floods.push(await measureCommand(stage, command));
    }
    return subjects.flatMap(({ name, floods }) => toFigures(name, floods, quiet));
  },
};

function toFigures(name: string, floods: readonly Flood[], quiet: readonly Flood[]): Figure[] {
  const values = (key: keyof Flood) => ({
    measured: floods.map((flood) => flood[key]),
    reference: { name: "a quiet command", values: quiet.map((flood) => flood[key]) },
  });
  return [
    {
      name: `screen-flood, key to echo at the 99th percentile, ${name}`,
      unit: "ms",
      rule: { kind: "amount" },
      ...values("echoMs"),
      budget: BUDGETS.echoMs,
    },
    {
      name: `screen-flood, extra memory, ${name}`,
      unit: "MB",
      rule: { kind: "amount" },
      ...values("megabytes"),
      budget: BUDGETS.megabytes,
    },
  ];
}

async function measureCommand(stage: Stage, command: string): Promise<Flood> {
  const [, program] = await stage.programs();
  const call = { toolCalls: [{ name: "bash", input: { command } }] };
  await using run = await openScreen(stage, { program, turns: [call, { text: LAST_WORD }] });
  const before = readMegabytes(run.pid).now;
  run.type("Go.\r");
  await run.waitForScreen("Running bash");
  let isOver = false;
  const over = run.waitForScreen(LAST_WORD).then(() => {
    isOver = true;
  });
  const echoes = await measureEchoes(run, { intervalMs: INTERVAL_MS, until: () => isOver });
  await over;
  if (echoes.length < LEAST_KEYS) throw new Error(`Only ${echoes.length} keys were typed meanwhile.`);
  return { echoMs: quantile(echoes, 0.99), megabytes: readMegabytes(run.pid).peak - before };
}
