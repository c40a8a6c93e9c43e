import { describe, expect, test } from "bun:test";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { createAnthropicStream } from "../../src/provider/anthropic.ts";
import { type AssistantMessage, type Message, toolCallsOf } from "../../src/types.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { readAnthropicRecordings, recordingNamed } from "../support/recordings.ts";
import { reduceRecording } from "../support/reduced-recording.ts";
import { type Reply, startSseServer, toSse } from "../support/sse-server.ts";

const RECORDINGS = readAnthropicRecordings();

async function replay(...replies: Reply[]): Promise<AssistantMessage[]> {
  await using server = await startSseServer(...replies);
  const stream = createAnthropicStream("key", server.url);
  const context = { systemPrompt: "", messages: [user("go")], tools: [READ_TOOL] };
  const messages: AssistantMessage[] = [];
  for (const _ of replies) messages.push((await stream(TEST_MODEL, context, {}).result()).message);
  return messages.map((message) => ({ ...message, timestamp: 0 }));
}

function countSendable({ content }: AssistantMessage): number {
  return content.filter((block) => block.type !== "text" || block.text.trim() !== "").length;
}

describe("the recordings", () => {
  test("all files are present", () => {
    expect(RECORDINGS).toHaveLength(37);
    expect(new Set(RECORDINGS.map(({ name }) => name.split(" ")[0])).size).toBe(17);
  });

  test("each becomes the message that its chunks add up to", async () => {
    const messages = await replay(...RECORDINGS.map(({ events }) => ({ events })));
    for (const [index, recording] of RECORDINGS.entries()) {
      const found: Record<string, unknown> = { [recording.name]: messages[index] };
      expect(found).toEqual({
        [recording.name]: { ...reduceRecording(recording.events), model: TEST_MODEL.id, timestamp: 0 },
      });
    }
  });

  test("the responses of each file can be sent back completely except for blank texts", async () => {
    const messages = await replay(...RECORDINGS.map(({ events }) => ({ events })));
    const files = Map.groupBy(RECORDINGS.keys(), (index) => RECORDINGS[index]?.name.split(" ")[0]);
    for (const [file, indexes] of files) {
      const replies = messages.filter((_, index) => indexes.includes(index));
      const turns = replies.flatMap((reply): Message[] => [
        reply,
        ...toolCallsOf(reply).map(({ id }) => result(id)),
      ]);
      const context = { systemPrompt: "", messages: [user("go"), ...turns], tools: [READ_TOOL] };
      const request = toAnthropicRequest(TEST_MODEL, context);
      const sent = request.messages
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => content.length);
      expect({ [`${file}`]: sent }).toEqual({ [`${file}`]: replies.map(countSendable) });
      expect(checkAnthropicRequest(request)).toEqual([]);
    }
  });
});

describe("the bytes of an answer", () => {
  const searched = recordingNamed(RECORDINGS, "web-search-tool");
  const expected = { ...reduceRecording(searched.events), model: TEST_MODEL.id, timestamp: 0 };
  const sse = toSse(searched.events);

  test.each([1, 2, 3, 7, 64, 1000, 4093])("may arrive in pieces of %d", async (pieceBytes) => {
    const { events } = recordingNamed(RECORDINGS, "tool-no-args");
    const small = { ...reduceRecording(events), model: TEST_MODEL.id, timestamp: 0 };
    const found: unknown[] = await replay({ events, pieceBytes });
    expect(found).toEqual([small]);
  });

  test("may use CRLF, comments, unknown fields, no space after the colon and several data lines", async () => {
    const variants = [
      sse.replaceAll("\n", "\r\n"),
      sse.replaceAll("\n\n", "\n\n: keep-alive\n\n"),
      sse.replaceAll("data: ", "id: 7\nretry: 10\nunknown: x\ndata: "),
      sse.replaceAll("data: ", "data:").replaceAll("event: ", "event:"),
      sse.replaceAll('data: {"type"', 'data: {\ndata: "type"'),
      `\ufeff${sse}`,
    ];
    const found: unknown[] = await replay(...variants.map((body) => ({ body })));
    expect(found).toEqual(variants.map(() => expected));
  });

  test("produce no message if they end before the last event", async () => {
    const { events } = recordingNamed(RECORDINGS, "json-tool.2");
    const bytes = Buffer.from(toSse(events));
    const lastEvent = bytes.indexOf("event: message_stop");
    await using server = await startSseServer(
      ...Array.from({ length: lastEvent }, (_, length) => ({ body: bytes.subarray(0, length) })),
    );
    const stream = createAnthropicStream("key", server.url);
    const context = { systemPrompt: "", messages: [user("go")], tools: [] };
    const kinds = new Set<string>();
    for (let length = 0; length < lastEvent; length++) {
      const failure = await stream(TEST_MODEL, context, {})
        .result()
        .catch((error) => error.errorType);
      kinds.add(String(failure));
    }
    expect([...kinds]).toEqual(["stream_cut"]);
  });
});
