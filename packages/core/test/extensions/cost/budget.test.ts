import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { limitRequests, SharedBudget, SpendingLimitError } from "../../../src/agent/budget.ts";
import type { AgentEvent } from "../../../src/agent/types.ts";
import { createProviderStream, type StreamFunction } from "../../../src/provider/types.ts";
import { AgentProject, delegate } from "../../support/agent-harness.ts";
import { type CachingService, startCachingService } from "../../support/caching-service.ts";
import { CostStage, requestsOf, say } from "../../support/cost-stage.ts";
import { assistant, text } from "../../support/messages.ts";
import { TEST_MODEL } from "../../support/models.ts";

let service: CachingService;
let stage: CostStage;

beforeEach(async () => {
  service = await startCachingService();
});

afterEach(async () => {
  await stage.close();
  await service[Symbol.asyncDispose]();
});

/** The stop reason of a run, and its notices about limits. */
async function stopOf(opened: Awaited<ReturnType<CostStage["openSession"]>>, prompt: string) {
  const events: AgentEvent[] = [];
  const run = opened.session.run({ role: "user", content: prompt, timestamp: Date.now() });
  await run.consume((event) => events.push(event));
  return events.flatMap((event) => {
    if (event.type === "agent_end") return [event.stopReason];
    return event.type === "notice" && event.code === "limit" ? [event.message] : [];
  });
}

describe("a spent budget", () => {
  test("stops a run before its next request, and later programs before their first", async () => {
    stage = new CostStage(service, { budget: { day: 0.001 } });
    const opened = await stage.openSession();
    service.answers.push({ calls: [{ name: "ls", input: {} }] });
    expect(await stopOf(opened, "go")).toEqual([
      expect.stringMatching(/^Stopped: The budget of \$0\.001 for a day is spent/),
      "max_cost",
    ]);
    await stage.close();
    const later = await stage.openSession();
    expect(await stopOf(later, "again")).toEqual([expect.stringContaining("for a day is spent"), "max_cost"]);
    expect(service.counted).toHaveLength(1);
  });

  test("makes no request for a summary, which is written without a model", async () => {
    stage = new CostStage(service, { budget: { project: 0.15 } });
    const opened = await stage.openSession();
    await say(opened, `one ${"x ".repeat(20_000)}`);
    await say(opened, `two ${"y ".repeat(40_000)}`);
    await say(opened, "three");
    const sent = service.counted.length;
    const rungs: string[] = [];
    const emit = (event: AgentEvent) => event.type === "compaction_end" && rungs.push(event.rung);
    const spent = requestsOf(opened).reduce((sum, { cost }) => sum + (cost ?? 0), 0);
    expect(spent).toBeGreaterThan(0.15);
    expect((await opened.session.compact({ emit })).kind).toBe("compacted");
    expect([rungs, service.counted.length]).toEqual([["program"], sent]);
  });

  test("needs the price of each model, and says how to add it", async () => {
    stage = new CostStage(service, { budget: { day: 1 } });
    await expect(stage.openSession({ fresh: true }, "claude-unheard-of-9")).rejects.toThrow(
      "your budget needs a price",
    );
  });
});

test("a budget holds for sub-agents, too", async () => {
  stage = new CostStage(service);
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  const project = await AgentProject.open({
    price: { inputCostPer1M: 100, outputCostPer1M: 100 },
    config: { budget: { project: 0.3 } },
    turns: [
      { ...delegate({ agent: "general", prompt: "Work." }), usage },
      { text: "Done.", usage },
    ],
    scripts: {
      general: Array.from({ length: 10 }, () => ({ toolCalls: [{ name: "ls", input: {} }], usage })),
    },
  });
  const events = await project.run();
  expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "max_cost" });
  const costs = [...events, ...project.agentEvents].flatMap((event) =>
    event.type === "usage" ? [event.cost ?? 0] : [],
  );
  // 0.11 US dollars each: the third reaches the limit.
  expect(costs).toHaveLength(3);
  await project.close();
});

describe("the cost limit of a run", () => {
  test("also ends requests outside the conversation, the first that exceeds it aside", async () => {
    stage = new CostStage(service);
    let made = 0;
    const answer: StreamFunction = () => {
      made++;
      const stream = createProviderStream();
      queueMicrotask(() =>
        stream.push({ type: "done", stopReason: "end_turn", message: assistant([text("Summary.")]) }),
      );
      return stream;
    };
    const model = { ...TEST_MODEL, inputCostPer1M: 1, outputCostPer1M: 1 };
    const budget = new SharedBudget({ maxCost: 1 });
    const limited = limitRequests(answer, budget);
    const context = { systemPrompt: "", messages: [], tools: [] };
    await limited(model, context, {}).result();
    budget.addCost(1);
    await expect(limited(model, context, {}).result()).rejects.toThrow(SpendingLimitError);
    expect(made).toBe(1);
  });

  test("keeps a compaction on request from making a second request", async () => {
    stage = new CostStage(service, {}, { maxCost: 0.02 });
    const opened = await stage.openSession();
    service.answers.push("a", "b", "c", "Not a summary.", "Not a summary either.");
    await say(opened, `one ${"x ".repeat(20_000)}`);
    await say(opened, `two ${"y ".repeat(150_000)}`);
    await say(opened, "three");
    const sent = service.counted.length;
    expect((await opened.session.compact()).kind).toBe("compacted");
    expect(service.counted.length - sent).toBe(1);
  });
});
