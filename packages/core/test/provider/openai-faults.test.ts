import { expect, test } from "bun:test";
import fc from "fast-check";
import { ProviderError } from "../../src/provider/errors.ts";
import { toOpenAIMessage } from "../../src/provider/openai/items.ts";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import { applyOpenAIEvent, createOpenAIAnswer } from "../../src/provider/openai/response.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import type { Model } from "../../src/provider/types.ts";
import { type Message, toolCallsOf } from "../../src/types.ts";
import { result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";
import { readOpenAIRecordings } from "../support/recordings.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";

const RECORDINGS = readOpenAIRecordings();
const MODEL: Model = { ...TEST_MODEL, thinking: "adaptive" };

/** The events of a recording with some of them lost, sent twice or out of order. */
const damagedEvents = fc
  .record({
    recording: fc.constantFrom(...RECORDINGS),
    lost: fc.array(fc.nat(400), { maxLength: 8 }),
    doubled: fc.array(fc.nat(400), { maxLength: 4 }),
    swapped: fc.array(fc.tuple(fc.nat(400), fc.nat(400)), { maxLength: 3 }),
  })
  .map(({ recording, lost, doubled, swapped }) => {
    const events = recording.events.filter((_, index) => !lost.includes(index));
    for (const [left, right] of swapped) {
      const [a, b] = [events[left], events[right]];
      if (a && b) [events[left], events[right]] = [b, a];
    }
    return events.flatMap((event, index) => (doubled.includes(index) ? [event, event] : [event]));
  });

test("after any sequence of events the conversation can continue", () => {
  fc.assert(
    fc.property(damagedEvents, (events) => {
      const answer = createOpenAIAnswer();
      for (const event of events) applyOpenAIEvent(answer, event);
      const reply = toOpenAIMessage(answer, { model: MODEL.id, timestamp: 0 });
      const results = toolCallsOf(reply).map(({ id }): Message => result(id));
      const context = { systemPrompt: "", messages: [user("go"), reply, ...results], tools: [READ_TOOL] };
      expect(checkOpenAIRequest(toOpenAIRequest(MODEL, context))).toEqual([]);
    }),
    { numRuns: 1_500 },
  );
});

test("for any behavior of the server, a request ends in one answer or one error with its cause", async () => {
  const [recording] = RECORDINGS.filter(({ name }) => name.includes("reasoning-encrypted"));
  const events = recording?.events ?? [];
  const reply: fc.Arbitrary<Reply> = fc.record(
    {
      status: fc.constantFrom(200, 200, 200, 204, 302, 400, 418, 429, 500, 529),
      events: fc.subarray(events),
      body: fc.constantFrom("", "null", "[]", "data: \n\n", "data: 7\n\n", "\u0000", "<html>"),
      ending: fc.constantFrom("end" as const, "reset" as const),
      headers: fc.constantFrom({}, { "content-type": "application/json" }, { "retry-after": "soon" }),
    },
    { requiredKeys: ["status", "ending"] },
  );
  await fc.assert(
    fc.asyncProperty(reply, async (answer) => {
      await using server = await startSseServer(answer);
      const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
      const stream = createOpenAIStream("key", server.url)(MODEL, context, {});
      const ends: string[] = [];
      for await (const { type } of stream) if (type === "done" || type === "error") ends.push(type);
      expect(ends).toHaveLength(1);
      const outcome: unknown = await stream.result().catch((error: unknown) => error);
      if (ends[0] === "error") expect(outcome).toBeInstanceOf(ProviderError);
      expect(server.requests).toHaveLength(1);
    }),
    { numRuns: 150 },
  );
});
