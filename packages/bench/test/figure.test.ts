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

describe("judgeFigure", () => {
  test("a ratio is that of the two medians", () => {
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

  test("a cost per item is what comes on top of the reference, divided", () => {
    const { result, isOver } = evaluateFigure({ ...figure, rule: { kind: "per_item", items: 5 } });
    expect({ result, isOver }).toEqual({ result: 3, isOver: false });
  });

  test("an amount is judged by itself, with or without a reference", () => {
    const { reference: _, ...alone } = figure;
    const amount = { kind: "amount" } as const;
    expect(evaluateFigure({ ...figure, rule: amount }).result).toBe(25);
    expect(evaluateFigure({ ...alone, rule: amount }).result).toBe(25);
  });

  test("the budget itself is still within the budget, a little more is not", () => {
    expect(evaluateFigure({ ...figure, budget: 2.5 }).isOver).toBe(false);
    expect(evaluateFigure({ ...figure, budget: 2.49 }).isOver).toBe(true);
  });

  test("without a budget nothing is over", () => {
    const { budget: _, ...free } = figure;
    const { isOver, ...verdict } = evaluateFigure(free);
    expect(isOver).toBe(false);
    expect("budget" in verdict).toBe(false);
  });

  test("a ratio without a reference is a mistake", () => {
    const { reference: _, ...alone } = figure;
    expect(() => evaluateFigure(alone)).toThrow("needs a reference");
  });
});
