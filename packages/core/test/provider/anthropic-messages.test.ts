import { describe, expect, test } from "bun:test";
import { thinkingOf, toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import type { Message } from "../../src/types.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";

function requestOf(messages: Message[], tools = [READ_TOOL]) {
  return toAnthropicRequest(TEST_MODEL, { systemPrompt: "You help.", messages, tools });
}

function withoutMarkers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, item) => (key === "cache_control" ? undefined : item)));
}

describe("the messages of a request", () => {
  test("eight results come first in the one user message that follows, in call order", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const messages = [
      user("go"),
      assistant(ids.map((id) => call(id))),
      ...ids.toReversed().map((id) => result(id, `result ${id}`, { isError: id === "c" })),
      user("and hurry"),
    ];
    expect(withoutMarkers(requestOf(messages).messages.at(-1))).toEqual({
      role: "user",
      content: [
        ...ids.map((id) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: `result ${id}`,
          ...(id === "c" && { is_error: true }),
        })),
        { type: "text", text: "and hurry" },
      ],
    });
  });

  test("images go into user turns and into results", () => {
    const { source } = image();
    const wire = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: source.data },
    };
    const messages = [
      user([text("see"), image()]),
      assistant([call("a"), call("b")]),
      result("a", "two by two", { images: [image()] }),
      result("b", " ", { images: [image()] }),
    ];
    expect(withoutMarkers(requestOf(messages).messages)).toEqual([
      { role: "user", content: [{ type: "text", text: "see" }, wire] },
      {
        role: "assistant",
        content: ["a", "b"].map((id) => ({ type: "tool_use" as const, id, name: "read", input: {} })),
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "two by two" }, wire] },
          { type: "tool_result", tool_use_id: "b", content: [wire] },
        ],
      },
    ]);
  });

  test("signed and redacted thinking is sent back verbatim and in order", () => {
    const content = requestOf([
      user("go"),
      assistant([
        { type: "thinking", thinking: "  first\n", signature: "s1==" },
        { type: "thinking", thinking: "", replay: { provider: "anthropic", data: "opaque/data==" } },
        { type: "thinking", thinking: "", signature: "s2" },
        text("so"),
        { type: "thinking", thinking: "between", signature: "s3" },
        call("a", "read", { path: "x" }),
      ]),
      result("a"),
    ]).messages[1]?.content;
    expect(content).toEqual([
      { type: "thinking", thinking: "  first\n", signature: "s1==" },
      { type: "redacted_thinking", data: "opaque/data==" },
      { type: "thinking", thinking: "", signature: "s2" },
      { type: "text", text: "so" },
      { type: "thinking", thinking: "between", signature: "s3" },
      { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
    ]);
  });

  test("thinking that is unsigned, foreign, rejected before or at the end of a turn is left out", () => {
    const messages = [
      user("go"),
      assistant([
        { type: "thinking", thinking: "unsigned" },
        { type: "thinking", thinking: "theirs", signature: "x", replay: { provider: "openai", data: {} } },
        { type: "thinking", thinking: "refused", signature: "refused" },
        { type: "opaque", provider: "openai", raw: { type: "reasoning" } },
        text("said"),
        { type: "thinking", thinking: "cut off here", signature: "s" },
      ]),
      user("on"),
    ];
    const context = { systemPrompt: "", messages, tools: [] };
    const request = toAnthropicRequest(TEST_MODEL, context, { rejectedThinking: new Set(["refused"]) });
    expect(request.messages[1]?.content).toEqual([{ type: "text", text: "said" }]);
    expect(thinkingOf(request)).toEqual([]);
  });

  test("an empty turn is left out and its neighbors become one user message", () => {
    const messages = [
      user("one"),
      assistant([{ type: "thinking", thinking: "hm", signature: "s" }]),
      user("two"),
    ];
    expect(withoutMarkers(requestOf(messages).messages)).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      },
    ]);
  });

  test("opaque blocks of the provider are sent back unchanged", () => {
    const use = { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "x" } };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "srv",
      content: [{ encrypted_content: "e" }],
    };
    const citations = [{ type: "web_search_result_location", encrypted_index: "i" }];
    const messages = [
      user("search"),
      assistant([
        { type: "opaque", provider: "anthropic", raw: use },
        { type: "opaque", provider: "anthropic", raw: found },
        { type: "text", text: "found", replay: { provider: "anthropic", data: { citations } } },
        {
          ...call("a"),
          replay: { provider: "anthropic", data: { caller: { type: "code", tool_id: "srv" } } },
        },
      ]),
      result("a"),
    ];
    const content: unknown = requestOf(messages).messages[1]?.content;
    expect(content).toEqual([
      use,
      found,
      { type: "text", text: "found", citations },
      { type: "tool_use", id: "a", name: "read", input: {}, caller: { type: "code", tool_id: "srv" } },
    ]);
  });

  test("a server tool call that was cut off before its result is left out", () => {
    const use = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const messages = [
      user("search"),
      assistant([text("I look."), { type: "opaque", provider: "anthropic", raw: use }], {
        stopReason: "max_tokens",
      }),
      user("on"),
    ];
    expect(requestOf(messages).messages[1]?.content).toEqual([{ type: "text", text: "I look." }]);
  });

  test("a paused turn is sent back unchanged, with nothing after it", () => {
    const use = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const paused = assistant([text("I look."), { type: "opaque", provider: "anthropic", raw: use }], {
      stopReason: "tool_use",
      rawStopReason: "pause_turn",
    });
    const request = requestOf([user("search"), paused]);
    const sent: unknown = request.messages.slice(1);
    expect(sent).toEqual([{ role: "assistant", content: [{ type: "text", text: "I look." }, use] }]);
    expect(checkAnthropicRequest(request)).toEqual([]);
  });

  test("a paused turn that ends in white space is sent without it, and stored with it", () => {
    const use = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const answer = { type: "web_search_tool_result", tool_use_id: "srv", content: [] };
    const opaque = [use, answer].map((raw) => ({ type: "opaque" as const, provider: "anthropic", raw }));
    const paused = assistant([...opaque, text("I found: \n\u00a0")], {
      stopReason: "tool_use",
      rawStopReason: "pause_turn",
    });
    const request = requestOf([user("search"), paused]);
    const sent = { role: "assistant" as const, content: [use, answer, { type: "text", text: "I found:" }] };
    expect<unknown>(withoutMarkers(request.messages[1])).toEqual(sent);
    expect(checkAnthropicRequest(request)).toEqual([]);
    expect(paused.content.at(-1)).toEqual(text("I found: \n\u00a0"));
    const later = requestOf([user("search"), paused, assistant([text("That is all. ")]), user("thanks")]);
    expect<unknown>(withoutMarkers(later.messages[1])).toEqual(sent);
    expect<unknown>(withoutMarkers(later.messages[2])).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "That is all. " }],
    });
  });

  test("calls and results become text when the request offers no tools", () => {
    const messages = [
      user("go"),
      assistant([call("a", "read", { path: "x" })]),
      result("a", "content", { images: [image()] }),
      assistant([text("done")]),
      user("sum up"),
    ];
    const request = requestOf(messages, []);
    expect(withoutMarkers(request.messages.slice(1, 3))).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: '[Called read with {"path":"x"}]' }] },
      { role: "user", content: [{ type: "text", text: "[Result of read]\ncontent" }, { type: "image" }] },
    ]);
    expect(checkAnthropicRequest(request)).toEqual([]);
  });

  test("a server tool call stays open while our own results for the same turn are sent back", () => {
    const use = { type: "server_tool_use", id: "srv", name: "code_execution", input: {} };
    const messages = [
      user("roll"),
      assistant([{ type: "opaque", provider: "anthropic", raw: use }, call("a")]),
      result("a", "4"),
      assistant([call("b")]),
      result("b", "2"),
    ];
    const request = requestOf(messages);
    expect(request.messages[1]?.content).toHaveLength(2);
    expect(checkAnthropicRequest(request)).toEqual([]);
    expect(requestOf([...messages, user("stop")]).messages[1]?.content).toHaveLength(1);
  });

  test("an assistant message that opens, follows another or ends the conversation gets a user message beside it", () => {
    const messages = [assistant([text("1")]), assistant([text("2")])];
    expect(withoutMarkers(requestOf(messages).messages).map(({ content }) => content)).toEqual([
      [{ type: "text", text: "Continue." }],
      [{ type: "text", text: "1" }],
      [{ type: "text", text: "Continue." }],
      [{ type: "text", text: "2" }],
      [{ type: "text", text: "Continue." }],
    ]);
  });

  test("ids and names of calls match the API's pattern and ids stay unique", () => {
    const messages = [
      user("go"),
      assistant([call("fc|1", "ls/what?"), call("fc.1", ""), call("fc_1", "x".repeat(200))]),
      result("fc|1", "1"),
      result("fc.1", "2"),
      result("fc_1", "3"),
    ];
    const request = requestOf(messages);
    expect(withoutMarkers(request.messages.slice(1))).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "fc_1", name: "ls_what_", input: {} },
          { type: "tool_use", id: "fc_1_2", name: "unknown", input: {} },
          { type: "tool_use", id: "fc_1_3", name: "x".repeat(128), input: {} },
        ],
      },
      {
        role: "user",
        content: ["fc_1", "fc_1_2", "fc_1_3"].map((id, index) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: String(index + 1),
        })),
      },
    ]);
    expect(checkAnthropicRequest(request)).toEqual([]);
  });
});
