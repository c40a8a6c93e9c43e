import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { NOT_STARTED } from "../../src/history.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { ApprovalDecision, Tool, ToolContext } from "../../src/tool/types.ts";
import type { ToolCallBlock } from "../../src/types.ts";

const echoTool = {
  name: "echo",
  description: "Says it again.",
  parameters: z.strictObject({ text: z.string() }),
  execute: async ({ text }: Record<string, unknown>) => ({ output: String(text) }),
} satisfies Tool;

function call(input: Record<string, unknown>): ToolCallBlock {
  return { type: "tool_call", id: "call_1", name: "echo", input };
}

async function execute(toolCall: ToolCallBlock, options: { tool?: Tool; decision?: ApprovalDecision } = {}) {
  return executeToolCall(toolCall, createToolRegistry([options.tool ?? echoTool]), {
    signal: new AbortController().signal,
    decide: async () => options.decision ?? { response: "once" },
  });
}

describe("the outcome of a call", () => {
  const outcomeOf = async (...args: Parameters<typeof execute>) => {
    const { message } = await execute(...args);
    return [message.isError, message.outcome];
  };
  const answering = (execute: Tool["execute"]): Tool => ({ ...echoTool, execute });

  test("is missing for a success, and is not derived from the tool's text", async () => {
    const says = (output: string, isError: boolean) => answering(async () => ({ output, isError }));
    expect(await outcomeOf(call({ text: "Refused: a" }))).toEqual([false, undefined]);
    for (const output of ["Refused: connection", "Not run: 3 tests", NOT_STARTED]) {
      expect(await outcomeOf(call({ text: "a" }), { tool: says(output, true) })).toEqual([true, "failed"]);
    }
  });

  test("distinguishes a rejected call from one that nobody could answer", async () => {
    const rejection = { response: "reject", message: "So be it." } as const;
    expect(await outcomeOf(call({ text: "a" }), { decision: rejection })).toEqual([true, "rejected"]);
    const decision: ApprovalDecision = { ...rejection, skipped: true };
    expect(await outcomeOf(call({ text: "a" }), { decision })).toEqual([true, "skipped"]);
  });

  test("is that of a rejection if a tool was refused a request while it ran", async () => {
    const ask = async (_: unknown, context: ToolContext) => {
      const answer = await context.approve({ permission: "write", toolName: "echo", description: "more" });
      return { output: answer, isError: answer === "reject" };
    };
    const tool = { ...answering(ask), approval: () => undefined };
    const decision = { response: "reject" } as const;
    expect(await outcomeOf(call({ text: "a" }), { tool, decision })).toEqual([true, "rejected"]);
    expect(await outcomeOf(call({ text: "a" }), { tool })).toEqual([false, undefined]);
  });
});

test("short metadata is stored with the message, and all of it is passed to observers", async () => {
  const short = { exitCode: 1, signal: "SIGTERM", sandboxed: true };
  const whole = { ...short, diff: "-a\n".repeat(200), list: [1], ratio: Number.NaN, missing: undefined };
  const tool = { ...echoTool, execute: async () => ({ output: "a", metadata: whole }) };
  const { message, metadata } = await execute(call({ text: "a" }), { tool });
  expect([message.metadata, metadata]).toEqual([short, whole]);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, index]));
  const crowded = { ...echoTool, execute: async () => ({ output: "a", metadata: many }) };
  expect(
    Object.keys((await execute(call({ text: "a" }), { tool: crowded })).message.metadata ?? {}),
  ).toHaveLength(16);
});
