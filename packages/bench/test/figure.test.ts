import { describe, expect, test } from "bun:test";
import { evaluateFigure, type Figure } from "../src/figure.ts";

const figure: Figure = {
  name: "start",
  unit: "ms",
  rule: { kind: "ratio" },
  measured: [30, 20, 25],
  reference: { name: "empty script", values: [10, 4, 10] },
  budget: 3,
};

describe("evaluateFigure()", () => {
  test("divides the two medians for a ratio", () => {
    expect(evaluateFigure(figure)).toEqual({
      name: "start",
      unit: "ms",
      measured: 25,
      spread: 0.1,
      reference: { name: "empty script", value: 10 },
      rule: "ratio",
      result: 2.5,
      budget: 3,
      isOver: false,
      runs: 3,
    });
  });

  test("divides the cost in addition to the reference by the number of items", () => {
    const { result, isOver } = evaluateFigure({ ...figure, rule: { kind: "per_item", items: 5 } });
    expect({ result, isOver }).toEqual({ result: 3, isOver: false });
  });

  test("compares an amount with its budget, with or without a reference", () => {
    const { reference: _, ...alone } = figure;
    const amount = { kind: "amount" } as const;
    expect(evaluateFigure({ ...figure, rule: amount }).result).toBe(25);
    expect(evaluateFigure({ ...alone, rule: amount }).result).toBe(25);
  });

  test("accepts a value equal to the budget and rejects a slightly larger one", () => {
    expect(evaluateFigure({ ...figure, budget: 2.5 }).isOver).toBe(false);
    expect(evaluateFigure({ ...figure, budget: 2.49 }).isOver).toBe(true);
  });

  test("rejects nothing without a budget", () => {
    const { budget: _, ...free } = figure;
    const { isOver, ...verdict } = evaluateFigure(free);
    expect(isOver).toBe(false);
    expect("budget" in verdict).toBe(false);
  });

  test("throws for a ratio without a reference", () => {
    const { reference: _, ...alone } = figure;
    expect(() => evaluateFigure(alone)).toThrow("needs a reference");
  });
});
