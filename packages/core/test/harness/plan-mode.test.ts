import { expect, test } from "bun:test";
import type { ApprovalMode } from "../../src/approval/types.ts";
import { createPlanNotes, describePlanMode, hasPlan } from "../../src/harness/plan-mode.ts";

test("the model is told once when plan mode begins and when it ends", () => {
  let mode: ApprovalMode = "ask";
  const takeNotes = createPlanNotes("ask", () => mode);
  expect(takeNotes()).toEqual([]);
  mode = "plan";
  expect(takeNotes()).toEqual([describePlanMode()]);
  expect(takeNotes()).toEqual([]);
  mode = "accept-edits";
  expect(takeNotes()).toEqual(["Plan mode has ended: the approval mode is accept-edits."]);
  mode = "ask";
  expect(takeNotes()).toEqual([]);
});

test("a session whose prompt describes plan mode is told when it ends", () => {
  let mode: ApprovalMode = "plan";
  const takeNotes = createPlanNotes("plan", () => mode);
  expect(takeNotes()).toEqual([]);
  mode = "ask";
  expect(takeNotes()).toHaveLength(1);
});

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
