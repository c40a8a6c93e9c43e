import { expect, test } from "bun:test";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import type { Effort, Model } from "../../src/provider/types.ts";
import { assistant, call, result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";

interface Question {
  thinking?: Model["thinking"];
  id?: string;
  effort?: Effort;
  maxTokens?: number;
  messages?: Parameters<typeof toAnthropicRequest>[1]["messages"];
}

function thinkingFor({ thinking = "none", id = "claude-x", messages = [user("hi")], ...options }: Question) {
  const model = { ...TEST_MODEL, id, thinking, maxOutputTokens: 64_000 };
  const { thinking: asked, output_config: output } = toAnthropicRequest(
    model,
    { systemPrompt: "", messages, tools: [READ_TOOL] },
    options,
  );
  return [asked, output];
}

test("an adaptive model is asked for summaries, with the effort if one is set", () => {
  const adaptive = { type: "adaptive" as const, display: "summarized" as const };
  expect(thinkingFor({ thinking: "adaptive" })).toEqual([adaptive, undefined]);
  expect(thinkingFor({ thinking: "adaptive", effort: "max" })).toEqual([adaptive, { effort: "max" }]);
});

test("thinking is disabled with the value that the model knows", () => {
  expect(thinkingFor({ thinking: "adaptive", effort: "off" })).toEqual([{ type: "disabled" }, undefined]);
  expect(thinkingFor({ thinking: "adaptive", effort: "off", id: "claude-sonnet-5-5" })).toEqual([
    { type: "between_tools" },
    undefined,
  ]);
  expect(thinkingFor({ thinking: "always", effort: "off" })).toEqual([
    { type: "adaptive", display: "summarized" },
    { effort: "low" },
  ]);
});

test("a budget leaves half of the answer and is not requested below its minimum", () => {
  const budgetFor = (effort: Effort, maxTokens: number) =>
    thinkingFor({ thinking: "budget", effort, maxTokens })[0];
  expect(budgetFor("high", 64_000)).toEqual({ type: "enabled", budget_tokens: 16_384 });
  expect(budgetFor("max", 10_000)).toEqual({ type: "enabled", budget_tokens: 5_000 });
  expect(budgetFor("low", 2_048)).toEqual({ type: "enabled", budget_tokens: 1_024 });
  expect(budgetFor("low", 2_047)).toBeUndefined();
  expect(budgetFor("off", 64_000)).toBeUndefined();
  expect(thinkingFor({ thinking: "budget" })[0]).toBeUndefined();
});

test("a turn that began without thinking continues without a budget", () => {
  const unsigned = [user("go"), assistant([call("a")]), result("a")];
  const signature = { type: "thinking" as const, thinking: "hm", signature: "s" };
  const signed = [user("go"), assistant([signature, call("a")]), result("a")];
  const ask = (messages: Question["messages"] & {}) =>
    thinkingFor({ thinking: "budget", effort: "low", messages })[0];
  expect(ask(unsigned)).toBeUndefined();
  expect(ask(signed)).toEqual({ type: "enabled", budget_tokens: 4_096 });
});

test("a model without thinking gets no thinking fields", () => {
  expect(thinkingFor({ effort: "high" })).toEqual([undefined, undefined]);
});
