import { describe, expect, test } from "bun:test";
import { EMPTY_USAGE } from "../../src/types.ts";
import {
  callChunk,
  callEntry,
  chunk,
  finishChunk,
  textAnswer,
  textChunk,
  usageChunk,
} from "../support/compatible-answers.ts";
import { applyChunks } from "../support/compatible-reply.ts";
import { call, text } from "../support/messages.ts";

const USAGE = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };

describe("an answer", () => {
  test("of text is emitted as it arrives", () => {
    const { events, message } = applyChunks(textAnswer("hello"));
    expect(events).toEqual([
      { type: "start" },
      { type: "text_delta", delta: "hel" },
      { type: "text_delta", delta: "lo" },
      { type: "usage", usage: USAGE },
      { type: "text_end", text: "hello" },
    ]);
    expect(message).toEqual({
      role: "assistant",
      content: [text("hello")],
      model: "local/m",
      usage: USAGE,
      stopReason: "end_turn",
      rawStopReason: "stop",
      timestamp: 7,
    });
  });

  test("with thinking, text and calls keeps their order, and ends each before the next begins", () => {
    const { events, message } = applyChunks([
      chunk({ role: "assistant", content: null, reasoning_content: "h" }),
      chunk({ reasoning_content: "m", content: "" }),
      textChunk("I look."),
      callChunk(callEntry("{", { index: 0, id: "a", name: "read" })),
      callChunk(callEntry("}", { index: 0 })),
      finishChunk("tool_calls"),
    ]);
    expect(events).toEqual([
      { type: "start" },
      { type: "thinking_delta", delta: "h" },
      { type: "thinking_delta", delta: "m" },
      { type: "thinking_end", thinking: "hm" },
      { type: "text_delta", delta: "I look." },
      { type: "text_end", text: "I look." },
      { type: "tool_call_start", id: "a", name: "read" },
      { type: "tool_call_delta", id: "a", delta: "{" },
      { type: "tool_call_delta", id: "a", delta: "}" },
      { type: "tool_call_end", id: "a", name: "read", input: {} },
    ]);
    expect(message.content).toEqual([
      {
        type: "thinking",
        thinking: "hm",
        replay: { provider: "local", data: { field: "reasoning_content" } },
      },
      text("I look."),
      call("a"),
    ]);
  });

  test("in one piece, with a message instead of deltas, gives the same result", () => {
    const message = {
      role: "assistant",
      content: "so",
      tool_calls: [callEntry("{}", { id: "a", name: "read" })],
    };
    const whole = {
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    };
    expect(applyChunks([whole]).message).toMatchObject({
      content: [text("so"), call("a")],
      usage: USAGE,
      stopReason: "tool_use",
    });
  });

  test("has thinking from any of its fields, but not twice", () => {
    for (const field of ["reasoning_content", "reasoning", "thinking"]) {
      const { content } = applyChunks([chunk({ [field]: "hm" }), finishChunk("stop")]).message;
      const replay = { provider: "local", data: { field } };
      expect(content).toEqual([{ type: "thinking", thinking: "hm", replay }]);
    }
    const both = chunk({ reasoning: "hm", reasoning_content: "hm" });
    expect(applyChunks([both]).message.content).toMatchObject([{ thinking: "hm" }]);
  });

  test("keeps think tags inside its text, and separate texts around thinking", () => {
    const chunks = [textChunk("<think>hm</think>"), chunk({ reasoning: "x" }), textChunk("so")];
    expect(applyChunks(chunks).message.content).toMatchObject([
      text("<think>hm</think>"),
      { type: "thinking", thinking: "x" },
      text("so"),
    ]);
  });

  test("in parts has their texts and thinking", () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "so" },
    ];
    expect(applyChunks([chunk({ content: parts })]).message.content).toEqual([
      { type: "thinking", thinking: "hm" },
      text("so"),
    ]);
  });

  test("keeps details that a gateway signs, with the pieces of a text joined", () => {
    const detail = (fields: object) => chunk({ reasoning_details: [{ index: 0, ...fields }] });
    const { content } = applyChunks([
      detail({ type: "reasoning.text", text: "h", signature: null }),
      detail({ type: "reasoning.text", text: "m", signature: "s" }),
      detail({ type: "reasoning.encrypted", data: "x" }),
      detail({ type: "reasoning.encrypted", data: "y" }),
      textChunk("so"),
    ]).message;
    const details = [
      { index: 0, type: "reasoning.text", text: "hm", signature: "s" },
      { index: 0, type: "reasoning.encrypted", data: "x" },
      { index: 0, type: "reasoning.encrypted", data: "y" },
    ];
    expect(content).toEqual([
      { type: "thinking", thinking: "", replay: { provider: "local", data: { details } } },
      text("so"),
    ]);
  });

  test("skips unknown, empty and malformed values", () => {
    const odd = [
      null,
      7,
      [],
      {},
      { choices: null },
      { choices: [null] },
      { choices: [{ delta: null, finish_reason: null }] },
      chunk({ content: 7, reasoning: { deep: 1 }, tool_calls: null, later: {} }),
      chunk({ tool_calls: [] }),
      chunk({ tool_calls: "none" }),
      chunk({ content: [null, { type: "image_url" }] }),
      { choices: [], usage: null },
    ];
    const [start, ...text] = textAnswer("so");
    expect(applyChunks([start, ...odd, ...text, ...odd])).toEqual(applyChunks([start, ...text]));
  });
});

describe("the stop reason", () => {
  const ask = callChunk(callEntry("{}", { index: 0, id: "a", name: "read" }));

  test.each([
    ["stop", [], "end_turn", "stop"],
    ["length", [], "max_tokens", "length"],
    ["model_length", [], "max_tokens", "model_length"],
    ["content_filter", [], "max_tokens", "content_filter"],
    ["eos", [], "end_turn", "eos"],
    ["tool_calls", [], "end_turn", "tool_calls"],
    ["tool_calls", [ask], "tool_use", "tool_calls"],
    ["function_call", [ask], "tool_use", "function_call"],
    ["stop", [ask], "tool_use", "stop"],
    ["length", [ask], "max_tokens", "length"],
    [null, [ask], "tool_use", undefined],
    [null, [], "end_turn", undefined],
  ] as const)("%s after %j is %s", (reason, before, stopReason, rawStopReason) => {
    const { message } = applyChunks([textChunk("so"), ...before, finishChunk(reason)]);
    expect([message.stopReason, message.rawStopReason]).toEqual([stopReason, rawStopReason]);
  });

  test("of a refusal is an error, and its explanation is text", () => {
    const { message } = applyChunks([
      chunk({ refusal: "I " }),
      chunk({ refusal: "cannot" }),
      finishChunk("stop"),
    ]);
    expect(message).toMatchObject({
      content: [text("I cannot")],
      stopReason: "error",
      rawStopReason: "refusal",
    });
  });
});

describe("the usage", () => {
  const usageOf = (...chunks: unknown[]) => applyChunks([textChunk("so"), ...chunks]).message.usage;

  test("is that of the last chunk that has one, at any position", () => {
    expect(usageOf(finishChunk("stop"), usageChunk())).toEqual(USAGE);
    expect(usageOf(finishChunk("stop", { usage: { prompt_tokens: 10, completion_tokens: 5 } }))).toEqual(
      USAGE,
    );
    const inChoice = { choices: [{ delta: {}, usage: { prompt_tokens: 10, completion_tokens: 5 } }] };
    expect(usageOf(inChoice)).toEqual(USAGE);
    expect(usageOf(usageChunk({ prompt_tokens: 10, completion_tokens: 1 }), usageChunk())).toEqual(USAGE);
    expect(usageOf(usageChunk(), { choices: [], usage: null })).toEqual(USAGE);
  });

  test("is zero if it is missing", () => {
    expect(usageOf(finishChunk("stop"))).toEqual(EMPTY_USAGE);
    expect(usageOf(usageChunk({}))).toEqual(EMPTY_USAGE);
    expect(usageOf(usageChunk({ prompt_tokens: null, completion_tokens: -1 }))).toEqual(EMPTY_USAGE);
  });

  test("has whole numbers of at least zero", () => {
    expect(usageOf(usageChunk({ prompt_tokens: 10.7, completion_tokens: 2.5 }))).toEqual({
      ...EMPTY_USAGE,
      inputTokens: 10,
      outputTokens: 2,
    });
    const details = { prompt_tokens_details: { cached_tokens: -8 } };
    expect(usageOf(usageChunk({ ...details, prompt_tokens: 10, completion_tokens: -1 }))).toEqual({
      ...EMPTY_USAGE,
      inputTokens: 10,
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ["OpenAI", { prompt_tokens_details: { cached_tokens: 8 } }],
    ["DeepSeek", { prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 }],
    ["Moonshot", { cached_tokens: 8 }],
  ])("includes tokens read from the cache as %s reports them", (_, cached) => {
    const usage = usageOf(usageChunk({ prompt_tokens: 10, completion_tokens: 5, ...cached }));
    expect(usage).toEqual({ ...USAGE, inputTokens: 2, cacheReadTokens: 8 });
  });

  test("includes tokens written to the cache", () => {
    const details = { cached_tokens: 3, cache_write_tokens: 4 };
    const usage = usageOf(
      usageChunk({ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: details }),
    );
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 4 });
  });
});

test("an aborted answer keeps text, thinking and the calls that were followed by something else", () => {
  const chunks = [
    chunk({ reasoning: "hm" }),
    textChunk("I look."),
    callChunk(callEntry('{"path":"x"}', { index: 0, id: "a", name: "read" })),
    callChunk(callEntry("{}", { index: 1, id: "b", name: "read" })),
  ];
  const { message } = applyChunks(chunks, { isAborted: true });
  expect(message).toMatchObject({
    stopReason: "aborted",
    content: [{ type: "thinking" }, text("I look."), call("a", "read", { path: "x" })],
  });
});
