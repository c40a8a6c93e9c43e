import { describe, expect, test } from "bun:test";
import { assertAllSucceeded, streamedAnswer, textAnswer } from "../src/stage/answers.ts";
import { MessagesServer } from "../src/stage/messages-server.ts";

function post(server: MessagesServer, body: unknown): Promise<Response> {
  return fetch(`${server.baseUrl}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
}

describe("MessagesServer", () => {
  test("sends the same content in pieces as at once", async () => {
    using server = new MessagesServer();
    server.begin([textAnswer("word"), streamedAnswer(["word"])]);
    const atOnce = await (await post(server, {})).text();
    const inPieces = await (await post(server, {})).text();
    expect(inPieces).toBe(atOnce);
    expect(atOnce).toContain('"text_delta","text":"word"');
  });

  test("refuses a request after the last answer", async () => {
    using server = new MessagesServer();
    server.begin([]);
    expect((await post(server, {})).status).toBe(400);
  });
});

describe("assertAllSucceeded", () => {
  const result = { type: "tool_result", tool_use_id: "toolu_0", content: "text" };

  async function serve(lastContent: unknown[]): Promise<MessagesServer> {
    const server = new MessagesServer();
    server.begin([textAnswer("one"), textAnswer("two")]);
    await post(server, { messages: [{ content: "prompt" }] });
    await post(server, { messages: [{ content: "prompt" }, { content: lastContent }] });
    return server;
  }

  test("accepts one call with one successful result", async () => {
    using server = await serve([result]);
    expect(() => assertAllSucceeded(server, 1)).not.toThrow();
  });

  test("distinguishes an error result, a missing result and a missing request", async () => {
    using failed = await serve([{ ...result, content: "no such file", is_error: true }]);
    using unanswered = await serve([]);
    expect(() => assertAllSucceeded(failed, 1)).toThrow("no such file");
    expect(() => assertAllSucceeded(unanswered, 1)).toThrow("Expected 1 answered calls, got 0.");
    expect(() => assertAllSucceeded(unanswered, 2)).toThrow("Expected 3 requests, got 2.");
  });
});
