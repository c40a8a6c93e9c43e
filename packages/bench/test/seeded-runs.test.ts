import { describe, expect, test } from "bun:test";
import { parseSeededRuns } from "../src/arguments.ts";

describe("parseSeededRuns", () => {
  test("takes the number of runs and a seed", () => {
    expect(parseSeededRuns(["--seed", "7", "--runs", "1000"], 200)).toEqual({ runs: 1000, seed: 7 });
    expect(parseSeededRuns([], 200)).toMatchObject({ runs: 200, seed: expect.any(Number) });
  });

  test.each([[["--runs"]], [["--runs", "0"]], [["--seed", "x"]]])("%p is no number", (argv) => {
    expect(() => parseSeededRuns(argv, 200)).toThrow("takes a number from 1 on");
  });

  test("anything else is refused", () => {
    expect(() => parseSeededRuns(["--many"], 200)).toThrow("--many: not known");
  });
});
