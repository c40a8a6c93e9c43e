import { runBenchScript } from "./arguments.ts";
import { FAULT_TRIALS } from "./faults/trials/index.ts";
import { createProgress, parseFaultArguments, tryFaults } from "./faults/try-faults.ts";

// Disturbs the real program, and parts of the library, with every trial, and counts for each promise to users
// how often it was tried and how often it was broken. Exit code 1 if one was broken, 2 if a trial itself
// failed.

await runBenchScript({
  name: "faults",
  help: {
    usage: ["bun run faults [NAME…] [--long | --runs N] [--seed N]"],
    choices: FAULT_TRIALS,
    notes: [
      "--runs N tries each N times (default 10); --long tries longer. A seed repeats the disturbances.",
      "Exit code 1: a promise was broken; 2: a trial itself failed.",
    ],
  },
  main,
});

async function main(argv: readonly string[]): Promise<number> {
  const { runs, seed, names } = parseFaultArguments(
    argv,
    FAULT_TRIALS.map(({ name }) => name),
  );
  const trials = FAULT_TRIALS.filter(({ name }) => names.length === 0 || names.includes(name));
  const total = trials.reduce((sum, trial) => sum + runs(trial), 0);
  const progress = createProgress(process.stderr);
  const { tally, skipped, failures } = await tryFaults({
    trials,
    runs,
    seed,
    onTried: (done, { name }) => progress.show(`${done} of ${total}: ${name}`),
  });
  progress.end();
  console.log(`${trials.length} trials, ${total} disturbed runs, seed ${seed}\n\n${tally.format()}`);
  for (const line of skipped) console.log(`not tried: ${line}`);
  for (const line of [...tally.problems, ...failures.map((text) => `the trial failed: ${text}`)]) {
    console.log(`\n${line.slice(0, 1_000)}`);
  }
  if (failures.length > 0) return 2;
  return tally.problems.length > 0 ? 1 : 0;
}
