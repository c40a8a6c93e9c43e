import { describe, expect, test } from "bun:test";
import { parseBenchArguments } from "../src/arguments.ts";

const KNOWN = ["version", "grep"];
const NOTHING = { names: [], isJson: false, isCheck: false, isPeers: false };

describe("parseArguments", () => {
  test("without arguments selects every benchmark, as a table", () => {
    expect(parseBenchArguments([], KNOWN)).toEqual(NOTHING);
  });

  test("accepts names and options in any order", () => {
    const args = parseBenchArguments(["--json", "grep", "--runs", "5", "version", "--check"], KNOWN);
    expect(args).toEqual({ ...NOTHING, names: ["grep", "version"], isJson: true, isCheck: true, runs: 5 });
  });

  test.each([["gerp"], ["--jsn"], ["constructor"], [""]])(
    "refuses %p and lists the possible names",
    (word) => {
      expect(() => parseBenchArguments([word], KNOWN)).toThrow(
        `${word}: unknown. Benchmarks: version, grep.`,
      );
    },
  );

  test.each([[["--runs"]], [["--runs", "0"]], [["--runs", "1.5"]], [["--runs", "many"]]])(
    "refuses %p as a number of runs",
    (argv) => {
      expect(() => parseBenchArguments(argv, KNOWN)).toThrow("--runs needs a number of at least 1.");
    },
  );
});
