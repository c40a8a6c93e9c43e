import { expect, test } from "bun:test";
import type { RunConditions } from "@diligent/core";
import type { Model } from "@diligent/core/run";
import { toRunConditions } from "../../core/src/harness/scripts.ts";

const MODEL: Model = { id: "claude-test", provider: "anthropic", contextWindow: 1000, maxOutputTokens: 100 };
const HERE = { environment: {}, loaded: { config: { maxTurns: 7, maxRetries: 3 } }, persist: false };

function limitsOf({ maxRetries, maxTurns, maxCost }: RunConditions) {
  return { maxRetries, maxTurns, maxCost };
}

test("a recording contains the limits of the command line, or else those of the configuration", () => {
  expect(limitsOf(toRunConditions({ model: MODEL }, HERE))).toEqual({
    maxRetries: 3,
    maxTurns: 7,
    maxCost: undefined,
  });
  expect(limitsOf(toRunConditions({ model: MODEL }, { ...HERE, maxTurns: 2, maxCost: 0.5 }))).toEqual({
    maxRetries: 3,
    maxTurns: 2,
    maxCost: 0.5,
  });
});

test("a replay uses the limits of its recording, except those given on its command line", () => {
  const conditions = { maxTurns: 4, maxCost: 1, compaction: { enabled: false } };
  const recorded = { model: { ...MODEL, provider: "scripted" }, conditions };
  expect(toRunConditions(recorded, HERE)).toEqual(conditions);
  expect(toRunConditions(recorded, { ...HERE, maxTurns: 9 })).toEqual({ ...conditions, maxTurns: 9 });
});
