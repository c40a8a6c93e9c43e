import { describe, expect, test } from "bun:test";
import { assertAllSucceeded, streamedAnswer, textAnswer } from "../src/stage/answers.ts";
import { MessagesServer } from "../src/stage/messages-server.ts";

function post(server: MessagesServer, body: unknown): Promise<Response> {
  return fetch(`${server.baseUrl}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
}

describe("MessagesServer", () => {
  test("an answer in pieces holds what the same answer at once holds", async () => {
    using server = new MessagesServer();
    server.begin([textAnswer("word"), streamedAnswer(["word"])]);
    const atOnce = await (await post(server, {})).text();
    const inPieces = await (await post(server, {})).text();
    expect(inPieces).toBe(atOnce);
    expect(atOnce).toContain('"text_delta","text":"word"');
  });

  test("a request beyond the last answer is refused", async () => {
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

  test("one call with one good result passes", async () => {
    using server = await serve([result]);
    expect(() => assertAllSucceeded(server, 1)).not.toThrow();
  });

  test("a result that is an error, one that is missing and a request too few are told apart", async () => {
    using failed = await serve([{ ...result, content: "no such file", is_error: true }]);
    using unanswered = await serve([]);
    expect(() => assertAllSucceeded(failed, 1)).toThrow("no such file");
    expect(() => assertAllSucceeded(unanswered, 1)).toThrow("0 calls were answered, not 1.");
    expect(() => assertAllSucceeded(unanswered, 2)).toThrow("2 requests came, not 3.");
  });
});
