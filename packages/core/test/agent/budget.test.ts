import { expect, test } from "bun:test";
import { estimateMostCost, SharedBudget } from "../../src/agent/budget.ts";
import type { Model } from "../../src/provider/types.ts";

const signal = new AbortController().signal;

/** True once the promise has resolved, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

test("a budget gives as many turns as its limit, whoever takes them", () => {
  const budget = new SharedBudget({ maxTurns: 2 });

  expect([budget.takeTurn(), budget.takeTurn(), budget.takeTurn()]).toEqual([true, true, false]);
});

test("admit() lets requests run side by side while they cannot reach the limit together", async () => {
  const budget = new SharedBudget({ maxCost: 1 });

  const first = budget.admit(0.4, signal);
  const second = budget.admit(0.4, signal);

  expect(await Promise.all([isSettled(first), isSettled(second)])).toEqual([true, true]);
});

test("admit() holds a request back while those under way may reach the limit", async () => {
  const budget = new SharedBudget({ maxCost: 1 });
  const release = await budget.admit(2, signal);

  const second = budget.admit(2, signal);
  expect(await isSettled(second)).toBe(false);
  budget.addCost(0.3);
  release();
  await second;

  expect(budget.isOverCost).toBe(false);
});

test("runs that share a budget exceed its cost limit by one request at most", async () => {
  const budget = new SharedBudget({ maxCost: 1 });
  let cost = 0;
  const work = async () => {
    for (;;) {
      const release = await budget.admit(0.6, signal);
      if (budget.isOverCost) return release();
      await Bun.sleep(1);
      cost += 0.3;
      budget.addCost(0.3);
      release();
    }
  };

  await Promise.all([work(), work(), work(), work()]);

  expect(cost).toBeGreaterThanOrEqual(1);
  expect(cost).toBeLessThan(1 + 0.3 + 1e-9);
});

test("admit() stops waiting when its run is aborted", async () => {
  const budget = new SharedBudget({ maxCost: 1 });
  await budget.admit(2, signal);
  const abort = new AbortController();

  const waiting = budget.admit(2, abort.signal);
  abort.abort();

  await waiting;
});

test("estimateMostCost() is unknown without a price, and at least the cost of the longest answer with one", () => {
  const model: Model = {
    id: "m",
    provider: "p",
    contextWindow: 1000,
    maxOutputTokens: 500,
    thinking: "none",
  };
  const context = { systemPrompt: "s", messages: [], tools: [] };

  expect(estimateMostCost(model, context)).toBeNull();
  expect(
    estimateMostCost({ ...model, inputCostPer1M: 1, outputCostPer1M: 1000 }, context),
  ).toBeGreaterThanOrEqual(0.5);
});

test("a request whose price is unknown does not end the limit for the others", () => {
  const budget = new SharedBudget({ maxCost: 1 });
  budget.addCost(null);
  budget.addCost(1.5);
  expect(budget.isOverCost).toBe(true);
});
