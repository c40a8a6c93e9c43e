import { expect, test } from "bun:test";
import { computeCost } from "../../src/agent/cost.ts";
import { resolveModel } from "../../src/provider/models.ts";
import { EMPTY_USAGE } from "../../src/types.ts";

const usage = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cacheReadTokens: 2_000_000,
  cacheWriteTokens: 100_000,
};
const model = { id: "m", provider: "p", contextWindow: 1, maxOutputTokens: 1 };

test("each kind of token has its own price", () => {
  const priced = {
    ...model,
    inputCostPer1M: 2,
    outputCostPer1M: 10,
    cacheReadCostPer1M: 0.2,
    cacheWriteCostPer1M: 2.5,
  };
  expect(computeCost(usage, priced)).toBeCloseTo(2 + 1 + 0.4 + 0.25, 10);
});

test("cached tokens without a price of their own count as input", () => {
  expect(computeCost(usage, { ...model, inputCostPer1M: 1, outputCostPer1M: 1 })).toBeCloseTo(3.2, 10);
});

test("an unknown price makes the cost unknown, also for nothing", () => {
  expect(computeCost(usage, model)).toBeNull();
  expect(computeCost(EMPTY_USAGE, { ...model, inputCostPer1M: 1 })).toBeNull();
});

test("a long prompt is charged at the long price", () => {
  const haiku = resolveModel("claude-haiku-5-5");
  const tokens = (inputTokens: number) => ({ ...EMPTY_USAGE, inputTokens, outputTokens: 1_000_000 });
  expect(computeCost(tokens(100_000), haiku)).toBeCloseTo(0.01 + 0.5, 10);
  expect(computeCost(tokens(100_001), haiku)).toBeCloseTo(0.0500005 + 2.5, 6);
});
