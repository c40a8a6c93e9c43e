import { describe, expect, test } from "bun:test";
import { formatTable, type Verdict } from "../src/figure.ts";

const ratio: Verdict = {
  name: "start",
  unit: "ms",
  measured: 123.456,
  spread: 0.0449,
  reference: { name: "empty script", value: 5.4321 },
  rule: "ratio",
  result: 22.727,
  budget: 20,
  isOver: true,
  runs: 9,
};

const amount: Verdict = {
  name: "request size",
  unit: "KB",
  measured: 6,
  spread: 0,
  rule: "amount",
  result: 6,
  budget: 12,
  isOver: false,
  runs: 1,
};

const perItem: Verdict = {
  name: "call",
  unit: "ms",
  measured: 1500,
  spread: 0.2,
  reference: { name: "no call", value: 1000 },
  rule: "per_item",
  result: 0.001234,
  isOver: false,
  runs: 9,
};

describe("formatTable", () => {
  test("aligns names to the left and numbers to the right, with three digits each", () => {
    expect(formatTable([ratio, amount, perItem]).split("\n")).toEqual([
      "name               measured               reference      result   budget",
      "start           123 ms ±4 %  5.43 ms (empty script)       22.7x    ≤ 20x  over",
      "request size      6 KB ±0 %                                6 KB  ≤ 12 KB  ok",
      "call          1500 ms ±20 %       1000 ms (no call)  0.00123 ms",
    ]);
  });

  test("shows only the headings without a figure", () => {
    expect(formatTable([])).toBe("name  measured  reference  result  budget");
  });
});
