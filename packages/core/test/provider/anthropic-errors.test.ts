import { describe, expect, test } from "bun:test";
import { createAnthropicStream, toResponseError } from "../../src/provider/anthropic.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import { user } from "../support/messages.ts";
import { TEST_MODEL } from "../support/models.ts";
import { errorReply, type Reply, startSseServer } from "../support/sse-server.ts";

const KEY = "sk-ant-nonce-4711";

async function failureFor(reply: Reply): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "", messages: [user("go")], tools: [] };
  const failure = await createAnthropicStream(KEY, server.url)(TEST_MODEL, context, {})
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  return failure;
}

function withoutHost({ message }: ProviderError): string {
  return message.replace(/127\.0\.0\.1:\d+/, "HOST");
}

describe("the kind of an error", () => {
  test.each([
    [400, "invalid_request_error", "messages.0: bad", "invalid_request"],
    [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"],
    [
      400,
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
      "context_overflow",
    ],
    [
      400,
      "invalid_request_error",
      "max_tokens: 300000 > 64000, which is the maximum allowed",
      "invalid_request",
    ],
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "quota"],
    [401, "authentication_error", "invalid x-api-key", "auth"],
    [402, "billing_error", "pay", "quota"],
    [403, "permission_error", "no", "auth"],
    [404, "not_found_error", "model: claude-typo", "invalid_request"],
    [408, "timeout_error", "slow", "timeout"],
    [400, "api_error", "what", "invalid_request"],
    [404, "overloaded_error", "what", "invalid_request"],
    [409, "conflict_error", "again", "server_error"],
    [413, "request_too_large", "Request exceeds the maximum size", "context_overflow"],
    [422, "", "what", "invalid_request"],
    [429, "rate_limit_error", "This request would exceed your organization's rate limit", "rate_limit"],
    [500, "api_error", "Internal server error", "server_error"],
    [503, "overloaded_error", "busy", "overloaded"],
    [504, "timeout_error", "Gateway Timeout: timed out", "server_error"],
    [529, "overloaded_error", "Overloaded", "overloaded"],
  ] as const)("%d %s: %s is %s", async (status, type, message, errorType) => {
    const failure = await failureFor(errorReply(status, type, message));
    expect([failure.errorType, failure.statusCode]).toEqual([errorType, status]);
  });

  test("a spend limit is recognized by its code, for any status", () => {
    const error = {
      type: "rate_limit_error",
      message: "no",
      details: { error_code: "enforced_spend_limit_reached" },
    };
    const failure = toResponseError(
      { status: 429, headers: undefined, body: { error } },
      { host: "h", apiKey: KEY },
    );
    expect(failure.errorType).toBe("quota");
  });
});

describe("the message of an error", () => {
  test("names status, type and text, and for an invalid key the variable", async () => {
    const failure = await failureFor(errorReply(401, "authentication_error", "invalid x-api-key"));
    expect(withoutHost(failure)).toBe(
      "HOST answered 401: authentication_error: invalid x-api-key (check ANTHROPIC_API_KEY)",
    );
  });

  test("never contains the key, not even half of it at the cut", async () => {
    const echo = `${"x".repeat(190)} Bearer ${KEY} and ${KEY}`;
    for (const reply of [errorReply(400, "invalid_request_error", echo), { status: 500, body: echo }]) {
      expect((await failureFor(reply)).message).not.toContain(KEY.slice(0, 5));
    }
  });

  test("is one line without control characters for a page that is not JSON", async () => {
    const page = `<html>\n\x1b[31m<h1>502 Bad\u202e Gateway</h1>\x00\r\n${"y".repeat(500)}`;
    const failure = await failureFor({ status: 502, headers: { "content-type": "text/html" }, body: page });
    expect([failure.errorType, withoutHost(failure)]).toEqual([
      "server_error",
      `HOST answered 502: <html> <h1>502 Bad Gateway</h1> ${"y".repeat(168)}…`,
    ]);
  });

  test("says if the body is empty", async () => {
    expect(withoutHost(await failureFor({ status: 500, body: "" }))).toBe("HOST answered 500: (empty)");
  });
});

describe("a response with status 200 that is not an event stream", () => {
  test.each([
    ["text/html", "<html>Log in</html>", "invalid_response", "HOST answered 200: <html>Log in</html>"],
    ["application/json", "", "invalid_response", "HOST answered 200: (empty)"],
    [
      "application/json",
      '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
      "overloaded",
      "HOST answered 200: overloaded_error: busy",
    ],
    [
      "application/json",
      '{"id":"msg_1","content":[]}',
      "invalid_response",
      'HOST answered 200: {"id":"msg_1","content":[]}',
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
});

test("a redirect is not followed: the key and the conversation stay with the configured host", async () => {
  await using other = await startSseServer({});
  const location = `${other.url}/v1/messages`;
  for (const status of [301, 302, 307, 308]) {
    const failure = await failureFor({ status, headers: { location }, body: "" });
    expect([failure.errorType, withoutHost(failure)]).toEqual([
      "invalid_response",
      `HOST answered ${status}, a redirect to ${new URL(other.url).host}. The key was not sent there. If the target is right, set ANTHROPIC_BASE_URL to it.`,
    ]);
  }
  expect(other.requests).toEqual([]);
});

test("the delay is read from the headers", async () => {
  const waitFor = async (headers: Record<string, string>) =>
    (await failureFor(errorReply(429, "rate_limit_error", "slow down", headers))).retryAfterMs;
  expect(await waitFor({ "retry-after": "3" })).toBe(3_000);
  expect(await waitFor({ "retry-after-ms": "40" })).toBe(40);
  expect(await waitFor({ "retry-after": "0" })).toBe(0);
  expect(await waitFor({})).toBeUndefined();
  const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
  expect(await waitFor({ "retry-after": inTenSeconds })).toBeWithin(5_000, 10_001);
});
