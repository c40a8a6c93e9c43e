import { describe, expect, test } from "bun:test";
import { ProviderError } from "../../src/provider/errors.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import { user } from "../support/messages.ts";
import { TEST_MODEL } from "../support/models.ts";
import { openAIError } from "../support/openai-answers.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const KEY = "sk-nonce-4711";

async function failureFor(reply: Reply): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "", messages: [user("go")], tools: [] };
  const failure = await createOpenAIStream(KEY, server.url)(TEST_MODEL, context, {})
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  return failure;
}

function withoutHost({ message }: ProviderError): string {
  return message.replace(/127\.0\.0\.1:\d+/, "HOST");
}

function json(status: number, body: unknown): Reply {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

describe("the kind of an OpenAI error", () => {
  test.each([
    [400, "invalid_request_error", null, "Unknown parameter: 'x'.", "invalid_request"],
    [400, "invalid_request_error", "context_length_exceeded", "Too big.", "context_overflow"],
    [
      400,
      "invalid_request_error",
      null,
      "Your input exceeds the context window of this model.",
      "context_overflow",
    ],
    [400, "invalid_request_error", "invalid_prompt", "flagged", "invalid_request"],
    [401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.", "auth"],
    [402, "", "", "Insufficient credits", "quota"],
    [403, "request_forbidden", "unsupported_country_region_territory", "Country not supported", "auth"],
    [404, "invalid_request_error", "model_not_found", "The model `x` does not exist", "invalid_request"],
    [408, "", "", "slow", "timeout"],
    [409, "", "", "again", "server_error"],
    [413, "", "", "too large", "context_overflow"],
    [422, "", "", "what", "invalid_request"],
    [429, "tokens", "rate_limit_exceeded", "Rate limit reached", "rate_limit"],
    [429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota", "quota"],
    [429, "", "billing_hard_limit_reached", "Billing hard limit has been reached", "quota"],
    [
      429,
      "billing_not_active",
      null,
      "Your account is not active, please check your billing details",
      "quota",
    ],
    [
      429,
      "tokens",
      "rate_limit_exceeded",
      "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000.",
      "context_overflow",
    ],
    [500, "server_error", null, "The server had an error", "server_error"],
    [502, "", "", "Bad gateway", "server_error"],
    [503, "service_unavailable_error", null, "Overloaded", "server_error"],
    [503, "", "server_is_overloaded", "Our servers are overloaded", "overloaded"],
    [504, "", "", "Gateway timeout", "server_error"],
  ] as const)("%d %s %s: %s is %s", async (status, type, code, message, errorType) => {
    const failure = await failureFor(openAIError(status, { type, code, message }));
    expect([failure.errorType, failure.statusCode]).toEqual([errorType, status]);
  });
});

describe("errors of compatible servers and gateways", () => {
  test.each<[string, Reply, string, string]>([
    [
      "Azure",
      json(401, { statusCode: 401, message: "Access denied due to invalid subscription key" }),
      "auth",
      "HOST answered 401: Access denied due to invalid subscription key (check OPENAI_API_KEY)",
    ],
    [
      "vLLM, before it nested its errors",
      json(400, {
        object: "error",
        message: "maximum context length is 8192 tokens",
        type: "BadRequestError",
        code: 400,
      }),
      "context_overflow",
      "HOST answered 400: BadRequestError: maximum context length is 8192 tokens",
    ],
    [
      "llama.cpp",
      json(500, {
        error: {
          code: 500,
          message: "too big",
          type: "exceed_context_size_error",
          n_prompt_tokens: 1407,
          n_ctx: 256,
        },
      }),
      "context_overflow",
      "HOST answered 500: exceed_context_size_error: too big",
    ],
    [
      "Ollama",
      json(404, { error: "model 'x' not found" }),
      "invalid_request",
      "HOST answered 404: model 'x' not found (check the model's name and OPENAI_BASE_URL)",
    ],
    [
      "LM Studio, with status 200",
      json(200, { error: "Trying to keep the first 9000 tokens when context the overflows." }),
      "context_overflow",
      "HOST answered 200: Trying to keep the first 9000 tokens when context the overflows.",
    ],
    [
      "OpenRouter, for a server behind it",
      json(400, {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: '{"error":{"message":"prompt is too long"}}', provider_name: "X" },
        },
      }),
      "context_overflow",
      'HOST answered 400: Provider returned error: {"error":{"message":"prompt is too long"}}',
    ],
    [
      "LiteLLM",
      json(429, {
        error: { message: "litellm.RateLimitError: slow down", type: "throttling_error", code: "429" },
      }),
      "rate_limit",
      "HOST answered 429: throttling_error: litellm.RateLimitError: slow down",
    ],
    [
      "FastAPI",
      json(404, { detail: "Not Found" }),
      "invalid_request",
      "HOST answered 404: Not Found (check the model's name and OPENAI_BASE_URL)",
    ],
    [
      "Google, as a list",
      json(400, [{ error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } }]),
      "invalid_request",
      "HOST answered 400: API key not valid.",
    ],
    [
      "a page of a proxy",
      {
        status: 502,
        headers: { "content-type": "text/html" },
        body: "<html>\n\x1b[31m<h1>502\u202e</h1>\x00\r\n</html>",
      },
      "server_error",
      "HOST answered 502: <html> <h1>502</h1> </html>",
    ],
    ["nothing at all", { status: 500, body: "" }, "server_error", "HOST answered 500: (empty)"],
    ["JSON that is no object", json(400, null), "invalid_request", "HOST answered 400: null"],
  ])("%s", async (_, reply, errorType, message) => {
    const failure = await failureFor(reply);
    expect([failure.errorType, withoutHost(failure)]).toEqual([errorType, message]);
  });

  test("an error inside a stream may give its status as a code", async () => {
    const error = { code: 502, message: "Upstream error" };
    const failure = await failureFor({ events: [{ error }] });
    expect([failure.errorType, withoutHost(failure)]).toEqual([
      "server_error",
      "HOST interrupted the answer: Upstream error",
    ]);
  });
});

describe("a response with status 200 that is not an event stream", () => {
  test.each([
    ["text/html", "<html>Log in</html>", "invalid_response", "HOST answered 200: <html>Log in</html>"],
    ["application/json", "", "invalid_response", "HOST answered 200: (empty)"],
    [
      "application/json",
      '{"error":{"type":"server_error","message":"busy"}}',
      "server_error",
      "HOST answered 200: server_error: busy",
    ],
  ] as const)("as %s with %j is %s", async (contentType, body, errorType, message) => {
    const failure = await failureFor({ headers: { "content-type": contentType }, body });
    expect([failure.errorType, withoutHost(failure)]).toEqual([errorType, message]);
  });

  test("is read only at its beginning", async () => {
    const body = "z".repeat(100_000);
    const failure = await failureFor({ headers: { "content-type": "text/plain" }, body, ending: "hang" });
    expect(failure.message).toEndWith(`${"z".repeat(200)}…`);
  });

  test("is also read if it is compressed", async () => {
    const body = Bun.gzipSync(
      Buffer.from(JSON.stringify({ error: { code: "insufficient_quota", message: "no" } })),
    );
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const failure = await failureFor({ status: 429, headers, body });
    expect([failure.errorType, withoutHost(failure)]).toEqual([
      "quota",
      "HOST answered 429: insufficient_quota: no (check the plan and the credit of the account)",
    ]);
  });
});

test("a message never contains the key, not even half of it at the cut", async () => {
  const echo = `${"x".repeat(190)} Bearer ${KEY} and ${KEY}`;
  for (const reply of [openAIError(400, { message: echo }), { status: 500, body: echo }]) {
    expect((await failureFor(reply)).message).not.toContain(KEY.slice(0, 5));
  }
});

test("a redirect is not followed: the key and the conversation stay with the configured host", async () => {
  await using other = await startSseServer({});
  const location = `${other.url}/v1/responses`;
  for (const status of [301, 302, 307, 308]) {
    const failure = await failureFor({ status, headers: { location }, body: "" });
    expect([failure.errorType, withoutHost(failure)]).toEqual([
      "invalid_response",
      `HOST answered ${status}, a redirect to ${new URL(other.url).host}. The key was not sent there. If the target is right, set OPENAI_BASE_URL to it.`,
    ]);
  }
  expect(other.requests).toEqual([]);
});

test("the delay is read from the headers, else from the text", async () => {
  const waitFor = async (headers: Record<string, string>, message = "slow down") =>
    (await failureFor(openAIError(429, { code: "rate_limit_exceeded", message }, headers))).retryAfterMs;
  const worded = "Rate limit reached. Please try again in 11.054s. Visit the account page.";
  expect(await waitFor({ "retry-after": "3" })).toBe(3_000);
  expect(await waitFor({ "retry-after-ms": "40" }, worded)).toBe(40);
  expect(await waitFor({ "retry-after": "0" })).toBe(0);
  expect(await waitFor({})).toBeUndefined();
  expect(await waitFor({}, worded)).toBe(11_054);
});
