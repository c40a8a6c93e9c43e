import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import type { Model } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { createFuzzedHistory, createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";

const CLAUDE: Model = { ...TEST_MODEL, id: "claude-x", thinking: "adaptive" };
const GPT: Model = { ...TEST_MODEL, id: "gpt-5.5", provider: "openai", thinking: "adaptive" };

const FROM_ANTHROPIC: Message[] = [
  user([text("search and read"), image()]),
  assistant([
    { type: "thinking", thinking: "I should search.", signature: "sig==" },
    { type: "thinking", thinking: "", replay: { provider: "anthropic", data: "redacted" } },
    {
      type: "opaque",
      provider: "anthropic",
      raw: { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
    },
    {
      type: "opaque",
      provider: "anthropic",
      raw: { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] },
    },
    { type: "text", text: "Found.", replay: { provider: "anthropic", data: { citations: [{ type: "x" }] } } },
    call("toolu_01A", "read", { path: "x" }),
    call("toolu_01B"),
  ]),
  result("toolu_01A", "", { images: [image()] }),
  result("toolu_01B", "no such file", { isError: true }),
];

const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };

const FROM_OPENAI: Message[] = [
  user("search and read"),
  assistant([
    { type: "thinking", thinking: "hm", replay: { provider: "openai", data: REASONING } },
    { type: "opaque", provider: "openai", raw: { type: "web_search_call", id: "ws_1", status: "completed" } },
    {
      type: "text",
      text: "I look.",
      replay: {
        provider: "openai",
        data: {
          message: { id: "msg_1", phase: "commentary" },
          part: { type: "output_text", annotations: [] },
        },
      },
    },
    { ...call("call_A", "read", { path: "x" }), replay: { provider: "openai", data: { id: "fc_1" } } },
  ]),
  result("call_A", "content", { images: [image()] }),
];

function toGpt(messages: Message[], tools = [READ_TOOL]) {
  return toOpenAIRequest(GPT, { systemPrompt: "s", messages, tools });
}

function toClaude(messages: Message[], tools = [READ_TOOL]) {
  return toAnthropicRequest(CLAUDE, { systemPrompt: "s", messages, tools });
}

describe("a switch of the provider in the middle of a session", () => {
  test("sends OpenAI the texts, calls, results and images of Anthropic, and nothing else", () => {
    const { input } = toGpt(FROM_ANTHROPIC);
    expect(input).toMatchObject([
      { role: "user", content: [{ type: "input_text" }, { type: "input_image" }] },
      { type: "message", role: "assistant", content: "Found." },
      { type: "function_call", call_id: "toolu_01A", arguments: '{"path":"x"}' },
      { type: "function_call", call_id: "toolu_01B" },
      { type: "function_call_output", call_id: "toolu_01A", output: [{ type: "input_image" }] },
      { type: "function_call_output", call_id: "toolu_01B", output: "no such file" },
    ]);
    expect(JSON.stringify(input)).not.toMatch(/sig==|redacted|srv_1|citations/);
    expect(checkOpenAIRequest(toGpt(FROM_ANTHROPIC))).toEqual([]);
  });

  test("sends Anthropic the texts, calls, results and images of OpenAI, and nothing else", () => {
    const request = toClaude(FROM_OPENAI);
    expect(request.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "call_A" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_A" }] },
    ]);
    expect(JSON.stringify(request)).not.toMatch(/rs_1|ws_1|msg_1|fc_1|phase/);
    expect(checkAnthropicRequest(request)).toEqual([]);
  });

  test("and back again keeps what each provider needs", () => {
    const both = [
      ...FROM_ANTHROPIC,
      assistant([text("so")]),
      ...FROM_OPENAI,
      assistant([text("done")]),
      user("on"),
    ];
    expect(JSON.stringify(toClaude(both))).toMatch(/sig==.*redacted.*srv_1.*citations/);
    expect(JSON.stringify(toGpt(both))).toMatch(/rs_1.*ws_1.*commentary.*fc_1/);
    expect(checkAnthropicRequest(toClaude(both))).toEqual([]);
    expect(checkOpenAIRequest(toGpt(both))).toEqual([]);
  });

  test("is accepted by both for any history of two providers", () => {
    const seeds = fc.tuple(fc.nat(), fc.nat(), fc.boolean());
    fc.assert(
      fc.property(seeds, ([first, second, hasTools]) => {
        const messages = [
          ...createFuzzedHistory(createRandom(first)),
          ...FROM_ANTHROPIC,
          ...createFuzzedHistory(createRandom(second)),
          ...FROM_OPENAI,
        ];
        const tools = hasTools ? [READ_TOOL] : [];
        expect(checkAnthropicRequest(toClaude(messages, tools))).toEqual([]);
        expect(checkOpenAIRequest(toGpt(messages, tools))).toEqual([]);
      }),
      // The first was found by chance: reasoning that comes twice in one message.
      { numRuns: 2_000, examples: [[[0, 500_905_627, true]]] },
    );
  });
});
