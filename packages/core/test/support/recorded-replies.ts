import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startRecording } from "../../src/provider/scripted/recording.ts";
import type { Script } from "../../src/provider/scripted/script.ts";
import { parseScript } from "../../src/provider/scripted.ts";
import {
  createProviderStream,
  type Model,
  type ProviderEvent,
  type StreamFunction,
} from "../../src/provider/types.ts";
import type { AssistantMessage } from "../../src/types.ts";
import { makeTempDir } from "./temp-dir.ts";

/** The model of recordings. */
export const MODEL: Model = {
  id: "claude-test",
  provider: "anthropic",
  contextWindow: 90_000,
  maxOutputTokens: 1000,
  inputCostPer1M: 3,
  outputCostPer1M: 15,
};
/** The tokens of every reply. */
export const USAGE = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2, cacheWriteTokens: 1 };
/** What is asked. */
export const CONTEXT = {
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

/** The end of a reply. */
export function done(fields: Partial<AssistantMessage>): ProviderEvent {
  const message = reply(fields);
  return { type: "done", stopReason: message.stopReason, message };
}

/** Answers each request with the next list of events. */
export function playEvents(...replies: ProviderEvent[][]): StreamFunction {
  return () => {
    const stream = createProviderStream();
    const events = replies.shift() ?? [];
    queueMicrotask(() => events.forEach((event) => void stream.push(event)));
    return stream;
  };
}

/** The events of one request, whatever it ends in. */
export async function ask(stream: StreamFunction, options = {}, model = MODEL): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  await stream(model, CONTEXT, options)
    .consume((event) => void events.push(event))
    .catch(() => {});
  return events;
}

/** Begins a recording; `read` gives the script so far. */
export function record(path = join(makeTempDir(), "run.json"), fail: (error: unknown) => void = () => {}) {
  const recording = startRecording(path, fail);
  return { recording, read: () => parseScript(readFileSync(path, "utf8"), path) };
}

/** Asks as often as there are replies, and gives the script that came of it. */
export async function recordAll(...replies: ProviderEvent[][]): Promise<Script> {
  const { recording, read } = record();
  const stream = recording.wrap(playEvents(...replies));
  for (const _ of [...replies]) await ask(stream);
  return read();
}
