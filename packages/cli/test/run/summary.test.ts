import { expect, test } from "bun:test";
import type { AgentEvent, Model } from "@diligent/core";
import { addEventToSummary, createRunSummary, endSummary } from "../../src/print/summary.ts";
import { assistantMessage, PRICED_MODEL, usage } from "../support/agent-events.ts";

function summarize(events: AgentEvent[], model: Model = PRICED_MODEL) {
  return events.reduce(addEventToSummary, createRunSummary(model));
}

function turn(text: string, turnId: string): AgentEvent[] {
  const message = assistantMessage(text);
  return [
    { type: "turn_start", turnId },
    { type: "message_start", itemId: turnId, message: assistantMessage("") },
    { type: "message_delta", itemId: turnId, message, delta: { type: "text_delta", delta: text } },
    { type: "message_end", itemId: turnId, message },
    { type: "turn_end", turnId, message, toolResults: [] },
  ];
}

test("the summary of a normal run counts its turns, adds up usage and cost, and has the last text", () => {
  const events: AgentEvent[] = [
    { type: "agent_start" },
    ...turn("Looking.", "1"),
    { type: "usage", usage: usage(10), cost: 0.25 },
    ...turn("Done.", "2"),
    { type: "usage", usage: usage(5), cost: 0.5 },
    { type: "agent_end", messages: [], stopReason: "end_turn" },
  ];
  expect(summarize(events)).toEqual({
    result: "Done.",
    stopReason: "end_turn",
    usage: usage(15),
    cost: 0.75,
    turns: 2,
  });
});

test("the cost of a run is unknown once one request's is, and always for a model without a price", () => {
  const events: AgentEvent[] = [
    { type: "usage", usage: usage(1), cost: 1 },
    { type: "usage", usage: usage(1), cost: null },
    { type: "usage", usage: usage(1), cost: 1 },
  ];
  expect(summarize(events).cost).toBeNull();
  const { inputCostPer1M: _, ...unpriced } = PRICED_MODEL;
  expect(summarize([], unpriced).cost).toBeNull();
  expect(summarize([]).cost).toBe(0);
});

test("a request without any reply is not a turn", () => {
  const events: AgentEvent[] = [
    { type: "turn_start", turnId: "1" },
    {
      type: "turn_end",
      turnId: "1",
      message: assistantMessage("", { stopReason: "error" }),
      toolResults: [],
    },
    {
      type: "agent_end",
      messages: [],
      stopReason: "error",
      error: { name: "ProviderError", message: "no network" },
    },
  ];
  expect(summarize(events)).toEqual({
    result: "",
    stopReason: "error",
    error: { name: "ProviderError", message: "no network" },
    usage: usage(0),
    cost: 0,
    turns: 0,
  });
});

test("the summary of a run that broke off keeps what it had", () => {
  const summary = summarize(turn("Half.", "1"));
  expect(endSummary(summary, "aborted")).toEqual({ ...summary, stopReason: "aborted" });
  const error = { name: "Error", message: "broken" };
  expect(endSummary(summary, "error", error)).toEqual({ ...summary, stopReason: "error", error });
});
