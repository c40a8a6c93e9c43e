import { describe, expect, test } from "bun:test";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import {
  AT,
  ask,
  assistant,
  errorOf,
  LS_TOOL,
  MODEL,
  messageOf,
  request,
  scripted,
  toolCall,
  user,
} from "../support/scripted.ts";

const TEXT = "I look at the file, then I run the tests of the whole project.";

describe("the scripted model", () => {
  test("has the context window of its script, and no price", () => {
    expect(scriptedModel("dir/a.json", { version: 1, contextWindow: 50_000, turns: [] })).toEqual({
      id: "scripted/dir/a.json",
      provider: "scripted",
      contextWindow: 50_000,
      maxOutputTokens: 16_384,
      thinking: "none",
    });
  });

  test("has a window of 200,000 tokens by default", () => {
    expect(MODEL.contextWindow).toBe(200_000);
  });
});

describe("a scripted reply", () => {
  test("is streamed as thinking, text and tool calls, each started and ended", async () => {
    const stream = scripted([
      { thinking: "Hm.", text: "Yes.", toolCalls: [{ name: "ls", input: { path: "src" } }], chunkChars: 100 },
    ]);
    const events = await ask(stream);
    const usage = { inputTokens: 22, outputTokens: 6, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(events.slice(0, -1)).toEqual([
      { type: "start" },
      { type: "thinking_delta", delta: "Hm." },
      { type: "thinking_end", thinking: "Hm." },
      { type: "text_delta", delta: "Yes." },
      { type: "text_end", text: "Yes." },
      { type: "tool_call_start", id: "call_1", name: "ls" },
      { type: "tool_call_delta", id: "call_1", delta: '{"path":"src"}' },
      { type: "tool_call_end", id: "call_1", name: "ls", input: { path: "src" } },
      { type: "usage", usage },
    ]);
    expect(messageOf(events)).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Yes." },
        { type: "tool_call", id: "call_1", name: "ls", input: { path: "src" } },
      ],
      model: "scripted/test.json",
      usage,
      stopReason: "tool_use",
      timestamp: AT,
    });
  });

  test("that is blank is streamed, but not kept: no provider accepts a blank text back", async () => {
    const events = await ask(scripted([{ text: "\n\n", toolCalls: [{ name: "ls", input: {} }] }]));
    expect(events).toContainEqual({ type: "text_delta", delta: "\n\n" });
    expect(messageOf(events).content).toEqual([toolCall("call_1")]);
  });

  test("without content is an empty message", async () => {
    expect(messageOf(await ask(scripted([{}])))).toMatchObject({ content: [], stopReason: "end_turn" });
  });

  test("has the usage that the script states and estimates the rest", async () => {
    const events = await ask(scripted([{ text: "Four", usage: { inputTokens: 9_000, cacheReadTokens: 5 } }]));
    expect(messageOf(events).usage).toEqual({
      inputTokens: 9_000,
      outputTokens: 1,
      cacheReadTokens: 5,
      cacheWriteTokens: 0,
    });
  });

  test("counts system prompt, messages and tools as its input, four characters a token", async () => {
    const events = await ask(scripted([{ text: "x" }]), [user("12345678")], { systemPrompt: "1234" });
    expect(messageOf(events).usage.inputTokens).toBe(3);
  });

  test.each([
    ["end_turn", "end_turn"],
    ["stop_sequence", "end_turn"],
    ["tool_use", "end_turn"],
    ["pause_turn", "tool_use"],
    ["max_tokens", "max_tokens"],
    ["model_context_window_exceeded", "max_tokens"],
    ["refusal", "error"],
    ["something_new", "end_turn"],
  ] as const)("that stops with %s is reported as %s", async (rawStopReason, stopReason) => {
    const events = await ask(scripted([{ text: "x", stopReason: rawStopReason }]));
    expect(messageOf(events)).toMatchObject({ stopReason, rawStopReason });
  });

  test("cut at max_tokens has a last tool call with truncated arguments, and no other", async () => {
    const toolCalls = [
      { name: "ls", input: {} },
      { name: "ls", input: { path: "sr" } },
    ];
    const events = await ask(scripted([{ toolCalls, stopReason: "max_tokens" }]));
    expect(messageOf(events).content).toEqual([
      { type: "tool_call", id: "call_1", name: "ls", input: {} },
      { type: "tool_call", id: "call_2", name: "ls", input: {}, invalidInput: '{"path":"sr"' },
    ]);
  });

  test.each([
    ["a string, sent verbatim", '{"path": ', '{"path": '],
    ["a list", ["src"], '["src"]'],
    ["null", null, "null"],
  ])("may have arguments that are not an object: %s", async (_, input, invalidInput) => {
    const events = await ask(scripted([{ toolCalls: [{ name: "ls", input }] }]));
    expect(messageOf(events).content).toEqual([
      { type: "tool_call", id: "call_1", name: "ls", input: {}, invalidInput },
    ]);
  });

  test("parses arguments given as text like an adapter", async () => {
    const inputs = ["", '{"path":"src"}'];
    const toolCalls = inputs.map((input) => ({ name: "ls", input }));
    expect(messageOf(await ask(scripted([{ toolCalls }]))).content).toEqual([
      { type: "tool_call", id: "call_1", name: "ls", input: {} },
      { type: "tool_call", id: "call_2", name: "ls", input: { path: "src" } },
    ]);
  });
});

describe("a scripted failure", () => {
  test("arrives without any other event if the turn has nothing else", async () => {
    const stream = scripted([{ error: { errorType: "overloaded", message: "busy", retryAfterMs: 20 } }]);
    const [event, ...others] = await ask(stream);
    expect(others).toEqual([]);
    expect(event?.type === "error" ? event.error : undefined).toMatchObject({
      errorType: "overloaded",
      message: "busy",
      retryAfterMs: 20,
      isRetryable: true,
    });
  });

  test("arrives in the middle of the stream, after the text of its turn", async () => {
    const events = await ask(
      scripted([{ text: "Half an", error: { errorType: "stream_cut", message: "cut" } }]),
    );
    expect(events.map(({ type }) => type)).toEqual(["start", "text_delta", "text_end", "error"]);
    expect(errorOf(events)).toEqual({ errorType: "stream_cut", message: "cut" });
  });

  test("rejects the result with the error itself", async () => {
    const stream = scripted([{ error: { errorType: "auth", message: "no key" } }]);
    const result = stream(MODEL, request([user("hello")]), {}).result();
    await expect(result).rejects.toMatchObject({
      name: "ProviderError",
      errorType: "auth",
      message: "no key",
    });
  });

  test("of a request that a real API would reject names the position and takes no turn", async () => {
    const stream = scripted([{ text: "first" }]);
    const refused = [user("hello"), assistant([{ type: "text", text: "Yes?" }]), user(" ")];
    expect(errorOf(await ask(stream, refused))).toEqual({
      errorType: "invalid_request",
      message:
        "The scripted provider rejects this request, as a real API would: messages[2].content: empty text.",
    });
    expect(messageOf(await ask(stream)).content).toEqual([{ type: "text", text: "first" }]);
  });
});

describe("an aborted scripted reply", () => {
  test("that waits for its first word ends immediately, empty", async () => {
    const controller = new AbortController();
    const stream = scripted([{ text: TEXT, delayMs: 60_000 }])(MODEL, request([user("hello")]), {
      signal: controller.signal,
    });
    controller.abort();
    const { message } = await stream.result();
    expect(message).toMatchObject({ content: [], stopReason: "aborted" });
  });

  test("that waits between chunks ends immediately with the text so far, and without the incomplete call", async () => {
    const controller = new AbortController();
    const toolCalls = [{ name: "ls", input: { path: "a/long/path" } }];
    const turn = { text: "ab", toolCalls, chunkChars: 2, chunkDelayMs: 60_000 };
    const stream = scripted([turn])(MODEL, request([user("hello")], { tools: [LS_TOOL] }), {
      signal: controller.signal,
    });
    stream.subscribe((event) => {
      if (event.type === "tool_call_start") controller.abort();
    });
    const { message } = await stream.result();
    expect(message).toMatchObject({ content: [{ type: "text", text: "ab" }], stopReason: "aborted" });
  });

  test("keeps the text of a block that had not ended", async () => {
    const controller = new AbortController();
    const stream = scripted([{ text: TEXT, chunkChars: 6 }])(MODEL, request([user("hello")]), {
      signal: controller.signal,
    });
    stream.subscribe((event) => {
      if (event.type === "text_delta") controller.abort();
    });
    expect((await stream.result()).message.content).toEqual([{ type: "text", text: "I look" }]);
  });

  test("before it has begun takes no turn", async () => {
    const stream = scripted([{ text: "first" }]);
    const aborted = stream(MODEL, request([user("hello")]), { signal: AbortSignal.abort() });
    expect((await aborted.result()).message).toMatchObject({ content: [], stopReason: "aborted" });
    expect(messageOf(await ask(stream)).content).toEqual([{ type: "text", text: "first" }]);
  });
});

test("5,000 chunks without a delay are streamed one by one", async () => {
  const stream = createScriptedStream({
    version: 1,
    turns: [{ text: "word ".repeat(5_000), chunkChars: 5 }],
  });
  const events = await ask(stream);
  expect(events.filter(({ type }) => type === "text_delta")).toHaveLength(5_000);
});

test("a delay is waited for before the first word and between chunks", async () => {
  const before = performance.now();
  await ask(scripted([{ text: "abc", chunkChars: 1, delayMs: 20, chunkDelayMs: 15 }]));
  expect(performance.now() - before).toBeGreaterThanOrEqual(48);
});
