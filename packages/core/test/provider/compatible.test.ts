import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import type { Model, ProviderEvent, StreamOptions } from "../../src/provider/types.ts";
import type { AssistantMessage } from "../../src/types.ts";
import {
  answerReply,
  callChunk,
  callEntry,
  chunk,
  finishChunk,
  jsonReply,
  textAnswer,
  textChunk,
  toBody,
  usageChunk,
} from "../support/compatible-answers.ts";
import { call, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const KEY = "sk-nonce-4711";
const MODEL: Model = { ...TEST_MODEL, id: "local/qwen:7b", provider: "local", thinking: "adaptive" };

function ask(url: string, options: StreamOptions = {}) {
  const context = { systemPrompt: "You help.", messages: [user("go")], tools: [READ_TOOL] };
  return createCompatibleStream("local", { baseUrl: url, apiKey: KEY })(MODEL, context, options);
}

async function messageFor(reply: Reply): Promise<Omit<AssistantMessage, "timestamp">> {
  await using server = await startSseServer(reply);
  const { message } = await ask(server.url).result();
  expect(server.problems).toEqual([]);
  const { timestamp: _, ...rest } = message;
  return rest;
}

async function failureFor(reply: Reply): Promise<ProviderError> {
  await using server = await startSseServer(reply);
  const failure: unknown = await ask(server.url)
    .result()
    .catch((error: unknown) => error);
  if (!(failure instanceof ProviderError)) throw new Error(`That did not fail: ${JSON.stringify(failure)}`);
  return failure;
}

const FOREIGN_VARIABLES = {
  OPENAI_API_KEY: "other",
  OPENAI_ADMIN_KEY: "other",
  OPENAI_BASE_URL: "http://127.0.0.1:1",
  OPENAI_ORG_ID: "other",
  OPENAI_PROJECT_ID: "other",
  OPENAI_CUSTOM_HEADERS: "Authorization: Bearer other\nX-Foreign: other",
  OPENAI_LOG: "debug",
};

afterEach(() => {
  for (const name of Object.keys(FOREIGN_VARIABLES)) delete process.env[name];
});

describe("a request", () => {
  test("is sent to the server's path with its key, and uses nothing from the environment", async () => {
    Object.assign(process.env, FOREIGN_VARIABLES);
    await using server = await startSseServer(answerReply(textAnswer("hi")));
    for (const url of [server.url, `${server.url}/v1/`, ` ${server.url}/api/v1 `]) await ask(url).result();
    for (const apiKey of [undefined, ""]) {
      const stream = createCompatibleStream("local", { baseUrl: `${server.url}/v1`, apiKey });
      await stream(MODEL, { systemPrompt: "", messages: [user("go")], tools: [] }, {}).result();
    }
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/chat/completions", `Bearer ${KEY}`],
      ["/v1/chat/completions", `Bearer ${KEY}`],
      ["/api/v1/chat/completions", `Bearer ${KEY}`],
      ["/v1/chat/completions", "Bearer none"],
      ["/v1/chat/completions", "Bearer none"],
    ]);
    const headers = JSON.stringify(server.requests.map((request) => request.headers));
    expect(headers).not.toMatch(/other|foreign|openai|stainless/i);
    expect(server.problems).toEqual([]);
  });

  test("is sent only once after any failure, and prints nothing", async () => {
    process.env.OPENAI_LOG = "debug";
    const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) => spyOn(console, name));
    const replies = [jsonReply(500, { error: { message: "oops" } }), { body: "data: {broken\n\n" }];
    await using server = await startSseServer(...replies);
    for (const _ of replies) await expect(ask(server.url).result()).rejects.toThrow();
    expect(server.requests).toHaveLength(2);
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  test("with an invalid key or address fails before anything is sent", async () => {
    const failure = (server: { baseUrl: string; apiKey?: string }) =>
      createCompatibleStream("local", server)(MODEL, { systemPrompt: "", messages: [], tools: [] }, {})
        .result()
        .catch(({ errorType, message }) => [errorType, message]);
    expect(await failure({ baseUrl: "http://127.0.0.1:1", apiKey: "sk\n" })).toEqual([
      "auth",
      "The local key contains invalid characters: check provider.compatible.local.apiKey.",
    ]);
    expect(await failure({ baseUrl: "localhost:11434" })).toEqual([
      "invalid_request",
      "The base URL is not an http address: check provider.compatible.local.baseUrl (localhost:11434).",
    ]);
  });
});

describe("an answer", () => {
  const chunks = [
    chunk({ role: "assistant", content: "", reasoning: "grüß 🎉" }),
    textChunk("I look: ü🎉"),
    callChunk(callEntry('{"path":', { index: 0, id: "a", name: "read" })),
    callChunk(callEntry("", { index: 1, name: "ls" })),
    callChunk(callEntry('"ü🎉"}', { index: 0 })),
    finishChunk("tool_calls"),
    usageChunk(),
  ];
  const body = `: waiting\n\n${toBody(chunks)}`;
  const expected: Omit<AssistantMessage, "timestamp"> = {
    role: "assistant",
    content: [
      {
        type: "thinking",
        thinking: "grüß 🎉",
        replay: { provider: "local", data: { field: "reasoning" } },
      },
      text("I look: ü🎉"),
      call("a", "read", { path: "ü🎉" }),
      call("call00002", "ls"),
    ],
    model: "local/qwen:7b",
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
    stopReason: "tool_use",
    rawStopReason: "tool_calls",
  };

  test("is the same with any line ends and in pieces of any size", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      for (const pieceBytes of [1, 7, 100_000]) {
        expect(await messageFor({ body: body.replaceAll("\n", end), pieceBytes })).toEqual(expected);
      }
    }
  });

  test("is the same at any chunk boundary", async () => {
    const bytes = Buffer.from(body.replaceAll("\n", "\r\n"));
    for (let offset = 1; offset < bytes.length; offset += 7) {
      expect(await messageFor({ body: bytes, cuts: [offset] })).toEqual(expected);
    }
  });

  test("is complete without `[DONE]`, without blank lines, with unknown events and with another content type", async () => {
    const lines = chunks.map((data) => `data: ${JSON.stringify(data)}\n`).join("");
    const noise = 'event: ping\ndata: ping\n\nevent: later\ndata: {"x":1}\n\ndata:\n\n';
    for (const odd of [toBody(chunks, ""), lines, `${lines}data: [DONE]`, noise + toBody(chunks)]) {
      expect(await messageFor({ body: odd })).toEqual(expected);
    }
    const headers = { "content-type": "application/octet-stream" };
    expect(await messageFor({ body, headers })).toEqual(expected);
  });

  test("is complete if it ends with `[DONE]`, without a stop reason", async () => {
    const { rawStopReason: _, ...message } = expected;
    expect(await messageFor(answerReply(chunks.toSpliced(5, 1)))).toEqual(message);
  });

  test("is complete if it arrives as one JSON object", async () => {
    const message = { role: "assistant", content: "hi" };
    const whole = { object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] };
    for (const reply of [jsonReply(200, whole), { body: JSON.stringify(whole, null, 2) }]) {
      expect(await messageFor(reply)).toMatchObject({ content: [text("hi")], stopReason: "end_turn" });
    }
  });

  test("emits every event once and ends with done", async () => {
    await using server = await startSseServer(answerReply(textAnswer("hi")));
    const events: string[] = [];
    for await (const { type } of ask(server.url)) if (type !== "alive") events.push(type);
    expect(events).toEqual(["start", "text_delta", "text_delta", "usage", "text_end", "done"]);
  });

  test("is complete if the connection stays open or is reset after its end", async () => {
    for (const ending of ["hang", "reset"] as const) {
      expect(await messageFor(answerReply(chunks, { ending }))).toEqual(expected);
    }
    expect(await messageFor({ body: toBody(chunks, ""), ending: "reset" })).toEqual(expected);
    expect(await messageFor({ body: toBody(chunks, "data: {\n\n") })).toEqual(expected);
  });
});

describe("an interrupted answer", () => {
  test.each<[string, Reply]>([
    ["without a stop reason", { body: toBody([textChunk("half")], "") }],
    ["before its first chunk", { body: "" }],
    ["after comments only", { body: ": waiting\n\n" }],
    ["in the middle of an event", { body: toBody([textChunk("half")], 'data: {"choices":[{"del') }],
    ["in the middle of its first line", { body: "dat" }],
    ["with nothing but its end", { body: "data: [DONE]\n\n" }],
    ["in a chunk that is no JSON", { body: toBody([textChunk("half")], "data: oops\n\n") }],
  ])("%s is stream_cut, which is retried", async (_, reply) => {
    const { errorType, isRetryable } = await failureFor(reply);
    expect([errorType, isRetryable]).toEqual(["stream_cut", true]);
  });

  test("by a reset is a network error", async () => {
    const failure = await failureFor({ body: toBody([textChunk("half")], ""), ending: "reset" });
    expect([failure.errorType, failure.isRetryable]).toEqual(["network", true]);
  });
});

describe("aborting", () => {
  test("keeps what had arrived while the server is silent", async () => {
    const body = toBody([chunk({ reasoning: "hm" }), textChunk("half")], "");
    await using server = await startSseServer({ body, ending: "hang" });
    const controller = new AbortController();
    const seen: ProviderEvent[] = [];
    const stream = ask(server.url, { signal: controller.signal });
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "text_delta") controller.abort();
    }
    expect((await stream.result()).message).toMatchObject({
      stopReason: "aborted",
      content: [{ type: "thinking", thinking: "hm" }, text("half")],
    });
    expect(seen.at(-1)?.type).toBe("done");
  });

  test("ends a request whose headers never arrive, and one that was aborted before it began", async () => {
    await using server = await startSseServer({ silent: true });
    const controller = new AbortController();
    const waiting = ask(server.url, { signal: controller.signal }).result();
    while (server.requests.length === 0) await Bun.sleep(1);
    controller.abort();
    expect((await waiting).message).toMatchObject({ stopReason: "aborted", content: [] });
    const late = await ask(server.url, { signal: controller.signal }).result();
    expect(late.message.stopReason).toBe("aborted");
    expect(server.requests).toHaveLength(1);
  });
});
