import { describe, expect, test } from "bun:test";
import { median, relativeSpread } from "../src/measure/statistics.ts";

describe("median", () => {
  test("is the middle value of an odd number of values, in any order", () => {
    expect(median([30, 1, 2])).toBe(2);
  });

  test("is the mean of the two middle values of an even number of values", () => {
    expect(median([4, 1, 100, 2])).toBe(3);
  });

  test("orders numbers by size, not as text", () => {
    expect(median([9, 10, 100])).toBe(10);
  });

  test("leaves the values in their order", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  test("throws without a value", () => {
    expect(() => median([])).toThrow("Nothing was measured.");
  });
});

describe("relativeSpread", () => {
  test("is half the interquartile range divided by the median", () => {
    expect(relativeSpread([80, 90, 100, 110, 120])).toBe(0.1);
  });

  test("is not changed by one outlier", () => {
    expect(relativeSpread([80, 90, 100, 110, 9000])).toBe(0.1);
  });

  test("is zero for a single value, and for a median of zero", () => {
    expect([relativeSpread([7]), relativeSpread([0, 0])]).toEqual([0, 0]);
  });
});
