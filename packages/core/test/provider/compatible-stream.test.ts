import { describe, expect, test } from "bun:test";
import {
  readServerSentEvents,
  readStreamLines,
  type ServerSentEvent,
} from "../../src/provider/chat-completions/exchange.ts";

async function* inPieces(text: string, ...cuts: number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (const [index, start] of [0, ...cuts].entries()) yield bytes.subarray(start, cuts[index]);
}

function eventsOf(text: string, ...cuts: number[]): Promise<ServerSentEvent[]> {
  return Array.fromAsync(readServerSentEvents(inPieces(text, ...cuts)));
}

function cutsOf(text: string): number[] {
  return Array.from({ length: Buffer.from(text).length + 1 }, (_, offset) => offset);
}

const STREAM = [
  "trace-id: 1",
  ": a comment",
  'data: {"grüße":"🎉"}',
  "",
  "event:ping",
  "data:  two",
  "id: 7",
  "retry: 3",
  "unknown: x",
  "data:lines",
  "",
  "",
  "event: nothing",
  "",
  "data:",
  "",
  "data",
  "",
  "data: [DONE]",
  "",
  "",
];
const EVENTS = [
  { name: "", data: '{"grüße":"🎉"}' },
  { name: "ping", data: " two\nlines" },
  { name: "", data: "[DONE]" },
];

describe("a stream of events", () => {
  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("with lines that end in %s is the same at any chunk boundary", async (_, end) => {
    const text = STREAM.join(end);
    expect(await eventsOf(text)).toEqual(EVENTS);
    for (const cut of cutsOf(text)) expect(await eventsOf(text, cut)).toEqual(EVENTS);
    const everyByte = cutsOf(text).slice(1, -1);
    expect(await eventsOf(text, ...everyByte)).toEqual(EVENTS);
  });

  test("is read to an end without a blank line, and with a byte order mark", async () => {
    expect(await eventsOf("\ufeffdata: a\n\nlater: x\ndata: b")).toEqual([
      { name: "", data: "a" },
      { name: "", data: "b" },
    ]);
  });

  test("may contain an error as a separate field", async () => {
    expect(await eventsOf('data: a\n\nerror: {"code":500}\n\n')).toEqual([
      { name: "", data: "a" },
      { name: "error", data: '{"code":500}' },
    ]);
  });

  test("that is cut off in its first line is neither a stream nor a text", async () => {
    expect(await eventsOf("dat")).toEqual([]);
    expect(await eventsOf("")).toEqual([]);
    expect(await eventsOf(": waiting\n\n")).toEqual([]);
  });
});

test.each(['{\n  "error": "busy"\n}', "<html>\n\ndata: x\n</html>", "\n\nInternal Server Error\n"])(
  "a text that is not a stream is returned whole: %j",
  async (text) => {
    for (const cut of cutsOf(text)) {
      const [event, ...others] = await eventsOf(text, cut);
      expect([event?.name, event?.data.trim(), others]).toEqual(["plain text", text.trim(), []]);
    }
  },
);

test("a CRLF that is split between chunks ends one line, and an empty chunk between changes nothing", async () => {
  async function* pieces() {
    for (const piece of ["a\r", "", "\n", "b\r", "\r\nc"]) yield Buffer.from(piece);
  }
  expect(await Array.fromAsync(readStreamLines(pieces()))).toEqual(["a", "b", "", "c"]);
});
