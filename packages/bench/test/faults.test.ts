import { describe, expect, test } from "bun:test";
import { testUnless } from "../../core/test/support/test-unless.ts";
import { PROMISES } from "../src/faults/trial.ts";
import { FAULT_TRIALS } from "../src/faults/trials/index.ts";
import { KILL } from "../src/faults/trials/process.ts";
import { parseFaultArguments, Tally, tryFaults } from "../src/faults/try-faults.ts";

const SEED = 20;
// The trial itself ends a hanging run before this.
const LIMIT_MS = 120_000;

for (const [title, subject] of [
  ["the real program, disturbed", "program"],
  ["a part of the library in this process, disturbed", "library"],
] as const) {
  describe(title, () => {
    for (const trial of FAULT_TRIALS.filter((each) => each.subject === subject)) {
      const leftOut = trial.leftOut?.() ?? [];
      const part = leftOut.length > 0 ? ` (not tried here: ${leftOut.join("; ")})` : "";
      testUnless(trial.obstacle?.())(
        `keeps its promises: ${trial.about}${part}`,
        async () => {
          const { tally, failures } = await tryFaults({ trials: [trial], runs: () => 1, seed: SEED });
          expect([...tally.problems, ...failures]).toEqual([]);
        },
        LIMIT_MS,
      );
    }
  });
}

describe("tryFaults", () => {
  const plan = { runs: () => 3, seed: 1 };

  test("counts what was tried and broken, and continues after a trial that fails itself", async () => {
    const { tally, failures, skipped } = await tryFaults({
      ...plan,
      trials: [
        { name: "fair", subject: "program", about: "", run: async ({ check }) => check("saved", undefined) },
        {
          name: "foul",
          subject: "library",
          about: "",
          run: async ({ check, random }) => check("saved", `lost ${random() < 2}`),
        },
        {
          name: "broken",
          subject: "program",
          about: "",
          run: () => Promise.reject(new Error("no such file")),
        },
        {
          name: "elsewhere",
          subject: "program",
          about: "",
          obstacle: () => "it is too warm",
          run: async () => undefined,
        },
        {
          name: "partly",
          subject: "program",
          about: "",
          leftOut: () => ["snow"],
          run: async ({ check }) => check("key", undefined),
        },
      ],
    });
    expect(tally.problems).toEqual(
      [2, 7, 12].map((seed) => `${PROMISES.saved}: lost true [foul, seed ${seed}]`),
    );
    expect(tally.format()).toMatch(/What was shown is saved +3 +3 +3\n/);
    expect(failures).toEqual([3, 8, 13].map((seed) => `broken, seed ${seed}: no such file`));
    expect(skipped).toEqual(["elsewhere: it is too warm", "partly: snow"]);
  });

  test("repeats the same random numbers for the same seed", async () => {
    const rows: number[][] = [[], []];
    for (const row of rows) {
      const run = async ({ random }: { random(): number }) => void row.push(random(), random());
      await tryFaults({ ...plan, trials: [{ name: "dice", subject: "program", about: "", run }] });
    }
    expect(rows[0]).toEqual(rows[1] ?? []);
    expect(new Set(rows[0]).size).toBe(6);
  });
});

test("lists promises that no trial has tried, too", () => {
  const lines = new Tally().format().split("\n");
  expect(lines).toHaveLength(Object.keys(PROMISES).length + 1);
  expect(lines.slice(1).every((line) => / +0 +0 +0$/.test(line))).toBe(true);
});

describe("arguments of faults", () => {
  const known = ["kill", "slow"];
  const runsOf = (argv: string[], longRuns?: number) =>
    parseFaultArguments(argv, known).runs(longRuns === undefined ? {} : { longRuns });

  test("select trials, runs and a seed", () => {
    const { names, seed } = parseFaultArguments(["slow", "--runs", "3", "--seed", "4"], known);
    expect([names, seed, runsOf(["--runs", "3"]), runsOf([]), runsOf([], 334)]).toEqual([
      ["slow"],
      4,
      3,
      10,
      10,
    ]);
  });

  test("select the long form, in which a trial has its own number of runs", () => {
    expect([runsOf(["--long"]), runsOf(["slow", "--long"], 334)]).toEqual([30, 334]);
  });

  test("are refused with the possible values if they are anything else", () => {
    expect(() => parseFaultArguments(["fast"], known)).toThrow("Trials: kill, slow.");
    expect(() => parseFaultArguments(["--long", "--runs", "3"], known)).toThrow(
      "--long and --runs both set the number of runs",
    );
  });
});

test("select a thousand kills in the long form", () => {
  expect(3 * (KILL.longRuns ?? 0)).toBeGreaterThanOrEqual(1_000);
});
