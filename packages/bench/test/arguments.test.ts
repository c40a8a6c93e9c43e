import { describe, expect, test } from "bun:test";
import { parseBenchArguments } from "../src/arguments.ts";

const KNOWN = ["version", "grep"];
const NOTHING = { names: [], isJson: false, isCheck: false, isPeers: false };

describe("parseArguments", () => {
  test("nothing asked for means everything, as a table", () => {
    expect(parseBenchArguments([], KNOWN)).toEqual(NOTHING);
  });

  test("names and options stand in any order", () => {
    const args = parseBenchArguments(["--json", "grep", "--runs", "5", "version", "--check"], KNOWN);
    expect(args).toEqual({ ...NOTHING, names: ["grep", "version"], isJson: true, isCheck: true, runs: 5 });
  });

  test.each([["gerp"], ["--jsn"], ["constructor"], [""]])(
    "%p is refused, with the names there are",
    (word) => {
      expect(() => parseBenchArguments([word], KNOWN)).toThrow(
        `${word}: not known. Benchmarks: version, grep.`,
      );
    },
  );

  test.each([[["--runs"]], [["--runs", "0"]], [["--runs", "1.5"]], [["--runs", "many"]]])(
    "%p is no number of runs",
    (argv) => {
      expect(() => parseBenchArguments(argv, KNOWN)).toThrow("--runs takes a number from 1 on.");
    },
  );
});
