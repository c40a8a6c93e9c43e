import { expect, test } from "bun:test";
import OpenAI, { APIConnectionTimeoutError } from "openai";
import { classifyOpenAIError, ProviderError } from "../../src/index.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

/** What a client of one's own throws for this answer. */
async function thrownFor(reply: Reply): Promise<unknown> {
  await using server = await startSseServer(reply);
  const client = new OpenAI({ apiKey: "key", baseURL: server.url, maxRetries: 0, logLevel: "off" });
  return await client.responses
    .create({
      model: "gpt-4o",
      input: [{ role: "user", content: "hello" }],
      max_output_tokens: 100,
      store: false,
      stream: true,
    })
    .catch((error: unknown) => error);
}

function json(status: number, error: unknown, headers = {}): Reply {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ error }),
  };
}

test.each<[string, Reply, Partial<ProviderError>]>([
  [
    "a rate limit with the time to wait",
    json(429, { message: "Slow down.", type: "tokens", code: "rate_limit_exceeded" }, { "retry-after": "7" }),
    { errorType: "rate_limit", isRetryable: true, retryAfterMs: 7_000, statusCode: 429 },
  ],
  [
    "an overloaded server",
    { status: 529, headers: {}, body: "busy" },
    { errorType: "overloaded", isRetryable: true, statusCode: 529 },
  ],
  [
    "a context overflow",
    json(400, { message: "Too long.", type: "invalid_request_error", code: "context_length_exceeded" }),
    { errorType: "context_overflow", isRetryable: false, statusCode: 400 },
  ],
  [
    "a wrong key",
    json(401, { message: "Incorrect API key provided.", type: "invalid_request_error" }),
    { errorType: "auth", isRetryable: false, statusCode: 401 },
  ],
])("classifyOpenAIError recognizes %s", async (_, reply, expected) => {
  const error = classifyOpenAIError(await thrownFor(reply));
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject(expected);
  expect(error.message).toStartWith("OpenAI answered ");
});

test("classifyOpenAIError recognizes a refused connection and a time limit", async () => {
  const { url } = await startSseServer(json(200, {})).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  const client = new OpenAI({ apiKey: "key", baseURL: url, maxRetries: 0, logLevel: "off" });
  const refused = await client.models.list().catch((error: unknown) => error);
  expect(classifyOpenAIError(refused)).toMatchObject({ errorType: "network", isRetryable: true });
  expect(classifyOpenAIError(new APIConnectionTimeoutError())).toMatchObject({
    errorType: "timeout",
    message: "OpenAI did not answer in time.",
  });
});

test("classifyOpenAIError returns a ProviderError unchanged, and accepts any thrown value", () => {
  const known = new ProviderError("busy", "overloaded");
  expect(classifyOpenAIError(known)).toBe(known);
  expect(classifyOpenAIError("what")).toMatchObject({ errorType: "unknown", isRetryable: false });
});
