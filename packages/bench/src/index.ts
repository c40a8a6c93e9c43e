import { type BenchArguments, parseBenchArguments, runBenchScript } from "./arguments.ts";
import { BENCHMARKS } from "./benchmarks/index.ts";
import { type Benchmark, evaluateFigure, formatTable, type Verdict } from "./figure.ts";
import { PEER_COMPARISON } from "./peers/compare-peers.ts";
import { Stage } from "./stage/stage.ts";

const EXIT_OVER_BUDGET = 1;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

await runBenchScript({
  name: "bench",
  help: {
    usage: [
      "bun run bench [NAME…] [--json] [--check] [--runs N] [--seconds N] [--sessions N] [--commands FILE]",
      "bun run bench --peers [--runs N]   compares with other programs, installed from npm into a temporary directory",
    ],
    choices: BENCHMARKS,
    notes: [
      "--check exits with code 1 if a budget is exceeded; 2 means that something could not be measured.",
    ],
  },
  main: run,
});

async function run(argv: readonly string[]): Promise<number> {
  const names = BENCHMARKS.map(({ name }) => name);
  const args = parseBenchArguments(argv, names);
  const verdicts = await measureAll(args);
  console.log(args.isJson ? JSON.stringify(verdicts, null, 2) : formatTable(verdicts));
  return args.isCheck && verdicts.some(({ isOver }) => isOver) ? EXIT_OVER_BUDGET : 0;
}

async function measureAll({
  names,
  runs,
  seconds,
  sessions,
  commandsFile,
  isPeers,
}: BenchArguments): Promise<Verdict[]> {
  using stage = new Stage({ runs, seconds, sessions, commandsFile });
  if (isPeers) return await measureOne(PEER_COMPARISON, stage);
  const verdicts: Verdict[] = [];
  for (const benchmark of BENCHMARKS) {
    if (names.length > 0 && !names.includes(benchmark.name)) continue;
    console.error(`measuring ${benchmark.name} …`);
    verdicts.push(...(await measureOne(benchmark, stage)));
  }
  return verdicts;
}

async function measureOne(benchmark: Benchmark, stage: Stage): Promise<Verdict[]> {
  try {
    return (await benchmark.measure(stage)).map(evaluateFigure);
  } catch (error) {
    throw new Error(`${benchmark.name} could not be measured.`, { cause: error });
  }
}
