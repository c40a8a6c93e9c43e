import { expect, test } from "bun:test";
import { nearestName } from "../../src/infrastructure/nearest-name.ts";

const NAMES = ["--model", "--max-turns", "--max-cost", "--print", "-p"];

test("a missing, additional, replaced or swapped character is tolerated", () => {
  expect(
    ["--mdel", "--modell", "--modal", "--mdoel", "--MODEL"].map((name) => nearestName(name, NAMES)),
  ).toEqual(Array(5).fill("--model"));
});

test("longer names tolerate more", () => {
  expect(nearestName("--max_trns", NAMES)).toBe("--max-turns");
});

test("nothing is suggested if no name is similar", () => {
  expect(nearestName("--frobnicate", NAMES)).toBeUndefined();
  expect(nearestName("x".repeat(1_000_000), NAMES)).toBeUndefined();
  expect(nearestName("anything", [])).toBeUndefined();
});

test("in a very short name one character or a swapped pair is tolerated", () => {
  const names = ["sol", "opus", "4o"];
  expect(["sal", "so", "slo", "foo", "gpt", "xo"].map((name) => nearestName(name, names))).toEqual([
    "sol",
    "sol",
    "sol",
    undefined,
    undefined,
    "4o",
  ]);
});

test("a very short name with all characters in other places is not a swapped pair", () => {
  expect(["slo", "osl", "lso", "ols", "los"].map((name) => nearestName(name, ["sol"]))).toEqual([
    "sol",
    "sol",
    undefined,
    undefined,
    undefined,
  ]);
});

test("of two equally similar names the first is chosen", () => {
  expect(nearestName("--max-tost", ["--max-test", "--max-cost"])).toBe("--max-test");
});
