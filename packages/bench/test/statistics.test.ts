import { describe, expect, test } from "bun:test";
import { median, relativeSpread } from "../src/measure/statistics.ts";

describe("median", () => {
  test("an odd number of values has one in the middle, whatever their order", () => {
    expect(median([30, 1, 2])).toBe(2);
  });

  test("an even number of values is met half-way", () => {
    expect(median([4, 1, 100, 2])).toBe(3);
  });

  test("numbers are ordered by size, not as text", () => {
    expect(median([9, 10, 100])).toBe(10);
  });

  test("the values stay in their order", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  test("without a value it fails", () => {
    expect(() => median([])).toThrow("Nothing was measured.");
  });
});

describe("relativeSpread", () => {
  test("half the distance between the quartiles is told as a part of the median", () => {
    expect(relativeSpread([80, 90, 100, 110, 120])).toBe(0.1);
  });

  test("one outlier does not move it", () => {
    expect(relativeSpread([80, 90, 100, 110, 9000])).toBe(0.1);
  });

  test("a single value has none, and neither has zero", () => {
    expect([relativeSpread([7]), relativeSpread([0, 0])]).toEqual([0, 0]);
  });
});
