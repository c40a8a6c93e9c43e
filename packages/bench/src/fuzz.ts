import { runBenchScript } from "./arguments.ts";
import { formatOutcomes, parseFuzzArguments, type TriedTarget } from "./fuzz/target.ts";
import { FUZZ_TARGETS } from "./fuzz/targets/index.ts";

// Generates thousands of random values for each property that must always hold, and looks for one that breaks
// it. Exit code 1 if one was found.

await runBenchScript({
  name: "fuzz",
  help: {
    usage: ["bun run fuzz [NAME…] [--runs N] [--seed N]", "bun run fuzz NAME --seed N --path PATH"],
    choices: FUZZ_TARGETS,
    notes: [
      "--runs N tries N values of each target (default: its own number). --path repeats a value that was found.",
      "Exit code 1: a value was found that breaks a property.",
    ],
  },
  main,
});

async function main(argv: readonly string[]): Promise<number> {
  const { names, runs, seed, path } = parseFuzzArguments(
    argv,
    FUZZ_TARGETS.map(({ name }) => name),
  );
  const targets = FUZZ_TARGETS.filter(({ name }) => names.length === 0 || names.includes(name));
  const tried: TriedTarget[] = [];
  for (const target of targets) {
    process.stderr.write(`${target.name}…\n`);
    const begin = performance.now();
    const outcome = await target.search({ runs: runs ?? target.runs.usual, seed, path });
    tried.push({ target, outcome, tookMs: performance.now() - begin });
    if (outcome.problem !== undefined) console.log(`${target.name}: ${outcome.problem}\n`);
  }
  console.log(`seed ${seed}\n\n${formatOutcomes(tried)}`);
  return tried.some(({ outcome }) => outcome.problem !== undefined) ? 1 : 0;
}
