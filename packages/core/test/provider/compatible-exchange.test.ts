import { describe, expect, test } from "bun:test";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import type { Model } from "../../src/provider/types.ts";
import { answerReply, jsonReply, textAnswer, toBody } from "../support/compatible-answers.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const MODEL: Model = { ...TEST_MODEL, id: "local/qwen:7b", provider: "local", thinking: "adaptive" };

async function failureFor(reply: Reply): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
  const failure = await createCompatibleStream("local", { baseUrl: server.url })(MODEL, context, {})
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  expect(server.requests).toHaveLength(1);
  return failure;
}

describe("a server or a model without tool support is reported", () => {
  test.each<[string, Reply]>([
    [
      "Ollama",
      jsonReply(400, {
        error: {
          message: "registry.ollama.ai/library/gemma:latest does not support tools",
          type: "invalid_request_error",
        },
      }),
    ],
    [
      "vLLM",
      jsonReply(400, {
        object: "error",
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        type: "BadRequestError",
        code: 400,
      }),
    ],
    [
      "llama.cpp",
      jsonReply(500, {
        error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" },
      }),
    ],
    [
      "OpenRouter",
      jsonReply(404, { error: { code: 404, message: "No endpoints found that support tool use." } }),
    ],
    ["Groq", jsonReply(400, { error: { message: "`tool calling` is not supported with this model" } })],
    ["a gateway", jsonReply(400, { error: { message: "tools is not supported in this model" } })],
    [
      "a gateway, in a stream",
      { body: toBody([{ error: { message: "This model does not support tools." } }]) },
    ],
  ])("by %s", async (_, reply) => {
    const failure = await failureFor(reply);
    expect([failure.errorType, failure.isRetryable]).toEqual(["invalid_request", false]);
    expect(failure.message).toStartWith(
      'qwen:7b cannot use tools on the server "local", and diligent requires tools: choose another model, or start the server with tool calls enabled. 127.0.0.1:',
    );
    expect(failure.message.match(/cannot use tools/g)).toHaveLength(1);
  });

  test.each([
    [429, "Too many requests; the free tier does not support tools at this rate", "rate_limit"],
    [401, "This key does not support tools", "auth"],
    [400, "Unknown parameter: 'tools[0].x'", "invalid_request"],
  ] as const)("but not for %d %s", async (status, message, errorType) => {
    const failure = await failureFor(jsonReply(status, { error: { message } }));
    expect(failure.errorType).toBe(errorType);
    expect(failure.message).not.toContain("diligent requires tools");
  });
});

describe("an optional request part that a server rejects", () => {
  const thinking = { provider: "local", data: { field: "reasoning_content" } };
  const history = [
    user([text("see"), image()]),
    assistant([{ type: "thinking", thinking: "hm", replay: thinking }, call("a")]),
    result("a"),
  ];

  async function sendTwice(...refusals: Reply[]) {
    await using server = await startSseServer(...refusals, answerReply(textAnswer("on")));
    const stream = createCompatibleStream("local", { baseUrl: server.url });
    const context = { systemPrompt: "", messages: history, tools: [READ_TOOL] };
    for (const _ of [1, 2]) {
      const { message } = await stream(MODEL, context, { effort: "high" }).result();
      expect(message.stopReason).toBe("end_turn");
    }
    expect(server.problems).toEqual([]);
    return server.requests.map(({ body }) => JSON.stringify(body));
  }

  const invalid = (message: string) => jsonReply(400, { error: { message } });
  const extraField = {
    detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs" }],
  };

  test.each<[string, Reply]>([
    ["stream_options", invalid("Unknown parameter: 'stream_options'.")],
    ["stream_options", jsonReply(422, extraField)],
    ["reasoning_effort", invalid("reasoning_effort is not supported by this model")],
    ["reasoning_content", invalid("property 'reasoning_content' is unsupported")],
    ["image_url", jsonReply(500, { error: { message: "image input is not supported - hint: mmproj" } })],
    ["image_url", jsonReply(404, { error: { message: "No endpoints found that support image input" } })],
  ])("is left out from then on: %s", async (part, refusal) => {
    const bodies = await sendTwice(refusal);
    expect(bodies.map((body) => body.includes(`"${part}"`))).toEqual([true, false, false]);
  });

  test("may be one of several, rejected one after the other", async () => {
    const bodies = await sendTwice(
      invalid("Unrecognized request argument supplied: stream_options"),
      invalid("reasoning_effort: unknown"),
    );
    expect(bodies).toHaveLength(4);
    expect(bodies.at(-1)).not.toMatch(/stream_options|reasoning_effort/);
  });

  test("is an error if the request did not have it, or if it is rejected again", async () => {
    const stream = (url: string) =>
      createCompatibleStream("local", { baseUrl: url })(
        MODEL,
        { systemPrompt: "", messages: [user("go")], tools: [] },
        {},
      ).result();
    for (const [message, requests] of [
      ["reasoning_effort is unknown", 1],
      ["stream_options is unknown", 2],
    ] as const) {
      await using server = await startSseServer(invalid(message));
      await expect(stream(server.url)).rejects.toMatchObject({ errorType: "invalid_request" });
      expect(server.requests).toHaveLength(requests);
    }
  });
});
