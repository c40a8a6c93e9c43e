import { describe, expect, test } from "bun:test";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import type { Effort, Model } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import { createFuzzedHistory, createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";

const CONTEXT = { systemPrompt: "You help.", messages: [user("hi")], tools: [READ_TOOL] };

const REASONING_MODEL: Model = { ...TEST_MODEL, thinking: "adaptive" };

function requestOf(messages: Message[], tools = [READ_TOOL]) {
  return toOpenAIRequest(REASONING_MODEL, { systemPrompt: "You help.", messages, tools });
}

describe("toOpenAIRequest", () => {
  test("nothing is stored, and the cache gets the session's key", () => {
    const options = { effort: "high" as const, sessionId: `s${"x".repeat(80)}` };
    expect(toOpenAIRequest({ ...REASONING_MODEL, id: "gpt-5.5" }, CONTEXT, options)).toEqual({
      model: "gpt-5.5",
      stream: true,
      store: false,
      instructions: "You help.",
      input: [{ role: "user", content: "hi" }],
      tools: [
        {
          type: "function",
          name: "read",
          description: "Reads a file.",
          parameters: { type: "object", properties: { path: { type: "string" } } },
          strict: false,
        },
      ],
      max_output_tokens: 8_000,
      prompt_cache_key: `s${"x".repeat(63)}`,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
    });
  });

  test("deferred tools are marked, and the tool that searches for them is one of the API's kind", () => {
    const search = { ...READ_TOOL, name: "tool_search" };
    const hidden = { ...READ_TOOL, name: "mcp__a__b", isDeferred: true as const };
    const native = { provider: "openai", data: { execution: "client", id: "ts_1", status: "completed" } };
    const found = { ...result("1", "mcp__a__b and its schema"), foundTools: ["mcp__a__b", "mcp__gone__x"] };
    const messages = [
      user("find"),
      assistant([{ ...call("1", "tool_search", { query: "b" }), replay: native }]),
      found,
    ];
    const { tools, input } = requestOf(messages, [READ_TOOL, search, hidden]);
    expect(tools).toMatchObject([
      { type: "function", name: "read" },
      {
        type: "tool_search",
        execution: "client",
        description: "Reads a file.",
        parameters: { type: "object" },
      },
      { type: "function", name: "mcp__a__b", defer_loading: true },
    ]);
    expect(tools?.[0]).not.toHaveProperty("defer_loading");
    expect(input?.slice(1)).toMatchObject([
      { type: "tool_search_call", call_id: "1", execution: "client", arguments: { query: "b" }, id: "ts_1" },
      { type: "tool_search_output", call_id: "1", tools: [{ name: "mcp__a__b", defer_loading: true }] },
    ]);
    // Where nothing is deferred any more, both are an ordinary call.
    expect(requestOf(messages, [READ_TOOL, search]).input?.slice(1)).toEqual([
      { type: "function_call", call_id: "1", name: "tool_search", arguments: '{"query":"b"}' },
      { type: "function_call_output", call_id: "1", output: "mcp__a__b and its schema" },
    ]);
  });

  test("an empty system prompt and an empty tool list are left out", () => {
    const request = toOpenAIRequest(TEST_MODEL, { systemPrompt: " ", messages: [user("hi")], tools: [] });
    expect(Object.keys(request).sort()).toEqual(["input", "max_output_tokens", "model", "store", "stream"]);
  });

  test("lone surrogates are replaced everywhere, also inside arguments, schemas and their keys", () => {
    const request = toOpenAIRequest(TEST_MODEL, {
      systemPrompt: "a\ud83d",
      messages: [
        user("b\udc00"),
        assistant([text("e\ud83d"), call("a", "read", { "k\ud83d": [{ deep: "\ud83d" }] })]),
        result("a", "c\ud83d"),
      ],
      tools: [{ ...READ_TOOL, description: "d\ud83d", inputSchema: { type: "object", title: "\ud83d" } }],
    });
    expect(JSON.stringify(request)).not.toMatch(/\\ud83d|\\udc00/i);
    expect(checkOpenAIRequest(request)).toEqual([]);
  });

  test("the answer is limited by the option and by the model, never below the API's minimum", () => {
    const maxTokensFor = (maxTokens: number) =>
      toOpenAIRequest(TEST_MODEL, CONTEXT, { maxTokens }).max_output_tokens;
    expect([maxTokensFor(100), maxTokensFor(99_999), maxTokensFor(0)]).toEqual([100, 8_000, 16]);
  });

  test("each request repeats the one before it", () => {
    const messages: Message[] = [user("one")];
    let previous = requestOf(messages);
    for (let turn = 0; turn < 30; turn++) {
      const reasoning = { type: "reasoning", id: `rs_${turn}`, summary: [], encrypted_content: "gAAA" };
      messages.push(
        assistant([
          { type: "thinking", thinking: "", replay: { provider: "openai", data: reasoning } },
          { ...call(`c${turn}`), replay: { provider: "openai", data: { id: `fc_${turn}` } } },
        ]),
        result(`c${turn}`, "", { images: [image()] }),
      );
      if (turn % 3 === 0) messages.push(assistant([text("so far")]), user("on"));
      const next = requestOf(messages);
      expect(checkOpenAIRequest(next)).toEqual([]);
      expect({ ...next, input: [] }).toEqual({ ...previous, input: [] });
      const [before, after] = [previous.input, next.input];
      if (!Array.isArray(before) || !Array.isArray(after)) throw new Error("The input is no list.");
      // Images are dropped several at once, so only then may an older item change.
      const repeats = Bun.deepEquals(after.slice(0, before.length), before);
      expect(repeats || turn === 20 || turn === 26).toBe(true);
      previous = next;
    }
  });

  test("none of ten thousand broken histories produces a request that the API rejects", () => {
    const random = createRandom(5);
    const thinking: Array<Model["thinking"]> = ["none", "adaptive", "always", undefined];
    for (let round = 0; round < 10_000; round++) {
      const messages = createFuzzedHistory(random);
      const request = toOpenAIRequest(
        { ...TEST_MODEL, id: "gpt-5.5", thinking: thinking[round % 4] ?? "none" },
        { systemPrompt: "s", messages, tools: round % 3 === 0 ? [] : [READ_TOOL] },
        { effort: round % 2 === 0 ? "max" : "off", sessionId: "s" },
      );
      const problems = checkOpenAIRequest(request);
      if (problems.length > 0) throw new Error(JSON.stringify({ problems, messages, request }, null, 1));
    }
  });
});

describe("the requested reasoning", () => {
  function reasoningOf(id: string, effort: Effort | undefined, thinking?: Model["thinking"]) {
    const model = { ...TEST_MODEL, id, ...(thinking && { thinking }) };
    const { thinking: _, ...unlisted } = model;
    const { reasoning, include } = toOpenAIRequest(thinking ? model : unlisted, CONTEXT, { effort });
    expect(include !== undefined).toBe(reasoning !== undefined);
    return reasoning;
  }

  test.each(["gpt-4o", "gpt-4.1", "gpt-4o-2024-08-06", "gpt-5-chat-latest", "llama-4", "qwen3-coder"])(
    "%s has none",
    (id) => {
      expect(reasoningOf(id, "high")).toBeUndefined();
      expect(reasoningOf(id, undefined)).toBeUndefined();
    },
  );

  test("without an effort the model decides", () => {
    expect(reasoningOf("gpt-6-sol", undefined)).toEqual({ summary: "auto" });
  });

  test.each([
    ["o4-mini", "low", "high"],
    ["gpt-5", "low", "high"],
    ["gpt-5-mini-2025-08-07", "low", "high"],
    ["gpt-5.1-codex", "low", "high"],
    ["gpt-5.1-codex-max", "low", "xhigh"],
    ["gpt-5.1", "none", "high"],
    ["gpt-5.4-mini-2026-03-17", "none", "xhigh"],
    ["gpt-5.5", "none", "xhigh"],
    ["gpt-5.6-terra", "none", "max"],
    ["gpt-6-luna", "none", "max"],
    ["gpt-6.1-terra", "none", "max"],
    ["gpt-6-astra", "low", "max"],
    ["gpt-6.1-sol", "low", "max"],
    ["gpt-6.2-astra", "low", "max"],
    ["gpt-7", "low", "max"],
  ] as const)("%s goes from %s to %s", (id, least, most) => {
    expect([reasoningOf(id, "off")?.effort, reasoningOf(id, "max")?.effort]).toEqual([least, most]);
  });

  test("the model's entry takes precedence over its id", () => {
    expect(reasoningOf("gpt-6-sol", "off", "always")).toEqual({ effort: "low", summary: "auto" });
    expect(reasoningOf("gpt-6-sol", "off", "adaptive")).toEqual({ effort: "none" });
    expect(reasoningOf("gpt-6-sol", "high", "none")).toBeUndefined();
    expect(reasoningOf("my-own", "medium", "always")).toEqual({ effort: "medium", summary: "auto" });
  });
});
