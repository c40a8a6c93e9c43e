import { expect, test } from "bun:test";
import { ProviderError } from "../../src/provider/errors.ts";
import type { Script } from "../../src/provider/scripted/script.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import type { ProviderEvent } from "../../src/provider/types.ts";
import type { AssistantMessage } from "../../src/types.ts";
import { ask, done, record, recordAll, USAGE } from "../support/recorded-replies.ts";

test("a reply with all its parts becomes a turn, with the properties of its model", async () => {
  const script = await recordAll([
    { type: "start" },
    { type: "usage", usage: { ...USAGE, outputTokens: 1 } },
    { type: "thinking_delta", delta: "Hmm, " },
    { type: "thinking_delta", delta: "well." },
    { type: "thinking_end", thinking: "Hmm, well.", signature: "sig" },
    { type: "text_delta", delta: "I look." },
    { type: "alive" },
    { type: "text_end", text: "I look." },
    { type: "tool_call_start", id: "toolu_1", name: "ls" },
    { type: "tool_call_delta", id: "toolu_1", delta: '{"path"' },
    { type: "tool_call_delta", id: "toolu_1", delta: ': "."}' },
    { type: "tool_call_end", id: "toolu_1", name: "ls", input: { path: "." } },
    { type: "tool_call_start", id: "toolu_2", name: "ls" },
    { type: "tool_call_end", id: "toolu_2", name: "ls", input: {} },
    { type: "usage", usage: USAGE },
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
    maxOutputTokens: 1000,
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
        startUsage: { ...USAGE, outputTokens: 1 },
        usage: USAGE,
      },
    ],
  });
});

test("recording a script while it is played gives the same script, event for event", async () => {
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

test("opaque blocks, and several texts, replay in their order and in their pieces", async () => {
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

test("a reply that was stopped replays as stopped", async () => {
  const stopped = done({ content: [{ type: "text", text: "Wait" }], stopReason: "aborted" });
  const script = await recordAll([{ type: "text_delta", delta: "Wait" }, stopped]);
  const events = await ask(createScriptedStream(script, { startAtTurn: 0, now: () => 0 }));
  expect(events.at(-1)).toEqual(stopped);
});

test("a reply that texts and calls cannot describe is replayed event by event", async () => {
  const text = (words: string): ProviderEvent[] => [
    { type: "text_delta", delta: words },
    { type: "text_end", text: words },
  ];
  const hidden = {
    type: "thinking" as const,
    thinking: "",
    replay: { provider: "anthropic", data: "b64" },
  };
  const thinking: ProviderEvent[] = [
    { type: "thinking_delta", delta: "again, and " },
    { type: "thinking_delta", delta: "again" },
    { type: "thinking_end", thinking: "again, and again", signature: "sig" },
  ];
  const thought = { type: "thinking" as const, thinking: "again, and again", signature: "sig" };
  const whole = { type: "tool_call" as const, id: "a", name: "bash", input: { command: "ls" } };
  const usage: ProviderEvent = { type: "usage", usage: USAGE };
  const replies: ProviderEvent[][] = [
    // Thinking that is kept from us is not streamed.
    [
      { type: "start" },
      ...thinking,
      ...text("So."),
      usage,
      done({ content: [hidden, thought, { type: "text", text: "So." }] }),
    ],
    // Cut off, yet its last call is whole.
    [
      { type: "start" },
      { type: "tool_call_start", id: "a", name: "bash" },
      { type: "tool_call_delta", id: "a", delta: '{"command":"ls"}' },
      { type: "tool_call_end", id: "a", name: "bash", input: whole.input },
      usage,
      done({ content: [whole], stopReason: "max_tokens", rawStopReason: "max_tokens" }),
    ],
    [
      { type: "start" },
      ...text(" \n"),
      ...text("So."),
      usage,
      done({
        content: [
          { type: "text", text: " \n" },
          { type: "text", text: "So." },
        ],
      }),
    ],
    [{ type: "start" }, { type: "text_delta", delta: "Wait" }, done({ stopReason: "aborted" })],
    // Of silence somebody is told.
    [
      { type: "start" },
      { type: "stall", silentMs: 60_000 },
      ...text("So."),
      usage,
      done({ content: [{ type: "text", text: "So." }] }),
    ],
  ];
  const replayed = createScriptedStream(await recordAll(...replies), { startAtTurn: 0, now: () => 0 });
  const played = [];
  for (const _ of replies) played.push(await ask(replayed));
  expect(played).toEqual(replies);
});

test("the part of a reply before an interruption or a stop is kept", async () => {
  const cut = new ProviderError("Cut off.", "stream_cut", { retryAfterMs: 7 });
  const half: ProviderEvent[] = [
    { type: "start" },
    { type: "text_delta", delta: "Half an an" },
    { type: "tool_call_start", id: "x", name: "ls" },
    { type: "tool_call_delta", id: "x", delta: '{"pa' },
    { type: "usage", usage: USAGE },
    { type: "error", error: cut },
  ];
  const long = new ProviderError("Too long.", "context_overflow", { contextWindow: 900 });
  const replies: ProviderEvent[][] = [half, [{ type: "error", error: long }]];
  const replayed = createScriptedStream(await recordAll(...replies), { startAtTurn: 0, now: () => 0 });
  expect([await ask(replayed), await ask(replayed)]).toEqual(replies);
});
