import { expect, test } from "bun:test";
import { readdirSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { startRecording } from "../../src/provider/scripted/recording.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import type { ProviderEvent } from "../../src/provider/types.ts";
import { ask, CONTEXT, done, MODEL, record, recordAll, USAGE } from "../support/recorded-replies.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("requests for a summary are recorded in a separate list", async () => {
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

test("duplicate ids, and ids that providers reject, are replaced", async () => {
  const call = (id: string): ProviderEvent[] => [
    { type: "start" },
    { type: "tool_call_start", id, name: "ls" },
    { type: "tool_call_end", id, name: "ls", input: {} },
    { type: "usage", usage: USAGE },
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

test("they are replaced everywhere in a reply that is recorded as events", async () => {
  const mixed = (first: string, second: string): ProviderEvent[] => [
    { type: "start" },
    { type: "tool_call_start", id: first, name: "ls" },
    { type: "tool_call_start", id: second, name: "ls" },
    { type: "tool_call_delta", id: first, delta: "{" },
    { type: "tool_call_delta", id: second, delta: "{}" },
    { type: "tool_call_delta", id: first, delta: "}" },
    { type: "tool_call_end", id: first, name: "ls", input: {} },
    { type: "tool_call_end", id: second, name: "ls", input: {} },
    { type: "usage", usage: USAGE },
    done({
      content: [first, second].map((id) => ({ type: "tool_call", id, name: "ls", input: {} })),
      stopReason: "tool_use",
    }),
  ];
  const script = await recordAll(mixed("0", "1"), mixed("0", "1"));
  const replayed = createScriptedStream(script, { startAtTurn: 0, now: () => 0 });
  expect([await ask(replayed), await ask(replayed)]).toEqual([
    mixed("0", "1"),
    mixed("recorded_3", "recorded_4"),
  ]);
});

test("a reply whose calls all have the same id is still a valid script", async () => {
  const calls = [0, 1].map(() => ({ type: "tool_call" as const, id: "0", name: "ls", input: {} }));
  const script = await recordAll([
    { type: "start" },
    ...calls.map(({ id, name }): ProviderEvent => ({ type: "tool_call_start", id, name })),
    done({ content: calls, stopReason: "tool_use" }),
  ]);
  expect(script.turns[0]?.toolCalls?.map(({ id }) => id)).toEqual(["0", "recorded_2"]);
});

test("a recording contains the settings of its run, and the size and price of its model", async () => {
  const conditions = {
    compaction: { reserveTokens: 500, pruning: { keepLast: 1 } },
    flushKnowledge: true,
    maxRetries: 0,
    calibration: { ratio: 0.4, samples: 12 },
  };
  const longContext = { inputCostPer1M: 6, outputCostPer1M: 30, aboveInputTokens: 50_000 };
  const model = { ...MODEL, maxInputTokens: 80_000, longContext };
  const { recording, read } = record();
  const playing = createScriptedStream({ version: 1, turns: [{ text: "x" }, { text: "y" }] });
  const stream = recording.wrap(playing, conditions);
  const summarizer = { ...MODEL, id: "small", contextWindow: 7_000, inputCostPer1M: 1 };
  await ask(stream, { purpose: "summary" }, summarizer);
  await ask(stream, {}, model);
  const { id: _, provider: __, ...small } = summarizer;
  const script = read();
  expect(script.conditions).toEqual({ ...conditions, summarizer: small });
  expect(scriptedModel("run.json", script)).toEqual({
    ...model,
    id: "scripted/run.json",
    provider: "scripted",
    thinking: "none",
  });
});

test("a second model is reported once, but not one that only summarizes", async () => {
  const told: string[] = [];
  const recording = startRecording(
    join(makeTempDir(), "run.json"),
    () => {},
    ({ recorded, other }) => told.push(`${recorded.id}, ${other.id}`),
  );
  const turns = ["one", "two", "three", "four", "five"].map((text) => ({ text }));
  const stream = recording.wrap(createScriptedStream({ version: 1, turns }));
  const ids: string[] = [];
  for (const [id, purpose] of [
    ["small", "summary"],
    [MODEL.id],
    ["small", "summary"],
    ["other"],
    ["third"],
  ] as const) {
    await ask(stream, purpose ? { purpose } : {}, { ...MODEL, id });
    ids.push(`${id}: ${told.length}`);
  }
  expect([ids, told]).toEqual([
    ["small: 0", "claude-test: 0", "small: 0", "other: 1", "third: 1"],
    ["claude-test, other"],
  ]);
});

test("the file is private and complete after every reply, and leaves no other file", async () => {
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

test("nothing is overwritten, not even a dangling link", () => {
  const path = join(makeTempDir(), "run.json");
  symlinkSync("/nowhere", path);
  expect(() => record(path)).toThrow("it already exists");
  expect(() => record(join(path, "..", "missing", "run.json"))).toThrow("ENOENT");
});

test("a recording that cannot be continued is reported once, and the replies still arrive", async () => {
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
