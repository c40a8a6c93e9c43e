import { expect, test } from "bun:test";
import { nearestName } from "../../src/infrastructure/nearest-name.ts";

const NAMES = ["--model", "--max-turns", "--max-cost", "--print", "-p"];

test("a dropped, added, replaced or swapped character is forgiven", () => {
  expect(
    ["--mdel", "--modell", "--modal", "--mdoel", "--MODEL"].map((name) => nearestName(name, NAMES)),
  ).toEqual(Array(5).fill("--model"));
});

test("a longer name forgives more", () => {
  expect(nearestName("--max_trns", NAMES)).toBe("--max-turns");
});

test("nothing is suggested where nothing is near", () => {
  expect(nearestName("--frobnicate", NAMES)).toBeUndefined();
  expect(nearestName("x".repeat(1_000_000), NAMES)).toBeUndefined();
  expect(nearestName("anything", [])).toBeUndefined();
});

test("of a very short name one letter is forgiven, or a swapped pair", () => {
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

test("a very short name whose letters are all in other places is no swapped pair", () => {
  expect(["slo", "osl", "lso", "ols", "los"].map((name) => nearestName(name, ["sol"]))).toEqual([
    "sol",
    "sol",
    undefined,
    undefined,
    undefined,
  ]);
});

test("of two equally near names the first is taken", () => {
  expect(nearestName("--max-tost", ["--max-test", "--max-cost"])).toBe("--max-test");
});
