import { describe, expect, test } from "bun:test";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import type { Model } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { createFuzzedHistory, createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";

const MARKER = { cache_control: { type: "ephemeral" as const } };

function requestOf(messages: Message[], tools = [READ_TOOL]) {
  return toAnthropicRequest(TEST_MODEL, { systemPrompt: "You help.", messages, tools });
}

function withoutMarkers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, item) => (key === "cache_control" ? undefined : item)));
}

describe("toAnthropicRequest", () => {
  test("system, the last tool and the last two user turns carry a cache marker", () => {
    const messages = [
      user("one"),
      assistant([text("1")]),
      user("two"),
      assistant([text("2")]),
      user("three"),
    ];
    expect(requestOf(messages, [READ_TOOL, { ...READ_TOOL, name: "ls" }])).toEqual({
      model: "test-model",
      max_tokens: 8_000,
      stream: true,
      system: [{ type: "text", text: "You help.", ...MARKER }],
      tools: [
        { name: "read", description: "Reads a file.", input_schema: READ_TOOL.inputSchema },
        { name: "ls", description: "Reads a file.", input_schema: READ_TOOL.inputSchema, ...MARKER },
      ].map((tool) => ({ ...tool, input_schema: { ...tool.input_schema, type: "object" as const } })),
      messages: [
        { role: "user", content: [{ type: "text", text: "one" }] },
        { role: "assistant", content: [{ type: "text", text: "1" }] },
        { role: "user", content: [{ type: "text", text: "two", ...MARKER }] },
        { role: "assistant", content: [{ type: "text", text: "2" }] },
        { role: "user", content: [{ type: "text", text: "three", ...MARKER }] },
      ],
    });
  });

  test("deferred tools are marked, and a search refers to those of the request that it has found", () => {
    const tools = [READ_TOOL, { ...READ_TOOL, name: "mcp__a__b", isDeferred: true as const }];
    const found = { ...result("1", "mcp__a__b and its schema"), foundTools: ["mcp__a__b", "mcp__gone__x"] };
    const messages = [user("find"), assistant([call("1", "tool_search", { query: "b" })]), found];
    const request = requestOf(messages, tools);
    expect(request.tools).toMatchObject([
      { name: "read", ...MARKER },
      { name: "mcp__a__b", defer_loading: true },
    ]);
    expect(request.tools?.[1]).not.toHaveProperty("cache_control");
    expect(request.messages.at(-1)?.content).toMatchObject([
      { type: "tool_result", content: [{ type: "tool_reference", tool_name: "mcp__a__b" }] },
    ]);
    const later = requestOf(messages, [READ_TOOL]);
    expect(later.messages.at(-1)?.content).toMatchObject([{ content: "mcp__a__b and its schema" }]);
  });

  test("an empty system prompt and an empty tool list are left out", () => {
    const request = toAnthropicRequest(TEST_MODEL, { systemPrompt: " ", messages: [user("hi")], tools: [] });
    expect(Object.keys(request).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
  });

  test("lone surrogates are replaced everywhere, also inside arguments, schemas and their keys", () => {
    const request = toAnthropicRequest(TEST_MODEL, {
      systemPrompt: "a\ud83d",
      messages: [
        user("b\udc00"),
        assistant([call("a", "read", { "k\ud83d": [{ deep: "\ud83d" }] })]),
        result("a", "c\ud83d"),
      ],
      tools: [{ ...READ_TOOL, description: "d\ud83d", inputSchema: { type: "object", title: "\ud83d" } }],
    });
    expect(JSON.stringify(request)).not.toMatch(/\\ud83d|\\udc00/i);
    expect(checkAnthropicRequest(request)).toEqual([]);
  });

  test("the answer is limited by the option and by the model", () => {
    const maxTokensFor = (maxTokens: number) =>
      toAnthropicRequest(TEST_MODEL, { systemPrompt: "", messages: [user("hi")], tools: [] }, { maxTokens })
        .max_tokens;
    expect([maxTokensFor(100), maxTokensFor(99_999), maxTokensFor(0)]).toEqual([100, 8_000, 1]);
  });

  test("each request repeats the one before it, except for cache markers", () => {
    const messages: Message[] = [user("one")];
    let previous = withoutMarkers(requestOf(messages));
    for (let turn = 0; turn < 30; turn++) {
      messages.push(
        assistant([text(`t${turn}`), call(`c${turn}`)]),
        result(`c${turn}`, "", { images: [image()] }),
      );
      if (turn % 3 === 0) messages.push(assistant([text("so far")]), user("on"));
      const request = requestOf(messages);
      const next = withoutMarkers(request);
      expect(checkAnthropicRequest(request)).toEqual([]);
      expect({ system: next.system, tools: next.tools }).toEqual({
        system: previous.system,
        tools: previous.tools,
      });
      // Images are dropped several at once, so only then may an older message change.
      const repeats = Bun.deepEquals(next.messages.slice(0, previous.messages.length), previous.messages);
      expect(repeats || turn === 20 || turn === 26).toBe(true);
      previous = next;
    }
  });

  test("none of ten thousand broken histories produces a request that the API rejects", () => {
    const random = createRandom(3);
    const thinking: Array<Model["thinking"]> = ["none", "adaptive", "always", "budget"];
    for (let round = 0; round < 10_000; round++) {
      const messages = createFuzzedHistory(random);
      const request = toAnthropicRequest(
        { ...TEST_MODEL, thinking: thinking[round % 4] ?? "none" },
        { systemPrompt: "s", messages, tools: round % 3 === 0 ? [] : [READ_TOOL] },
        { effort: round % 2 === 0 ? "high" : "off" },
      );
      const problems = checkAnthropicRequest(request);
      if (problems.length > 0) throw new Error(JSON.stringify({ problems, messages, request }, null, 1));
    }
  });
});
