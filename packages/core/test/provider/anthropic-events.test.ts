import { describe, expect, test } from "bun:test";
import {
  applyAnthropicEvent,
  createAnthropicAnswer,
  toAnthropicMessage,
} from "../../src/provider/anthropic/response.ts";
import {
  block,
  callBlock,
  messageEnd,
  messageStart,
  openBlock,
  openCall,
  textBlock,
  thinkingBlock,
} from "../support/answers.ts";
import { call } from "../support/messages.ts";

function play(events: readonly unknown[]) {
  const answer = createAnthropicAnswer();
  const ours = events.flatMap((event) => applyAnthropicEvent(answer, event));
  return { ours, message: toAnthropicMessage(answer, { model: "claude-x", timestamp: 1 }) };
}

function contentOf(...events: Array<readonly unknown[]>) {
  return play([messageStart(), ...events.flat()]).message.content;
}

describe("events", () => {
  test("a text answer streams its pieces, its usage and its message", () => {
    const start = messageStart({ input_tokens: 10, cache_read_input_tokens: 7, output_tokens: 1 });
    const { ours, message } = play([
      start,
      ...textBlock(0, "Hel", "lo"),
      ...messageEnd("end_turn", { input_tokens: null, cache_creation_input_tokens: 3, output_tokens: 5 }),
    ]);
    const first = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 7, cacheWriteTokens: 0 };
    const last = { ...first, outputTokens: 5, cacheWriteTokens: 3 };
    expect(ours).toEqual([
      { type: "start" },
      { type: "usage", usage: first },
      { type: "text_delta", delta: "Hel" },
      { type: "text_delta", delta: "lo" },
      { type: "text_end", text: "Hello" },
      { type: "usage", usage: last },
    ]);
    expect(message).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Hello" }],
      model: "claude-x",
      usage: last,
      stopReason: "end_turn",
      rawStopReason: "end_turn",
      timestamp: 1,
    });
  });

  test("thinking ends with its signature, and redacted thinking is kept but not shown", () => {
    const { ours, message } = play([
      messageStart(),
      ...thinkingBlock(0, "hm", "sig=="),
      ...block(1, { type: "redacted_thinking", data: "enc==" }),
      ...thinkingBlock(2, "", "only-signature"),
      ...callBlock(3, "a", '{"path":', '"x"}'),
      ...messageEnd("tool_use"),
    ]);
    expect(ours.slice(2, -1)).toEqual([
      { type: "thinking_delta", delta: "hm" },
      { type: "thinking_end", thinking: "hm", signature: "sig==" },
      { type: "thinking_end", thinking: "", signature: "only-signature" },
      { type: "tool_call_start", id: "a", name: "read" },
      { type: "tool_call_delta", id: "a", delta: '{"path":' },
      { type: "tool_call_delta", id: "a", delta: '"x"}' },
      { type: "tool_call_end", id: "a", name: "read", input: { path: "x" } },
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "sig==" },
      { type: "thinking", thinking: "", replay: { provider: "anthropic", data: "enc==" } },
      { type: "thinking", thinking: "", signature: "only-signature" },
      call("a", "read", { path: "x" }),
    ]);
  });

  test("blocks whose events alternate each get their own", () => {
    const [startA, deltaA, stopA] = callBlock(0, "a", '{"n":1}');
    const [startB, deltaB, stopB] = callBlock(1, "b", '{"n":2}');
    const content = contentOf([startA, startB, deltaB, deltaA, stopA, stopB], messageEnd("tool_use"));
    expect(content).toEqual([call("a", "read", { n: 1 }), call("b", "read", { n: 2 })]);
  });

  test("unknown events, unknown deltas and deltas without a block change nothing", () => {
    const noise = [
      null,
      7,
      { type: "ping" },
      { type: "later_invention", index: 0 },
      { type: "content_block_stop" },
    ];
    const stray = { type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "lost" } };
    expect(contentOf(noise, [stray], textBlock(0, "hi"), noise, messageEnd("end_turn"))).toEqual([
      { type: "text", text: "hi" },
    ]);
  });
});

test("a delta that does not fit its block is not kept", () => {
  const [start, delta, stop] = callBlock(0, "a", '{"n":1}');
  const strays = [
    { type: "input_json_dxlta", partial_json: "{" },
    { type: "text_delta", text: "lost" },
    { type: "signature_delta", signature: "s" },
  ].map((stray) => ({ type: "content_block_delta", index: 0, delta: stray }));
  const content = contentOf([start, ...strays, delta, stop], messageEnd("tool_use"));
  expect(content).toEqual([call("a", "read", { n: 1 })]);
});

test("blocks without an index, a type or content are read as far as possible", () => {
  const { ours, message } = play([
    { type: "message_start" },
    ...openBlock(0, { text: "no type" }),
    { type: "content_block_start", content_block: { type: "text", text: "" } },
    { type: "content_block_delta", delta: { type: "text_delta", text: "hi" } },
    { type: "content_block_stop" },
    { type: "content_block_start", index: 1 },
    { type: "message_delta" },
    { type: "message_stop" },
  ]);
  expect(message.content).toEqual([{ type: "text", text: "hi" }]);
  expect(ours.map(({ type }) => type)).toEqual(["start", "usage", "text_delta", "text_end", "usage"]);
});

describe("tool arguments", () => {
  test.each([[[]], [[""]], [["", " "]], [["{}"]]])(
    "missing arguments, as in %j, are an empty object",
    (pieces) => {
      expect(contentOf(callBlock(0, "a", ...pieces), messageEnd("tool_use"))).toEqual([call("a")]);
    },
  );

  test.each(["[1]", '"text"', "null", "7", "{broken", '{"a":1} {"b":2}'])("%s is kept as invalid", (json) => {
    expect(contentOf(callBlock(0, "a", json), messageEnd("tool_use"))).toEqual([
      { ...call("a"), invalidInput: json },
    ]);
  });

  test("a call that the token limit cut keeps the received part of its arguments", () => {
    const invalid = (json: string) => [{ ...call("a"), invalidInput: json }];
    const end = messageEnd("max_tokens");
    expect(contentOf(openCall(0, "a", '{"path": "/et'), end)).toEqual(invalid('{"path": "/et'));
    expect(contentOf(callBlock(0, "a", '{"path": "/et'), end)).toEqual(invalid('{"path": "/et'));
    expect(contentOf(callBlock(0, "a"), end)).toEqual(invalid(""));
    expect(contentOf(openCall(0, "a"), messageEnd("model_context_window_exceeded"))).toEqual(invalid(""));
    expect(contentOf(callBlock(0, "a", '{"path":"x"}'), end)).toEqual([call("a", "read", { path: "x" })]);
  });

  test("the caller of a tool is kept unless it was the model itself", () => {
    const caller = { type: "code_execution_20260120", tool_id: "srv" };
    const start = { type: "tool_use", id: "a", name: "read", input: { n: 1 }, caller };
    expect(contentOf(block(0, start), messageEnd("tool_use"))).toEqual([
      { ...call("a", "read", { n: 1 }), replay: { provider: "anthropic", data: { caller } } },
    ]);
  });
});

describe("unknown kinds of blocks", () => {
  test("they are kept completely, including their deltas", () => {
    const use = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const odd = { type: "odd_block", text: "a", list: [1], left: null };
    expect(
      contentOf(
        block(0, use, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
        block(1, odd, { type: "odd_delta", text: "b", list: [2], left: "set" }),
        messageEnd("end_turn"),
      ),
    ).toEqual([
      { type: "opaque", provider: "anthropic", raw: { ...use, input: { query: "x" } } },
      { type: "opaque", provider: "anthropic", raw: { ...odd, text: "ab", list: [1, 2], left: "set" } },
    ]);
  });

  test("citations stay with their text", () => {
    const citation = { type: "char_location", cited_text: "x", document_index: 0 };
    const deltas = [
      { type: "text_delta", text: "as written" },
      { type: "citations_delta", citation },
    ];
    expect(
      contentOf(block(0, { type: "text", text: "", citations: [] }, ...deltas), messageEnd("end_turn")),
    ).toEqual([
      {
        type: "text",
        text: "as written",
        replay: { provider: "anthropic", data: { citations: [citation] } },
      },
    ]);
  });
});

describe("stop reasons", () => {
  test.each([
    ["end_turn", false, "end_turn"],
    ["stop_sequence", false, "end_turn"],
    ["tool_use", true, "tool_use"],
    ["tool_use", false, "end_turn"],
    ["pause_turn", false, "tool_use"],
    ["max_tokens", true, "max_tokens"],
    ["model_context_window_exceeded", false, "max_tokens"],
    ["refusal", false, "error"],
    ["later_invention", false, "end_turn"],
    ["later_invention", true, "tool_use"],
  ])("%s (with a call: %p) is %s", (raw, hasCall, expected) => {
    const blocks = hasCall ? callBlock(0, "a", "{}") : textBlock(0, "hi");
    const { message } = play([messageStart(), ...blocks, ...messageEnd(raw)]);
    expect([message.stopReason, message.rawStopReason]).toEqual([expected, raw]);
  });

  test("a missing stop reason means the end of the turn", () => {
    const { message } = play([messageStart(), ...textBlock(0, "hi"), ...messageEnd(null)]);
    expect([message.stopReason, message.rawStopReason]).toEqual(["end_turn", undefined]);
  });
});

test("an aborted answer contains complete calls, signed thinking and partial text, but no partial call", () => {
  const { message } = play([
    messageStart(),
    ...thinkingBlock(0, "done", "sig"),
    ...callBlock(1, "a", '{"n":1}'),
    ...openBlock(2, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }),
    ...openBlock(
      3,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "half" },
    ),
    ...openBlock(4, { type: "text", text: "" }, { type: "text_delta", text: "I was" }),
    ...openCall(5, "b", '{"n":2}'),
  ]);
  expect(message).toMatchObject({
    stopReason: "aborted",
    content: [
      { type: "thinking", thinking: "done", signature: "sig" },
      call("a", "read", { n: 1 }),
      { type: "thinking", thinking: "half" },
      { type: "text", text: "I was" },
    ],
  });
});

test("token counts are whole numbers of at least zero", () => {
  const { message } = play([
    messageStart({ input_tokens: 10.7, cache_read_input_tokens: -7, output_tokens: 1 }),
    ...messageEnd("end_turn", { output_tokens: -5 }),
  ]);
  expect(message.usage).toEqual({
    inputTokens: 10,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });
});
