import { describe, expect, test } from "bun:test";
import { computeCost } from "../../src/agent/cost.ts";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import { findWebSearches, isWebSearchBlock } from "../../src/provider/web-search.ts";
import { addUsage, EMPTY_USAGE, type OpaqueBlock } from "../../src/types.ts";
import { assistant, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";

const context = { systemPrompt: "You help.", messages: [user("hi")], tools: [READ_TOOL] };

describe("the provider's own search", () => {
  test("is offered with the tools if it is wanted, before them, and not without tools", () => {
    const anthropic = (tools: (typeof READ_TOOL)[], webSearch?: boolean) =>
      toAnthropicRequest(TEST_MODEL, { ...context, tools }, { webSearch }).tools;
    const [search, read] = anthropic([READ_TOOL], true) ?? [];
    expect(search).toEqual({ type: "web_search_20250305", name: "web_search", max_uses: 8 });
    expect(read).toMatchObject({ name: "read", cache_control: { type: "ephemeral" } });
    expect(anthropic([READ_TOOL])).toHaveLength(1);
    expect(anthropic([], true)).toBeUndefined();
    // Another tool of that name, such as an extension's, comes first.
    expect(anthropic([{ ...READ_TOOL, name: "web_search" }], true)).toHaveLength(1);
    const openai = (tools: (typeof READ_TOOL)[], webSearch?: boolean) =>
      toOpenAIRequest(TEST_MODEL, { ...context, tools }, { webSearch }).tools;
    expect(openai([READ_TOOL], true)?.[0]).toEqual({ type: "web_search" });
    expect(openai([READ_TOOL])).toHaveLength(1);
    expect(openai([], true)).toBeUndefined();
  });

  test("costs a cent for each search, in addition to the tokens", () => {
    const usage = { ...EMPTY_USAGE, webSearches: 3 };
    const model = { ...TEST_MODEL, inputCostPer1M: 1, outputCostPer1M: 1 };
    expect(computeCost(usage, model)).toBe(0.03);
    expect(addUsage(usage, EMPTY_USAGE)).toEqual(usage);
    expect(addUsage(usage, usage)).toEqual({ ...EMPTY_USAGE, webSearches: 6 });
    expect(addUsage(EMPTY_USAGE, EMPTY_USAGE)).not.toHaveProperty("webSearches");
  });
});

const opaque = (provider: string, raw: unknown): OpaqueBlock => ({ type: "opaque", provider, raw });

describe("findWebSearches()", () => {
  test("finds queries, failures and cited pages in a reply of Anthropic, each page once", () => {
    const citation = (url: string, title: string) => ({ type: "web_search_result_location", url, title });
    const content = [
      opaque("anthropic", { type: "server_tool_use", name: "web_search", input: { query: "bun release" } }),
      opaque("anthropic", {
        type: "web_search_tool_result",
        content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
      }),
      {
        ...text("Bun 1.4"),
        replay: {
          provider: "anthropic",
          data: { citations: [citation("https://a.example/", "A"), citation("https://b.example/", "B")] },
        },
      },
      {
        ...text(" is out."),
        replay: { provider: "anthropic", data: { citations: [citation("https://a.example/", "A")] } },
      },
    ];
    expect(findWebSearches(assistant(content))).toEqual({
      queries: ["bun release"],
      sources: [
        { url: "https://a.example/", title: "A" },
        { url: "https://b.example/", title: "B" },
      ],
      problems: ["max_uses_exceeded"],
    });
  });

  test("finds queries and cited pages in a reply of OpenAI", () => {
    const content = [
      opaque("openai", { type: "web_search_call", action: { type: "search", queries: ["one", "two"] } }),
      opaque("openai", { type: "web_search_call", action: { type: "open_page", url: "https://c.example/" } }),
      {
        ...text("An answer."),
        replay: {
          provider: "openai",
          data: {
            message: {},
            part: { annotations: [{ type: "url_citation", url: "https://c.example/", title: "C" }] },
          },
        },
      },
    ];
    expect(findWebSearches(assistant(content))).toEqual({
      queries: ["one", "two"],
      sources: [{ url: "https://c.example/", title: "C" }],
      problems: [],
    });
  });

  test("finds nothing in other replies, whatever their blocks hold", () => {
    const strange = [null, 1, {}, { type: "server_tool_use", name: "code", input: 1 }, { citations: "x" }];
    const content = [
      text("plain"),
      ...strange.map((raw) => opaque("anthropic", raw)),
      { ...text("b"), replay: { provider: "openai", data: { part: { annotations: [1, null, {}] } } } },
    ];
    expect(findWebSearches(assistant(content))).toEqual({ queries: [], sources: [], problems: [] });
    expect(strange.map((raw) => isWebSearchBlock(opaque("anthropic", raw)))).not.toContain(true);
  });
});
