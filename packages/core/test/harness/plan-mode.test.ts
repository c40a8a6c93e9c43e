import { expect, test } from "bun:test";
import { hasPlan } from "../../src/harness/plan-mode.ts";

test.each([
  ["## Plan\n1. a", true],
  ["Text.\n\n### The plan\n", true],
  ["# Plan: change it", true],
  ["There is no plan.", false],
  ["## Planning poker", false],
  ["", false],
])("%j has a plan: %p", (answer, expected) => {
  expect(hasPlan(answer)).toBe(expected);
});
