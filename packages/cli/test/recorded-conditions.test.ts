import { expect, test } from "bun:test";
import type { Model } from "@diligent/core/run";
import { withConditions } from "../../core/src/harness/scripts.ts";

const MODEL: Model = { id: "claude-test", provider: "anthropic", contextWindow: 1000, maxOutputTokens: 100 };
const HERE = { environment: {}, loaded: { config: { maxTurns: 7, maxRetries: 3 } }, persist: false };

/** The limits of a model. */
function limitsOf({ conditions: { maxRetries, maxTurns, maxCost } = {} }: Model) {
  return { maxRetries, maxTurns, maxCost };
}

test("a recording contains the limits of the command line, or else those of the configuration", () => {
  expect(limitsOf(withConditions(MODEL, HERE))).toEqual({
    maxRetries: 3,
    maxTurns: 7,
    maxCost: undefined,
  });
  expect(limitsOf(withConditions(MODEL, { ...HERE, maxTurns: 2, maxCost: 0.5 }))).toEqual({
    maxRetries: 3,
    maxTurns: 2,
    maxCost: 0.5,
  });
});

test("a replay uses the limits of its recording, except those given on its command line", () => {
  const conditions = { maxTurns: 4, maxCost: 1, compaction: { enabled: false } };
  const recorded = { ...MODEL, provider: "scripted", conditions };
  expect(withConditions(recorded, HERE)).toEqual(recorded);
  expect(withConditions(recorded, { ...HERE, maxTurns: 9 })).toEqual({
    ...recorded,
    conditions: { ...conditions, maxTurns: 9 },
  });
});
