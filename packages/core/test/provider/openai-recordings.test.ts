import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import { type AssistantMessage, type Message, toolCallsOf } from "../../src/types.ts";
import { result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { reduceOpenAIRecording } from "../support/openai-reduced-recording.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";
import { type Recording, readOpenAIRecordings, recordingNamed } from "../support/recordings.ts";
import { type Reply, startSseServer, toSse } from "../support/sse-server.ts";

const RECORDINGS = readOpenAIRecordings();
const FAILED = "openai-error.1.chunks.txt 1";
const ANSWERS = RECORDINGS.filter(({ name }) => name !== FAILED);

async function replay(...replies: Reply[]): Promise<AssistantMessage[]> {
  await using server = await startSseServer(...replies);
  const stream = createOpenAIStream("key", server.url);
  const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
  const messages: AssistantMessage[] = [];
  for (const _ of replies) messages.push((await stream(TEST_MODEL, context, {}).result()).message);
  return messages.map((message) => ({ ...message, timestamp: 0 }));
}

function reduced({ events }: Recording) {
  return { ...reduceOpenAIRecording(events), model: TEST_MODEL.id, timestamp: 0 };
}

describe("the recordings", () => {
  test("all files are present", () => {
    expect(RECORDINGS).toHaveLength(20);
    expect(new Set(RECORDINGS.map(({ name }) => name.split(" ")[0])).size).toBe(16);
  });

  test("each becomes the message that its last event repeats", async () => {
    const messages = await replay(...ANSWERS.map(({ events }) => ({ events })));
    for (const [index, recording] of ANSWERS.entries()) {
      const found: Record<string, unknown> = { [recording.name]: messages[index] };
      expect(found).toEqual({ [recording.name]: reduced(recording) });
    }
  });

  test("an answer whose quota ran out is an error", async () => {
    const { events } = recordingNamed(RECORDINGS, FAILED);
    for (const body of [toSse(events), toSse(events.filter(({ type }) => type !== "error"))]) {
      expect(await replay({ body }).catch(({ errorType }) => errorType)).toBe("quota");
    }
  });

  test("encrypted reasoning is sent back in its place, together with the call it led to", async () => {
    const turns = RECORDINGS.filter(({ name }) => name.includes("reasoning-encrypted"));
    const messages = await replay(...turns.map(({ events }) => ({ events })));
    const history = messages.flatMap((message): Message[] => [
      message,
      ...toolCallsOf(message).map(({ id }) => result(id)),
    ]);
    const context = { systemPrompt: "", messages: [user("go"), ...history], tools: [READ_TOOL] };
    const request = toOpenAIRequest({ ...TEST_MODEL, thinking: "adaptive" }, context);
    const output = turns.flatMap(({ events }) =>
      events.filter(({ type }) => type === "response.output_item.done"),
    );
    const items: unknown[] = Array.isArray(request.input) ? request.input : [];
    expect(items.slice(1, 3)).toEqual([
      output[0]?.item,
      expect.objectContaining({ type: "function_call", call_id: toolCallsOf(messages[0] ?? never())[0]?.id }),
    ]);
    expect(checkOpenAIRequest(request)).toEqual([]);
  });

  test("the responses of each file can be sent back", async () => {
    const messages = await replay(...ANSWERS.map(({ events }) => ({ events })));
    for (const [index, message] of messages.entries()) {
      const results = toolCallsOf(message).map(({ id }) => result(id));
      const context = { systemPrompt: "", messages: [user("go"), message, ...results], tools: [READ_TOOL] };
      const problems = checkOpenAIRequest(toOpenAIRequest(TEST_MODEL, context));
      expect({ [`${ANSWERS[index]?.name}`]: problems }).toEqual({ [`${ANSWERS[index]?.name}`]: [] });
    }
  });
});

describe("the bytes of an answer", () => {
  const searched = recordingNamed(RECORDINGS, "file-search-tool.1");
  const sse = toSse(searched.events);
  const small = recordingNamed(RECORDINGS, "local-shell-tool");

  test.each([1, 2, 3, 7, 64, 1000, 4093])("may arrive in pieces of %d", async (pieceBytes) => {
    const found: unknown[] = await replay({ events: small.events, pieceBytes });
    expect(found).toEqual([reduced(small)]);
  });

  test("may be split at any position", async () => {
    const [, called] = RECORDINGS.filter(({ name }) => name.includes("reasoning-encrypted"));
    const recording = called ?? never();
    const bytes = Buffer.from(toSse(recording.events));
    const cuts = fc.uniqueArray(fc.nat(bytes.length - 1), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (positions) => {
        const found: unknown[] = await replay({ body: bytes, cuts: positions.sort((a, b) => a - b) });
        expect(found).toEqual([reduced(recording)]);
      }),
      { numRuns: 60 },
    );
  });

  test("may use CRLF, comments, unknown fields, no space after the colon and several data lines", async () => {
    const variants = [
      sse.replaceAll("\n", "\r\n"),
      sse.replaceAll("\n\n", "\n\n: keep-alive\n\n"),
      sse.replaceAll("data: ", "id: 7\nretry: 10\nunknown: x\ndata: "),
      sse.replaceAll("data: ", "data:").replaceAll("event: ", "event:"),
      sse.replaceAll(/event: .*\n/g, ""),
      sse.replaceAll('data: {"type"', 'data: {\ndata: "type"'),
      `\ufeff${sse}`,
      `${sse}data: [DONE]\n\n`,
    ];
    const found: unknown[] = await replay(...variants.map((body) => ({ body })));
    expect(found).toEqual(variants.map(() => reduced(searched)));
  });

  test("produce no message if they end before the last event", async () => {
    const { events } = recordingNamed(RECORDINGS, "apply-patch-tool-delete");
    const bytes = Buffer.from(toSse(events));
    const lastEvent = bytes.indexOf("event: response.completed");
    const lengths = Array.from({ length: Math.floor(lastEvent / 3) }, (_, index) => index * 3);
    await using server = await startSseServer(
      ...lengths.map((length) => ({ body: bytes.subarray(0, length) })),
    );
    const stream = createOpenAIStream("key", server.url);
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    const kinds = new Set<string>();
    for (const _ of lengths) {
      const failure = await stream(TEST_MODEL, context, {})
        .result()
        .catch((error) => error.errorType);
      kinds.add(String(failure));
    }
    expect([...kinds]).toEqual(["stream_cut"]);
  });

  test("produce the same message if everything arrives only at the end", async () => {
    const sparse = ANSWERS.map(({ name, events }) => ({
      name,
      events: events.filter(({ type }) => type === "response.created" || type === "response.completed"),
    }));
    const found: unknown[] = await replay(...sparse);
    expect(found).toEqual(sparse.map(reduced));
  });
});

function never(): never {
  throw new Error("The recording is not there.");
}
