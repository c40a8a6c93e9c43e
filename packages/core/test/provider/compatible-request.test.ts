import { describe, expect, test } from "bun:test";
import { toCompatibleRequest } from "../../src/provider/chat-completions/request.ts";
import type { Effort, Model } from "../../src/provider/types.ts";
import type { AssistantMessage, Message } from "../../src/types.ts";
import { checkCompatibleRequest } from "../support/compatible-wire-check.ts";
import { createFuzzedHistory, createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";

const MODEL: Model = { ...TEST_MODEL, id: "local/qwen2.5-coder:7b", provider: "local" };
const CONTEXT = { systemPrompt: "You help.", messages: [user("hi")], tools: [READ_TOOL] };

describe("toCompatibleRequest", () => {
  test("contains what every server knows, and neither purpose nor session", () => {
    const options = { maxTokens: 500, sessionId: "s", purpose: "summary" as const, maxRetries: 3 };
    expect(toCompatibleRequest(MODEL, CONTEXT, options)).toEqual({
      model: "qwen2.5-coder:7b",
      messages: [
        { role: "system", content: "You help." },
        { role: "user", content: "hi" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "read",
            description: "Reads a file.",
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 500,
    });
  });

  test.each([
    ["local/deepseek/deepseek-chat:free", "deepseek/deepseek-chat:free"],
    ["local/hf.co/org/model:Q4_K_M", "hf.co/org/model:Q4_K_M"],
    ["local/m", "m"],
    ["m", "m"],
  ])("%s is requested as %s", (id, sent) => {
    expect(toCompatibleRequest({ ...MODEL, id }, CONTEXT).model).toBe(sent);
  });

  test("an empty system prompt and an empty tool list are left out", () => {
    const request = toCompatibleRequest(MODEL, { systemPrompt: " ", messages: [user("hi")], tools: [] });
    expect(request).toEqual({
      model: "qwen2.5-coder:7b",
      messages: [{ role: "user", content: "hi" }],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 8_000,
    });
  });

  test.each<[string, Partial<Model>, number | undefined, number | undefined]>([
    ["the model's limit", {}, undefined, 8_000],
    ["the smaller of both", {}, 100_000, 8_000],
    ["what was asked for, when the model says nothing", { maxOutputTokens: 0 }, 700, 700],
    ["nothing, when nobody says anything", { maxOutputTokens: 0 }, undefined, undefined],
    ["nothing, when the limit is the whole window", { contextWindow: 8_000 }, undefined, undefined],
    ["at least one token", {}, 0, 1],
  ])("max_tokens is %s", (_, fields, maxTokens, sent) => {
    const request = toCompatibleRequest({ ...MODEL, ...fields }, CONTEXT, { maxTokens });
    expect(request.max_tokens).toBe(sent);
    expect("max_tokens" in request).toBe(sent !== undefined);
  });

  test.each<[Effort | undefined, Model["thinking"], string | undefined]>([
    [undefined, "adaptive", undefined],
    ["high", "none", undefined],
    ["off", "none", undefined],
    ["low", "adaptive", "low"],
    ["medium", "budget", "medium"],
    ["xhigh", "adaptive", "high"],
    ["max", "always", "high"],
    ["off", "adaptive", "none"],
    ["off", "always", "low"],
  ])("the effort %s with %s thinking is sent as %s", (effort, thinking, sent) => {
    const model: Model = { ...MODEL, ...(thinking && { thinking }) };
    const asked: unknown = toCompatibleRequest(model, CONTEXT, { effort }).reasoning_effort;
    expect(asked).toBe(sent);
  });

  test("rejected parts are left out", () => {
    const refused = new Set(["stream_options", `reasoning_effort ${MODEL.id}`, "images local/other"]);
    const model: Model = { ...MODEL, thinking: "adaptive" };
    const context = { ...CONTEXT, messages: [user([text("see"), image()])] };
    const request = toCompatibleRequest(model, context, { effort: "high", refused });
    expect(Object.keys(request).sort()).toEqual(["max_tokens", "messages", "model", "stream", "tools"]);
    expect(JSON.stringify(request)).toContain("image_url");
    const without = toCompatibleRequest(model, context, { refused: new Set([`images ${MODEL.id}`]) });
    expect(without.messages.at(-1)).toEqual({
      role: "user",
      content: "see\n\n[An image was here; it was left out because the model takes none.]",
    });
  });

  test("lone surrogates are replaced everywhere, also inside arguments, schemas and thinking", () => {
    const replay = { provider: "local", data: { field: "reasoning" } };
    const request = toCompatibleRequest(MODEL, {
      systemPrompt: "a\ud83d",
      messages: [
        user([text("b\udc00"), image()]),
        assistant([
          { type: "thinking", thinking: "t\ud83d", replay },
          text("e\ud83d"),
          call("a", "read", { "k\ud83d": [{ deep: "\ud83d" }] }),
        ]),
        result("a", "c\ud83d"),
      ],
      tools: [{ ...READ_TOOL, description: "d\ud83d", inputSchema: { type: "object", title: "\ud83d" } }],
    });
    expect(JSON.stringify(request)).not.toMatch(/\\ud83d|\\udc00/i);
    expect(checkCompatibleRequest(request)).toEqual([]);
  });
});

describe("for any history", () => {
  test("each request of a growing conversation begins with the messages of the one before", () => {
    const messages: Message[] = [user("start")];
    let previous = requestOf(messages);
    for (let turn = 0; turn < 30; turn++) {
      const thinking = {
        type: "thinking" as const,
        thinking: "hm",
        replay: { provider: "local", data: { field: "reasoning_content" } },
      };
      const images = turn % 5 === 0 ? [image()] : [];
      messages.push(
        assistant([thinking, text(`step ${turn}`), call(`c${turn}`)], { model: MODEL.id }),
        result(`c${turn}`, "done", { images }),
      );
      if (turn % 3 === 0) messages.push(assistant([thinking, text("so far")]), user("on"));
      const next = requestOf(messages);
      expect(checkCompatibleRequest(next)).toEqual([]);
      expect({ ...next, messages: [] }).toEqual({ ...previous, messages: [] });
      expect(next.messages.slice(0, previous.messages.length)).toEqual(previous.messages);
      previous = next;
    }
  });

  test("none of ten thousand broken ones produces a request that a server rejects", () => {
    const random = createRandom(6);
    for (let round = 0; round < 10_000; round++) {
      const messages = createFuzzedHistory(random).map((message) => ownedBy(message, random));
      const refused = new Set(random() < 0.2 ? [`images ${MODEL.id}`, `thinking ${MODEL.id}`] : []);
      const request = toCompatibleRequest(
        { ...MODEL, thinking: "adaptive" },
        { systemPrompt: "s", messages, tools: round % 3 === 0 ? [] : [READ_TOOL] },
        { effort: round % 2 === 0 ? "max" : "off", refused },
      );
      const problems = checkCompatibleRequest(request);
      if (problems.length > 0) throw new Error(JSON.stringify({ problems, messages, request }, null, 1));
    }
  });
});

function requestOf(messages: Message[]) {
  return toCompatibleRequest(MODEL, { ...CONTEXT, messages });
}

/** Some of the answers as this server, another of its models or nobody known could have left them. */
function ownedBy(message: Message, random: () => number): Message {
  if (message.role !== "assistant" || random() < 0.4) return message;
  const fields = ["reasoning_content", "reasoning", "thinking", "other", undefined];
  const data = { field: fields[Math.floor(random() * fields.length)], details: [{ type: "x" }, 7] };
  const content = message.content.map((block): AssistantMessage["content"][number] => {
    if (block.type === "thinking") return { ...block, replay: { provider: "local", data } };
    const extra = { provider: "local", data: { extraContent: { google: "\ud83d" } } };
    return block.type === "tool_call" && random() < 0.3 ? { ...block, replay: extra } : block;
  });
  return { ...message, content, model: random() < 0.7 ? MODEL.id : "local/other" };
}
