import { runBenchScript } from "./arguments.ts";
import { formatOutcomes, parseFuzzArguments, type TriedTarget } from "./fuzz/target.ts";
import { FUZZ_TARGETS } from "./fuzz/targets/index.ts";

// Makes values by chance, thousands for each promise that has to hold for all of them, and looks for one that breaks it.
// Exit code 1 when one was found.

await runBenchScript({
  name: "fuzz",
  help: {
    usage: ["bun run fuzz [NAME…] [--runs N] [--seed N]", "bun run fuzz NAME --seed N --path PATH"],
    choices: FUZZ_TARGETS,
    notes: [
      "--runs N tries N values of each, its own number when left out. --path repeats one that was found.",
      "Exit code 1: a value was found that breaks a promise.",
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
