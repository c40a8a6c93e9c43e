import { describe, expect, test } from "bun:test";
import { parseSeededRuns } from "../src/arguments.ts";

describe("parseSeededRuns", () => {
  test("parses the number of runs and a seed", () => {
    expect(parseSeededRuns(["--seed", "7", "--runs", "1000"], 200)).toEqual({ runs: 1000, seed: 7 });
    expect(parseSeededRuns([], 200)).toMatchObject({ runs: 200, seed: expect.any(Number) });
  });

  test.each([[["--runs"]], [["--runs", "0"]], [["--seed", "x"]]])("refuses %p as a number", (argv) => {
    expect(() => parseSeededRuns(argv, 200)).toThrow("needs a number of at least 1");
  });

  test("refuses any other argument", () => {
    expect(() => parseSeededRuns(["--many"], 200)).toThrow("--many: unknown");
  });
});
