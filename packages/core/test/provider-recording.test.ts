import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProviderError } from "../src/provider/errors.ts";
import { createProviderStream } from "../src/provider/provider-stream.ts";
import { startRecording } from "../src/provider/recording.ts";
import { createScriptedStream, parseScript } from "../src/provider/scripted.ts";
import type { Script } from "../src/provider/scripted-schema.ts";
import type { Model, ProviderEvent, StreamFunction } from "../src/provider/types.ts";
import type { AssistantMessage } from "../src/types.ts";
import { makeTempDir } from "./support/temp-dir.ts";

const MODEL: Model = {
  id: "claude-test",
  provider: "anthropic",
  contextWindow: 90_000,
  maxOutputTokens: 1000,
  inputCostPer1M: 3,
  outputCostPer1M: 15,
};
const USAGE = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2, cacheWriteTokens: 1 };
const CONTEXT = {
  systemPrompt: "Test.",
  messages: [{ role: "user" as const, content: "go", timestamp: 0 }],
  tools: [{ name: "ls", description: "", inputSchema: { type: "object" } }],
};

function reply(fields: Partial<AssistantMessage>): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    model: MODEL.id,
    usage: USAGE,
    stopReason: "end_turn",
    timestamp: 0,
    ...fields,
  };
}

function done(fields: Partial<AssistantMessage>): ProviderEvent {
  const message = reply(fields);
  return { type: "done", stopReason: message.stopReason, message };
}

/** Answers each request with the next list of events. */
function playEvents(...replies: ProviderEvent[][]): StreamFunction {
  return () => {
    const stream = createProviderStream();
    const events = replies.shift() ?? [];
    queueMicrotask(() => events.forEach((event) => void stream.push(event)));
    return stream;
  };
}

async function ask(stream: StreamFunction, options = {}, model = MODEL): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  await stream(model, CONTEXT, options)
    .consume((event) => void events.push(event))
    .catch(() => {});
  return events;
}

function record(path = join(makeTempDir(), "run.json"), fail: (error: unknown) => void = () => {}) {
  const recording = startRecording(path, fail);
  return { recording, read: () => parseScript(readFileSync(path, "utf8"), path) };
}

/** Asks as often as there are replies, and gives the script that came of it. */
async function recordAll(...replies: ProviderEvent[][]): Promise<Script> {
  const { recording, read } = record();
  const stream = recording.wrap(playEvents(...replies));
  for (const _ of [...replies]) await ask(stream);
  return read();
}

test("a reply with all its parts becomes a turn, with the facts of its model", async () => {
  const script = await recordAll([
    { type: "start" },
    { type: "thinking_delta", delta: "Hmm, " },
    { type: "thinking_delta", delta: "well." },
    { type: "text_delta", delta: "I look." },
    { type: "tool_call_start", id: "toolu_1", name: "ls" },
    { type: "tool_call_delta", id: "toolu_1", delta: '{"path"' },
    { type: "tool_call_delta", id: "toolu_1", delta: ': "."}' },
    { type: "tool_call_start", id: "toolu_2", name: "ls" },
    done({
      content: [
        { type: "thinking", thinking: "Hmm, well.", signature: "sig" },
        { type: "text", text: "I look." },
        { type: "tool_call", id: "toolu_1", name: "ls", input: { path: "." } },
        { type: "tool_call", id: "toolu_2", name: "ls", input: {} },
      ],
      stopReason: "tool_use",
      rawStopReason: "tool_use",
    }),
  ]);
  expect(script).toEqual({
    version: 1,
    contextWindow: 90_000,
    price: { inputCostPer1M: 3, outputCostPer1M: 15 },
    turns: [
      {
        thinking: "Hmm, well.",
        text: "I look.",
        toolCalls: [
          { id: "toolu_1", name: "ls", input: '{"path": "."}' },
          { id: "toolu_2", name: "ls", input: "" },
        ],
        content: [
          { type: "thinking", signature: "sig" },
          { type: "text" },
          { type: "tool_call" },
          { type: "tool_call" },
        ],
        chunks: [5, 5, 7, 7, 6],
        stopReason: "tool_use",
        usage: USAGE,
      },
    ],
  });
});

test("a script that is recorded while it is played is the same script, event for event", async () => {
  const turns: Script["turns"] = [
    { thinking: "First I think about it at length.", text: "Then I say something long enough for chunks." },
    { text: "Cut", stopReason: "max_tokens", toolCalls: [{ id: "a", name: "ls", input: { path: "here" } }] },
    { toolCalls: [{ id: "b", name: "ls", input: "{broken" }] },
    { text: "abcdefg", chunkChars: 2, stopReason: "stop_sequence" },
    { text: "half", error: { errorType: "overloaded", message: "Busy.", retryAfterMs: 20 } },
    { stopReason: "refusal", text: "No." },
    { error: { errorType: "quota", message: "Paid up?" } },
  ];
  const original = createScriptedStream({ version: 1, turns }, { startAtTurn: 0, now: () => 0 });
  const { recording, read } = record();
  const recorded = recording.wrap(original);
  const first = [];
  for (const _ of turns) first.push(await ask(recorded));
  const replayed = createScriptedStream(read(), { startAtTurn: 0, now: () => 0 });
  const second = [];
  for (const _ of turns) second.push(await ask(replayed));
  expect(second).toEqual(first);
});

test("what only a provider understands, and several texts, come back in their order and in their pieces", async () => {
  const replay = { provider: "openai", data: { id: "msg_1" } };
  const hidden: AssistantMessage["content"][number] = {
    type: "thinking",
    thinking: "",
    replay: { provider: "anthropic", data: "x" },
  };
  const original: ProviderEvent[] = [
    { type: "start" },
    { type: "thinking_end", thinking: "" },
    { type: "text_delta", delta: "I " },
    { type: "text_delta", delta: "look first." },
    { type: "text_end", text: "I look first." },
    { type: "thinking_delta", delta: "Hm" },
    { type: "thinking_delta", delta: "m." },
    { type: "thinking_end", thinking: "Hmm.", signature: "sig" },
    { type: "tool_call_start", id: "a", name: "ls" },
    { type: "tool_call_delta", id: "a", delta: '{"path": ' },
    { type: "tool_call_delta", id: "a", delta: '"b"}' },
    { type: "tool_call_end", id: "a", name: "ls", input: { path: "b" } },
    { type: "text_delta", delta: "Th" },
    { type: "text_delta", delta: "en that." },
    { type: "text_end", text: "Then that." },
    { type: "usage", usage: USAGE },
    done({
      content: [
        hidden,
        { type: "text", text: "I look first.", replay },
        { type: "opaque", provider: "anthropic", raw: { type: "server_tool_use" } },
        { type: "thinking", thinking: "Hmm.", signature: "sig" },
        { type: "tool_call", id: "a", name: "ls", input: { path: "b" }, replay },
        { type: "text", text: "Then that." },
      ],
      stopReason: "tool_use",
      rawStopReason: "tool_use",
    }),
  ];
  const script = await recordAll(original);
  const replayed = createScriptedStream(script, { startAtTurn: 0, now: () => 0 });
  expect(await ask(replayed)).toEqual(original);
});

test("a reply that was stopped is stopped when it is played", async () => {
  const stopped = done({ content: [{ type: "text", text: "Wait" }], stopReason: "aborted" });
  const script = await recordAll([{ type: "text_delta", delta: "Wait" }, stopped]);
  const events = await ask(createScriptedStream(script, { startAtTurn: 0, now: () => 0 }));
  expect(events.at(-1)).toEqual(stopped);
});

test("requests for a summary go into a list of their own", async () => {
  const { recording, read } = record();
  const turns = [{ text: "one" }, { text: "two" }];
  const stream = recording.wrap(createScriptedStream({ version: 1, turns, summaries: [{ text: "sum" }] }));
  await ask(stream);
  await ask(stream, { purpose: "summary" });
  await ask(stream);
  const { turns: kept, summaries } = read();
  expect([kept.map(({ text }) => text), summaries?.map(({ text }) => text)]).toEqual([
    ["one", "two"],
    ["sum"],
  ]);
});

test("ids that a server gives twice, or that no provider would take, are replaced", async () => {
  const call = (id: string): ProviderEvent[] => [
    { type: "tool_call_start", id, name: "ls" },
    done({ content: [{ type: "tool_call", id, name: "ls", input: {} }], stopReason: "tool_use" }),
  ];
  const script = await recordAll(call("call_0"), call("call_0"), call("functions.ls:0"), call("recorded_4"));
  expect(script.turns.map(({ toolCalls }) => toolCalls?.[0]?.id)).toEqual([
    "call_0",
    "recorded_2",
    "recorded_3",
    "recorded_4",
  ]);
});

test("what had come before a reply broke off or was stopped is kept", async () => {
  const cut = new ProviderError("Cut off.", "stream_cut");
  const script = await recordAll(
    [
      { type: "text_delta", delta: "Half an an" },
      { type: "tool_call_start", id: "x", name: "ls" },
      { type: "tool_call_delta", id: "x", delta: '{"pa' },
      { type: "usage", usage: USAGE },
      { type: "error", error: cut },
    ],
    [
      { type: "text_delta", delta: "Wait" },
      done({ content: [{ type: "text", text: "Wait" }], stopReason: "aborted" }),
    ],
  );
  expect(script.turns).toEqual([
    {
      text: "Half an an",
      toolCalls: [{ id: "x", name: "ls", input: '{"pa' }],
      usage: USAGE,
      error: { errorType: "stream_cut", message: "Cut off." },
    },
    { text: "Wait", stopReason: "aborted", usage: USAGE },
  ]);
});

test("the file is private and whole after every reply, and leaves no other behind", async () => {
  const path = join(makeTempDir(), "run.json");
  const { recording, read } = record(path);
  const stream = recording.wrap(
    createScriptedStream({ version: 1, turns: [{ text: "one" }, { text: "two" }] }),
  );
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  const seen: number[] = [];
  for (const _ of [1, 2]) {
    await stream(MODEL, CONTEXT, {}).consume(({ type }) => {
      if (type === "done") seen.push(read().turns.length);
    });
  }
  expect([seen, statSync(path).mode & 0o777, readdirSync(dirname(path))]).toEqual([
    [1, 2],
    0o600,
    ["run.json"],
  ]);
});

test("nothing is overwritten, be it a link that leads nowhere", () => {
  const path = join(makeTempDir(), "run.json");
  symlinkSync("/nowhere", path);
  expect(() => record(path)).toThrow("it is there already");
  expect(() => record(join(path, "..", "missing", "run.json"))).toThrow("ENOENT");
});

test("a recording that cannot go on says so once, and the replies come all the same", async () => {
  const directory = makeTempDir();
  const failures: unknown[] = [];
  const { recording } = record(join(directory, "run.json"), (error) => failures.push(error));
  // Somebody is quicker than the first reply.
  symlinkSync("/nowhere", join(directory, "run.json"));
  const turns = [{ text: "one" }, { text: "two" }];
  const stream = recording.wrap(createScriptedStream({ version: 1, turns }));
  const ends = [await ask(stream), await ask(stream)].map((events) => events.at(-1)?.type);
  expect([ends, failures.length]).toEqual([["done", "done"], 1]);
});
