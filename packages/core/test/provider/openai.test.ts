import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { ProviderError } from "../../src/provider/errors.ts";
import { createOpenAIStream, preloadOpenAI } from "../../src/provider/openai.ts";
import type { ProviderEvent, StreamOptions } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import { assistant, call as callBlock, result, text, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import {
  call,
  created,
  failed,
  item,
  messageItem,
  openAIError,
  openItem,
  reasoningItem,
  textAnswer,
  textPart,
  textPieces,
} from "../support/openai-answers.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const KEY = "sk-nonce-4711";
const MODEL = { ...TEST_MODEL, id: "gpt-5.5", provider: "openai", thinking: "adaptive" as const };

function ask(url: string, options: StreamOptions = {}, messages: Message[] = [user("go")]) {
  const context = { systemPrompt: "You help.", messages, tools: [READ_TOOL] };
  return createOpenAIStream(KEY, url)(MODEL, context, options);
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
  test("is sent to the responses path with the key, and uses nothing from the environment", async () => {
    Object.assign(process.env, FOREIGN_VARIABLES);
    await using server = await startSseServer({ events: textAnswer("hi") });
    for (const url of [server.url, `${server.url}/v1`, `${server.url}/v1/`, `${server.url}/proxy/v1`]) {
      await ask(url).result();
    }
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/responses",
      "/v1/responses",
      "/v1/responses",
      "/proxy/v1/responses",
    ]);
    for (const { headers } of server.requests) {
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      expect(JSON.stringify(headers)).not.toMatch(/other|foreign|openai-(organization|project)/i);
    }
    expect(server.problems).toEqual([]);
  });

  test("is sent only once after any failure, and prints nothing", async () => {
    process.env.OPENAI_LOG = "debug";
    const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) => spyOn(console, name));
    await using server = await startSseServer(openAIError(500, { type: "server_error", message: "oops" }), {
      body: "event: x\ndata: {broken\n\n",
    });
    await failureOf(server.url);
    await failureOf(server.url);
    expect(server.requests).toHaveLength(2);
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  test("emits no message twice and ends with done", async () => {
    await preloadOpenAI();
    await using server = await startSseServer({ events: textAnswer("hi") });
    const events: string[] = [];
    for await (const { type } of ask(server.url)) if (type !== "alive") events.push(type);
    expect(events).toEqual(["start", "text_delta", "text_end", "usage", "done"]);
  });

  test("with an invalid key or address fails before anything is sent", async () => {
    process.env.OPENAI_API_KEY = "other";
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    const failure = (key: string, url?: string) =>
      createOpenAIStream(key, url)(MODEL, context, {})
        .result()
        .catch(({ errorType, message }) => [errorType, message]);
    expect(await failure("")).toEqual(["auth", "There is no OpenAI key: set OPENAI_API_KEY."]);
    expect(await failure("sk\n")).toEqual([
      "auth",
      "The OpenAI key contains invalid characters: check OPENAI_API_KEY.",
    ]);
    expect(await failure(KEY, "localhost:1")).toEqual([
      "invalid_request",
      "The base URL is not an http address: check OPENAI_BASE_URL (localhost:1).",
    ]);
  });
});

describe("aborting", () => {
  test("keeps what had arrived while the server is silent", async () => {
    const events = [
      created(),
      ...item(0, reasoningItem("rs_1")),
      ...call(1, "a", "{}"),
      ...openItem(2, messageItem("msg_1", []), ...textPieces(0, "half").slice(0, 2)),
    ];
    await using server = await startSseServer({ events, ending: "hang" });
    const controller = new AbortController();
    const seen: ProviderEvent[] = [];
    const stream = ask(server.url, { signal: controller.signal });
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "text_delta") controller.abort();
    }
    expect((await stream.result()).message).toMatchObject({
      stopReason: "aborted",
      content: [{ type: "thinking" }, callBlock("a"), { type: "text", text: "half" }],
    });
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

describe("an interrupted answer", () => {
  const partial = [created(), ...item(0, messageItem("msg_1", [textPart("half")]), ...textPieces(0, "half"))];

  test("is stream_cut if it ends without its last event", async () => {
    expect((await failureFor({ events: partial })).errorType).toBe("stream_cut");
    expect((await failureFor({ events: [] })).errorType).toBe("stream_cut");
    expect((await failureFor({ events: [...partial], body: "data: [DONE]\n\n" })).errorType).toBe(
      "stream_cut",
    );
    expect((await failureFor({ body: 'data: {"type":\n\n' })).errorType).toBe("stream_cut");
  });

  test("is a network error if the connection is reset", async () => {
    expect((await failureFor({ events: partial, ending: "reset" })).errorType).toBe("network");
  });

  test.each([
    ["rate_limit_exceeded", "rate_limit", true],
    ["server_error", "server_error", true],
    ["server_is_overloaded", "overloaded", true],
    ["context_length_exceeded", "context_overflow", false],
    ["insufficient_quota", "quota", false],
    ["invalid_prompt", "invalid_request", false],
  ] as const)("by a failure with code %s is %s", async (code, errorType, isRetryable) => {
    const error = { type: "error", code, message: "because", param: null };
    const nested = { type: "error", error: { type: code, code, message: "because" } };
    for (const end of [failed(code), error, nested]) {
      for (const events of [[end], [...partial, end]]) {
        const failure = await failureFor({ events });
        expect([failure.errorType, failure.isRetryable, failure.message]).toEqual([
          errorType,
          isRetryable,
          expect.stringMatching(new RegExp(`^127.0.0.1:\\d+ interrupted the answer: ${code}: because`)),
        ]);
      }
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

describe("an optional request part that the API rejects", () => {
  const reasoning = { provider: "openai", data: reasoningItem("rs_old") };
  const history = [
    user("go"),
    assistant([
      { type: "thinking", thinking: "hm", replay: reasoning },
      {
        ...callBlock("a"),
        replay: { provider: "openai", data: { id: "fc_a_of_rs_old", status: "completed" } },
      },
    ]),
    result("a"),
  ];

  async function sendTwice(refusal: Reply) {
    await using server = await startSseServer(refusal, { events: textAnswer("on") });
    const stream = createOpenAIStream(KEY, server.url);
    const context = { systemPrompt: "", messages: history, tools: [READ_TOOL] };
    for (const _ of [1, 2]) {
      const { message } = await stream(MODEL, context, { effort: "high" }).result();
      expect(message.stopReason).toBe("end_turn");
    }
    expect(server.problems).toEqual([]);
    return server.requests.map(({ body }) => JSON.stringify(body));
  }

  test.each([
    [400, "invalid_encrypted_content", "The encrypted content gAAA...== could not be verified."],
    [400, null, "Item 'rs_old' of type 'reasoning' was provided without its required following item."],
    [404, null, "Item with id 'rs_old' not found. Items are not persisted when `store` is set to false."],
  ])("reasoning and ids are left out from then on (%d %s)", async (status, code, message) => {
    const error = { type: "invalid_request_error", code, message };
    const bodies = await sendTwice(openAIError(status, error));
    expect(bodies.map((body) => /rs_old/.test(body))).toEqual([true, false, false]);
  });

  test.each([
    ["Your organization must be verified to generate reasoning summaries.", '"effort":"high"'],
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", '"input"'],
    ["Encrypted content is not supported with this model.", '"input"'],
  ])("the field is left out from then on: %s", async (message, kept) => {
    const error = { type: "invalid_request_error", code: "unsupported_value", message };
    const bodies = await sendTwice(openAIError(400, error));
    expect(bodies.map((body) => body.includes('"summary":"auto"'))).toEqual([true, false, false]);
    for (const body of bodies) expect(body).toContain(kept);
  });

  test("a rejection of a part that the request did not have is an error", async () => {
    const message = "The encrypted content could not be verified.";
    await using server = await startSseServer(openAIError(400, { type: "invalid_request_error", message }));
    expect((await failureOf(server.url)).errorType).toBe("invalid_request");
    expect(server.requests).toHaveLength(1);
  });
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
