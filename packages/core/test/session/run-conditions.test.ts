import { expect, test } from "bun:test";
import type { RunConditions } from "../../src/provider/types.ts";
import { noteTool, user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

const PRICE = { inputCostPer1M: 1_000_000, outputCostPer1M: 0 };
const CALL = { toolCalls: [{ name: "note", input: { text: "x" } }], usage: { inputTokens: 1 } };

/** How a run of three turns ends, a dollar each, and how many requests it made. */
async function stopReasonUnder(
  conditions: RunConditions | undefined,
  limits: { maxTurns?: number; maxCost?: number },
): Promise<[stopReason: string | undefined, requests: number]> {
  const project = await createSessionProject();
  const streamFunction = project.playing(CALL, CALL, { text: "Done.", usage: { inputTokens: 1 } });
  const model = { ...project.model, ...PRICE };
  const session = project.manager({
    conditions,
    agentConfig: { model, streamFunction, systemPrompt: "Test.", tools: [noteTool()], ...limits },
  });
  let stopReason: string | undefined;
  let requests = 0;
  await session.run(user("go")).consume((event) => {
    if (event.type === "agent_end") stopReason = event.stopReason;
    if (event.type === "usage") requests++;
  });
  return [stopReason, requests];
}

test.each([
  ["turns", { maxTurns: 2 }, { maxTurns: 1 }, ["max_turns", 2]],
  ["costs", { maxCost: 2 }, { maxCost: 1 }, ["max_cost", 2]],
] as const)("a run stops at the %s of its conditions, whatever is configured", async (...row) => {
  const [, conditions, configured, expected] = row;
  expect(await stopReasonUnder(conditions, configured)).toEqual([...expected]);
  expect(await stopReasonUnder(conditions, {})).toEqual([...expected]);
  expect(await stopReasonUnder({}, configured)).toEqual(["end_turn", 3]);
  expect((await stopReasonUnder(undefined, configured))[1]).toBe(1);
});
