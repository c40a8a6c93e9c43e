import { describe, expect, test } from "bun:test";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import { chunk, jsonReply, textChunk, toBody } from "../support/compatible-answers.ts";
import { user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const MODEL = { ...TEST_MODEL, id: "local/qwen:7b", provider: "local" };
const KEY = "sk-nonce-4711";

async function failureFor(reply: Reply, apiKey = KEY, path = "/v1"): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
  const failure = await createCompatibleStream("local", { baseUrl: server.url + path, apiKey })(
    MODEL,
    context,
    {},
  )
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  expect(server.requests).toHaveLength(1);
  return failure;
}

function withoutHost({ message }: ProviderError): string {
  return message.replace(/127\.0\.0\.1:\d+/, "HOST");
}

describe("a request that is too long is an overflow", () => {
  test.each<[string, Reply]>([
    [
      "llama.cpp",
      jsonReply(400, {
        error: {
          code: 400,
          message:
            "request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it",
          type: "exceed_context_size_error",
        },
      }),
    ],
    [
      "llama.cpp, before it had a type for it",
      jsonReply(500, {
        error: { code: 500, message: "the request exceeds the available context size", type: "server_error" },
      }),
    ],
    [
      "vLLM",
      jsonReply(400, {
        object: "error",
        message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        type: "BadRequestError",
        code: 400,
      }),
    ],
    [
      "Ollama",
      jsonReply(400, {
        error: { message: "the input length exceeds the context length", type: "api_error" },
      }),
    ],
    [
      "LM Studio",
      jsonReply(400, {
        error: "The number of tokens to keep from the initial prompt is greater than the context length.",
      }),
    ],
    [
      "LM Studio, in a stream",
      {
        body: 'event: error\ndata: {"error":{"message":"Reached context length of 4096 tokens, but this model does not currently support mid-generation context overflow."}}\n\n',
      },
    ],
    [
      "OpenRouter",
      jsonReply(400, {
        error: {
          code: 400,
          message: "Provider returned error",
          metadata: {
            raw: '{"error":{"message":"This endpoint\'s maximum context length is 32768 tokens."}}',
          },
        },
      }),
    ],
    ["anybody, by its status", { status: 413, body: "" }],
  ])("by %s", async (_, reply) => {
    expect((await failureFor(reply)).errorType).toBe("context_overflow");
  });
});

describe("an error instead of an answer", () => {
  test.each<[string, Reply, string, string]>([
    [
      "a model that is missing",
      jsonReply(404, { error: { message: 'model "qwen:7b" not found, try pulling it first' } }),
      "invalid_request",
      'HOST answered 404: model "qwen:7b" not found, try pulling it first (check the model\'s name and provider.compatible.local.baseUrl)',
    ],
    [
      "a wrong key",
      jsonReply(401, { error: { message: "Invalid API Key", type: "authentication_error" } }),
      "auth",
      "HOST answered 401: authentication_error: Invalid API Key (check provider.compatible.local.apiKey)",
    ],
    [
      "a model that is still loading",
      jsonReply(503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }),
      "server_error",
      "HOST answered 503: unavailable_error: Loading model",
    ],
    [
      "a page with status 200",
      { headers: { "content-type": "text/html; charset=utf-8" }, body: "<h1>Log in</h1>" },
      "invalid_response",
      "HOST answered 200: <h1>Log in</h1>",
    ],
    [
      "a page that says it is a stream",
      { body: "<!doctype html>\n<h1>Log in</h1>\n" },
      "invalid_response",
      "HOST answered 200: <!doctype html> <h1>Log in</h1>",
    ],
    [
      "JSON with status 200",
      jsonReply(200, { error: "Unexpected endpoint or method. (POST /chat/completions)" }),
      "invalid_response",
      "HOST answered 200: Unexpected endpoint or method. (POST /chat/completions)",
    ],
    [
      "JSON that says it is a stream",
      { body: JSON.stringify({ error: { message: "busy", type: "overloaded_error" } }, null, 2) },
      "overloaded",
      "HOST answered 200: overloaded_error: busy",
    ],
    [
      "an answer in one piece that holds an error",
      jsonReply(200, { choices: [{ message: {}, error: { message: "upstream died" } }] }),
      "invalid_response",
      'HOST answered 200: {"choices":[{"message":{},"error":{"message":"upstream died"}}]}',
    ],
    [
      "a data line",
      { body: toBody([{ error: { message: "slow down", code: 429 } }]) },
      "rate_limit",
      "HOST interrupted the answer: slow down",
    ],
    [
      "a data line that is a text",
      { body: toBody([textChunk("half"), { error: "model runner has unexpectedly stopped" }]) },
      "unknown",
      "HOST interrupted the answer: model runner has unexpectedly stopped",
    ],
    [
      "an event of its own",
      { body: "event: error\ndata: slot unavailable\n\n" },
      "unknown",
      "HOST interrupted the answer: slot unavailable",
    ],
    [
      "a field of its own, as older llama.cpp has it",
      {
        body: `${toBody([textChunk("half")], "")}error: {"code":500,"message":"boom","type":"server_error"}\n\n`,
      },
      "server_error",
      "HOST interrupted the answer: server_error: boom",
    ],
    [
      "an object that says it is an error",
      { body: toBody([{ object: "error", message: "engine died", type: "InternalServerError", code: 500 }]) },
      "server_error",
      "HOST interrupted the answer: InternalServerError: engine died",
    ],
    [
      "the detail of a failure",
      { body: toBody([{ detail: "not now" }]) },
      "unknown",
      "HOST interrupted the answer: not now",
    ],
    [
      "a choice",
      {
        body: toBody([
          textChunk("half"),
          chunk({}, { finish_reason: "error", error: { code: 502, message: "upstream died" } }),
        ]),
      },
      "server_error",
      "HOST interrupted the answer: upstream died",
    ],
    [
      "a stop reason",
      { body: toBody([chunk({}, { finish_reason: "error" })]) },
      "server_error",
      "HOST interrupted the answer: server_error: no reason was given",
    ],
  ])("as %s", async (_, reply, errorType, message) => {
    const failure = await failureFor(reply);
    expect([failure.errorType, withoutHost(failure)]).toEqual([errorType, message]);
  });

  test("for an address without the API's path says so", async () => {
    const missing = jsonReply(404, { detail: "Not Found" });
    expect((await failureFor(missing, KEY, "")).message).toEndWith(
      "Not Found (check the model's name and provider.compatible.local.baseUrl) (most servers have this API below /v1, which the address does not end in)",
    );
    expect(
      (await failureFor(jsonReply(200, { error: "Unexpected endpoint" }), KEY, "/api")).message,
    ).toContain("/v1");
    for (const path of ["/v1", "/v1/", "/api/v1", "/v1beta"]) {
      expect((await failureFor(missing, KEY, path)).message).not.toContain("below");
    }
  });

  test("for a redirect is not followed", async () => {
    await using other = await startSseServer({});
    const failure = await failureFor({ status: 307, headers: { location: `${other.url}/v1` }, body: "" });
    expect([failure.errorType, failure.message]).toEqual([
      "invalid_response",
      expect.stringContaining("set provider.compatible.local.baseUrl to it."),
    ]);
    expect(other.requests).toEqual([]);
  });

  test("does not contain the key, unless it is a placeholder", async () => {
    const echo = jsonReply(400, { error: { message: `no ollama here: ${KEY}` } });
    expect(withoutHost(await failureFor(echo))).toBe("HOST answered 400: no ollama here: [key of local]");
    expect(withoutHost(await failureFor(echo, "ollama"))).toContain(`no ollama here: ${KEY}`);
    expect(withoutHost(await failureFor(jsonReply(400, { error: { message: "none" } }), ""))).toEndWith(
      "none",
    );
  });
});

describe("a refused connection", () => {
  async function refusalAt(path: string): Promise<ProviderError> {
    const server = await startSseServer();
    await server[Symbol.asyncDispose]();
    const baseUrl = server.url.replace("http://", "http://user:secret@") + path;
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    return createCompatibleStream("local", { baseUrl })(MODEL, context, {})
      .result()
      .catch((error) => error);
  }

  test("is a network error that asks whether the server is running, without the password in its address", async () => {
    const failure = await refusalAt("/v1/?key=secret");
    expect([failure.errorType, failure.isRetryable, withoutHost(failure)]).toEqual([
      "network",
      true,
      'Nothing answers at http://HOST/v1 (ECONNREFUSED). Is the server "local" running? Its address is provider.compatible.local.baseUrl.',
    ]);
  });
});
