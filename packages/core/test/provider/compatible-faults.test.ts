import { expect, test } from "bun:test";
import fc from "fast-check";
import { readCompatibleAnswer } from "../../src/provider/chat-completions/exchange.ts";
import { toCompatibleRequest, toCompatibleServer } from "../../src/provider/chat-completions/request.ts";
import {
  applyCompatibleEvent,
  createCompatibleAnswer,
} from "../../src/provider/chat-completions/response.ts";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import type { Model } from "../../src/provider/types.ts";
import { type Message, toolCallsOf } from "../../src/types.ts";
import {
  callChunk,
  callEntry,
  chunk,
  finishChunk,
  textChunk,
  toBody,
  usageChunk,
} from "../support/compatible-answers.ts";
import { applyChunks } from "../support/compatible-reply.ts";
import { checkCompatibleRequest } from "../support/compatible-wire-check.ts";
import { assistant, call, result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const MODEL: Model = { ...TEST_MODEL, id: "local/m", provider: "local", thinking: "adaptive" };
const BEFORE: Message[] = [user("go"), assistant([call("a")], { model: MODEL.id }), result("a")];

const entry = fc
  .record({
    args: fc.constantFrom("", "{}", '{"path":', '"x"}', "[1]", "\ud83d", null, undefined, { path: "x" }, 7),
    index: fc.constantFrom(undefined, 0, 1),
    id: fc.constantFrom(undefined, "", "a", "functions.read:0", "\ud800"),
    name: fc.constantFrom(undefined, "", "read", "no such tool!"),
  })
  .map(({ args, index, id, name }) =>
    callEntry(args, { index, ...(id !== undefined && { id }), ...(name !== undefined && { name }) }),
  );

const anyChunk = fc.oneof(
  fc.constantFrom("so", "", "\n\n", "\udc00").map(textChunk),
  fc
    .constantFrom("reasoning", "reasoning_content", "thinking", "refusal")
    .map((field) => chunk({ [field]: "hm" })),
  fc.array(entry, { maxLength: 3 }).map((entries) => callChunk(...entries)),
  entry.map((one) => chunk({ function_call: one.function })),
  fc.constantFrom("stop", "length", "tool_calls", null, "odd").map((reason) => finishChunk(reason)),
  fc.constantFrom(usageChunk(), null, {}, { choices: [{ delta: 7 }] }),
  fc.jsonValue(),
);

test("after any answer the conversation can continue", () => {
  fc.assert(
    fc.property(fc.array(anyChunk, { maxLength: 12 }), fc.boolean(), (chunks, isAborted) => {
      const { message } = applyChunks(chunks, { callIds: ["a"], isAborted });
      const calls = toolCallsOf(message).map(({ id }) => id);
      expect(new Set(["a", ...calls]).size).toBe(calls.length + 1);
      const messages = [
        ...BEFORE,
        { ...message, model: MODEL.id },
        ...calls.map((id) => result(id)),
        user("on"),
      ];
      const request = toCompatibleRequest(MODEL, { systemPrompt: "", messages, tools: [READ_TOOL] });
      expect(checkCompatibleRequest(request)).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});

test("for any behavior of the server, a request ends in one answer or one error with its cause", async () => {
  const body = toBody([
    textChunk("so"),
    callChunk(callEntry("{}", { index: 0, name: "read" })),
    finishChunk("stop"),
  ]);
  const reply: fc.Arbitrary<Reply> = fc.record(
    {
      status: fc.constantFrom(200, 200, 200, 204, 302, 400, 418, 429, 500, 529),
      body: fc.oneof(
        fc.constantFrom(
          "",
          "null",
          "[]",
          "data: \n\n",
          "data: 7\n\n",
          "\u0000",
          "<html>",
          "data: [DONE]\n\n",
        ),
        fc.nat(body.length).map((end) => body.slice(0, end)),
      ),
      ending: fc.constantFrom("end" as const, "reset" as const),
      headers: fc.constantFrom({}, { "content-type": "application/json" }, { "retry-after": "soon" }),
    },
    { requiredKeys: ["status", "ending"] },
  );
  await fc.assert(
    fc.asyncProperty(reply, async (answer) => {
      await using server = await startSseServer(answer);
      const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
      const stream = createCompatibleStream("local", { baseUrl: server.url })(MODEL, context, {});
      const ends: string[] = [];
      for await (const { type } of stream) if (type === "done" || type === "error") ends.push(type);
      expect(ends).toHaveLength(1);
      const outcome: unknown = await stream.result().catch((error: unknown) => error);
      if (ends[0] === "error") expect(outcome).toBeInstanceOf(ProviderError);
      else expect(JSON.stringify(outcome)).toContain('"text":"so"');
      expect(server.requests).toHaveLength(1);
    }),
    { numRuns: 150 },
  );
});

async function readThrough(body: string | ReadableStream, endGraceMs?: number) {
  const answer = createCompatibleAnswer();
  const server = toCompatibleServer("local", { baseUrl: "http://127.0.0.1:1" });
  const options = { server, answer, ...(endGraceMs !== undefined && { endGraceMs }) };
  for await (const event of readCompatibleAnswer(new Response(body), options)) {
    applyCompatibleEvent(answer, event);
  }
  return answer;
}

test("a connection that stays open and silent after the stop reason does not delay the answer", async () => {
  const text = toBody([textChunk("so"), finishChunk("stop"), usageChunk()], "");
  const silent = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(text)) });
  const { isFinished, usage } = await readThrough(silent, 5);
  expect([isFinished, usage.outputTokens]).toEqual([true, 5]);
});

test("data after the end of an answer is ignored", async () => {
  const body = toBody([textChunk("so"), finishChunk("stop")]);
  const { drafts, isFinished } = await readThrough(`${body}${body}data: oops\n\n`);
  expect([isFinished, drafts]).toEqual([true, [expect.objectContaining({ text: "so" })]]);
});
