import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { createAnthropicStream, preloadAnthropic } from "../../src/provider/anthropic.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import type { ProviderEvent, StreamOptions } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import {
  callBlock,
  messageStart,
  openBlock,
  textAnswer,
  textBlock,
  thinkingBlock,
} from "../support/answers.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { errorReply, type Reply, startSseServer } from "../support/sse-server.ts";

const KEY = "sk-ant-nonce-4711";

function ask(url: string, options: StreamOptions = {}, messages: Message[] = [user("go")]) {
  const context = { systemPrompt: "You help.", messages, tools: [READ_TOOL] };
  return createAnthropicStream(KEY, url)(TEST_MODEL, context, options);
}

async function failureOf(url: string): Promise<ProviderError> {
  const failure = await ask(url)
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  return failure;
}

async function failureFor(reply: Reply): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  return await failureOf(server.url);
}

describe("a request", () => {
  test("is sent to the messages path with the key, and nothing else can set its headers", async () => {
    process.env.ANTHROPIC_CUSTOM_HEADERS = "Authorization: Bearer other\nX-Api-Key: other";
    process.env.ANTHROPIC_AUTH_TOKEN = "other";
    await using server = await startSseServer({ events: textAnswer("hi") });
    for (const url of [server.url, `${server.url}/`, `${server.url}/v1`, `${server.url}/proxy/`]) {
      await ask(url).result();
    }
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/v1/messages",
      "/v1/messages",
      "/v1/messages",
      "/proxy/v1/messages",
    ]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.requests[0]?.headers["x-api-key"]).toBeUndefined();
    expect(server.problems).toEqual([]);
  });

  test("is sent only once after any failure, and prints nothing", async () => {
    const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) => spyOn(console, name));
    await using server = await startSseServer(errorReply(500, "api_error", "Internal server error"));
    const model = { ...TEST_MODEL, id: "claude-sonnet-4-5" };
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    await createAnthropicStream(KEY, server.url)(model, context, {})
      .result()
      .catch(() => {});
    expect(server.requests).toHaveLength(1);
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  test("emits no message twice and ends with done", async () => {
    await preloadAnthropic();
    await using server = await startSseServer({ events: textAnswer("hi") });
    const events: string[] = [];
    for await (const { type } of ask(server.url)) if (type !== "alive") events.push(type);
    expect(events).toEqual(["start", "usage", "text_delta", "text_end", "usage", "done"]);
  });

  test("with an invalid key or address fails before anything is sent", async () => {
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    const failure = (key: string, url?: string) =>
      createAnthropicStream(key, url)(TEST_MODEL, context, {})
        .result()
        .catch(({ errorType, message }) => [errorType, message]);
    expect(await failure("")).toEqual(["auth", "There is no Anthropic key: set ANTHROPIC_API_KEY."]);
    expect(await failure("sk\n")).toEqual([
      "auth",
      "The Anthropic key contains invalid characters: check ANTHROPIC_API_KEY.",
    ]);
    expect(await failure(KEY, "localhost:1")).toEqual([
      "invalid_request",
      "The base URL is not an http address: check ANTHROPIC_BASE_URL (localhost:1).",
    ]);
  });
});

describe("aborting", () => {
  async function abortAfter(events: readonly unknown[], eventCount: number) {
    await using server = await startSseServer({ events, ending: "hang" });
    const controller = new AbortController();
    const seen: ProviderEvent[] = [];
    const stream = ask(server.url, { signal: controller.signal });
    for await (const event of stream) {
      if (event.type !== "alive") seen.push(event);
      if (seen.length === eventCount) controller.abort();
    }
    return (await stream.result()).message;
  }

  test("keeps what had arrived while the server is silent", async () => {
    const events = [
      messageStart(),
      ...thinkingBlock(0, "hm", "sig"),
      ...callBlock(1, "a", "{}"),
      ...openBlock(2, { type: "text", text: "" }, { type: "text_delta", text: "half" }),
    ];
    expect(await abortAfter(events, 8)).toMatchObject({
      stopReason: "aborted",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        call("a"),
        { type: "text", text: "half" },
      ],
      usage: { inputTokens: 10, outputTokens: 1 },
    });
  });

  test("ends a request whose headers never arrive, and one that was aborted before it began", async () => {
    await using server = await startSseServer({ silent: true });
    const controller = new AbortController();
    const waiting = ask(server.url, { signal: controller.signal }).result();
    while (server.requests.length === 0) await Bun.sleep(1);
    controller.abort();
    expect((await waiting).message).toMatchObject({ stopReason: "aborted", content: [] });
    expect((await ask(server.url, { signal: controller.signal }).result()).message.stopReason).toBe(
      "aborted",
    );
    expect(server.requests).toHaveLength(1);
  });
});

describe("an interrupted answer", () => {
  const partial = [messageStart(), ...textBlock(0, "half")];

  test("is stream_cut if it ends without its last event", async () => {
    expect((await failureFor({ events: partial })).errorType).toBe("stream_cut");
    expect((await failureFor({ events: [] })).errorType).toBe("stream_cut");
    expect((await failureFor({ body: 'event: message_start\ndata: {"type":\n\n' })).errorType).toBe(
      "stream_cut",
    );
  });

  test("is a network error if the connection is reset", async () => {
    expect((await failureFor({ events: partial, ending: "reset" })).errorType).toBe("network");
  });

  test.each([
    ["overloaded_error", "overloaded"],
    ["api_error", "server_error"],
    ["rate_limit_error", "rate_limit"],
    ["invalid_request_error", "invalid_request"],
  ] as const)("by an error event of type %s is %s", async (type, errorType) => {
    const error = { type: "error", error: { type, message: "because" } };
    for (const events of [[error], [...partial, error]]) {
      const failure = await failureFor({ events });
      expect([failure.errorType, failure.message]).toEqual([
        errorType,
        expect.stringMatching(new RegExp(`^127.0.0.1:\\d+ interrupted the answer: ${type}: because$`)),
      ]);
    }
  });

  test("after its last event is complete, even if the connection stays open or is reset", async () => {
    for (const ending of ["hang", "reset"] as const) {
      const read = Promise.withResolvers<void>();
      await using server = await startSseServer({
        events: textAnswer("hi"),
        ending,
        resetAfter: read.promise,
      });
      const answer = ask(server.url);
      for await (const event of answer) if (event.type.endsWith("_delta")) read.resolve();
      expect((await answer.result()).message.content).toEqual([text("hi")]);
    }
  });
});

describe("thinking that the API rejects", () => {
  test("is left out from then on, and the conversation continues", async () => {
    const refusal =
      "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified.";
    await using server = await startSseServer(errorReply(400, "invalid_request_error", refusal), {
      events: textAnswer("on"),
    });
    const stream = createAnthropicStream(KEY, server.url);
    const messages = [
      user("go"),
      assistant([{ type: "thinking", thinking: "hm", signature: "old" }, call("a")]),
      result("a"),
    ];
    const newer = assistant([{ type: "thinking", thinking: "so", signature: "new" }, text("on")]);
    const run = (history: Message[]) =>
      stream(TEST_MODEL, { systemPrompt: "", messages: history, tools: [READ_TOOL] }, {}).result();
    expect((await run(messages)).message.stopReason).toBe("end_turn");
    await run([...messages, newer, user("more")]);
    const signatures = server.requests.map(({ body }) => JSON.stringify(body).match(/"signature":"\w+"/g));
    expect(signatures).toEqual([['"signature":"old"'], null, ['"signature":"new"']]);
  });
});

afterEach(() => {
  delete process.env.ANTHROPIC_CUSTOM_HEADERS;
  delete process.env.ANTHROPIC_AUTH_TOKEN;
});

test("a refused connection is a network error that names the server", async () => {
  const server = await startSseServer();
  await server[Symbol.asyncDispose]();
  const failure = await failureOf(server.url);
  expect([failure.errorType, failure.message]).toEqual([
    "network",
    expect.stringMatching(/^The request to 127\.0\.0\.1:\d+ failed: .*ECONNREFUSED/),
  ]);
});
