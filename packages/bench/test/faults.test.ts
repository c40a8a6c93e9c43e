import { describe, expect, test } from "bun:test";
import { parseFaultArguments } from "../src/faults/arguments.ts";
import { PROMISES } from "../src/faults/promises.ts";
import { Tally } from "../src/faults/tally.ts";
import { FAULT_TRIALS } from "../src/faults/trials/index.ts";
import { KILL } from "../src/faults/trials/kill.ts";
import { tryFaults } from "../src/faults/try-faults.ts";

const SEED = 20;
// A run that hangs is ended by the trial itself before.
const LIMIT_MS = 120_000;

describe("the real program, disturbed", () => {
  test.each(FAULT_TRIALS)(
    "keeps its promises: $about",
    async (trial) => {
      const { tally, failures, skipped } = await tryFaults({ trials: [trial], runs: () => 1, seed: SEED });
      if (skipped.length > 0) console.warn(`not tried: ${skipped.join("; ")}`);
      expect([...tally.problems, ...failures]).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe("tryFaults", () => {
  const plan = { runs: () => 3, seed: 1 };

  test("counts what was tried and what was broken, and goes on after a trial that fails itself", async () => {
    const { tally, failures, skipped } = await tryFaults({
      ...plan,
      trials: [
        { name: "fair", about: "", run: async ({ check }) => check("saved", undefined) },
        { name: "foul", about: "", run: async ({ check, random }) => check("saved", `lost ${random() < 2}`) },
        { name: "broken", about: "", run: () => Promise.reject(new Error("no such file")) },
        { name: "elsewhere", about: "", obstacle: () => "it is too warm", run: async () => undefined },
        {
          name: "partly",
          about: "",
          leftOut: () => ["snow"],
          run: async ({ check }) => check("key", undefined),
        },
      ],
    });
    expect(tally.problems).toEqual(
      [2, 7, 12].map((seed) => `${PROMISES.saved}: lost true [foul, seed ${seed}]`),
    );
    expect(tally.format()).toMatch(/What was shown is saved +6 +3\n/);
    expect(failures).toEqual([3, 8, 13].map((seed) => `broken, seed ${seed}: no such file`));
    expect(skipped).toEqual(["elsewhere: it is too warm", "partly: snow"]);
  });

  test("a seed repeats the row of chances", async () => {
    const rows: number[][] = [[], []];
    for (const row of rows) {
      const run = async ({ random }: { random(): number }) => void row.push(random(), random());
      await tryFaults({ ...plan, trials: [{ name: "dice", about: "", run }] });
    }
    expect(rows[0]).toEqual(rows[1] ?? []);
    expect(new Set(rows[0]).size).toBe(6);
  });
});

test("promises that nothing has tried are in the table, too", () => {
  const lines = new Tally().format().split("\n");
  expect(lines).toHaveLength(Object.keys(PROMISES).length + 1);
  expect(lines.slice(1).every((line) => / +0 +0$/.test(line))).toBe(true);
});

describe("arguments", () => {
  const known = ["kill", "slow"];
  const runsOf = (argv: string[], longRuns?: number) =>
    parseFaultArguments(argv, known).runs(longRuns === undefined ? {} : { longRuns });

  test("name trials, runs and a seed", () => {
    const { names, seed } = parseFaultArguments(["slow", "--runs", "3", "--seed", "4"], known);
    expect([names, seed, runsOf(["--runs", "3"]), runsOf([]), runsOf([], 334)]).toEqual([
      ["slow"],
      4,
      3,
      10,
      10,
    ]);
  });

  test("may ask for the long form, in which a trial has its own number", () => {
    expect([runsOf(["--long"]), runsOf(["slow", "--long"], 334)]).toEqual([30, 334]);
  });

  test("that are anything else are refused with what there is", () => {
    expect(() => parseFaultArguments(["fast"], known)).toThrow("Trials: kill, slow.");
    expect(() => parseFaultArguments(["--long", "--runs", "3"], known)).toThrow("so does --runs");
  });
});

test("the long form kills a thousand runs", () => {
  expect(3 * (KILL.longRuns ?? 0)).toBeGreaterThanOrEqual(1_000);
});
