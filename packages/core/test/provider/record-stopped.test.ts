import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import { startRecording } from "../../src/provider/scripted/recording.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import { runScript } from "../support/agent-run.ts";
import * as messages from "../support/answers.ts";
import * as chunks from "../support/compatible-answers.ts";
import { IMPROVISED_SERVICES, type ImprovisedService } from "../support/improvised-wire.ts";
import * as responses from "../support/openai-answers.ts";
import { MODEL } from "../support/recorded-replies.ts";
import { type Reply, startSseServer } from "../support/sse-server.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const LAST_WORD = "two";

/** Answers that stop growing with the last word, and how often their tokens are told until then. */
const GROWING: Record<string, { reply: Reply; usages: number }> = {
  anthropic: {
    reply: hanging([messages.messageStart(), ...messages.textBlock(0, "one ", LAST_WORD)]),
    usages: 1,
  },
  openai: {
    reply: hanging([
      responses.created(),
      ...responses.item(0, responses.messageItem("msg_1", []), ...responses.textPieces(0, "one ", LAST_WORD)),
    ]),
    usages: 0,
  },
  compatible: {
    reply: {
      body: chunks.toBody([chunks.textChunk("one "), chunks.textChunk(LAST_WORD)], ""),
      ending: "hang",
    },
    usages: 0,
  },
};

function hanging(events: readonly unknown[]): Reply {
  const end = events.findIndex((event) => JSON.stringify(event).includes(`"${LAST_WORD}"`));
  return { events: events.slice(0, end + 1), ending: "hang" };
}

/** The events of a run that is recorded, stopped at the last word where it is to be, and those of its replay. */
async function recordAndReplay(service: ImprovisedService, reply: Reply, { isStopped = false } = {}) {
  await using server = await startSseServer(reply);
  const path = join(makeTempDir(), "run.json");
  const recording = startRecording(path, (error) => {
    throw error;
  });
  const stop = new AbortController();
  const recorded = await runScript([], {
    model: { ...MODEL, id: service.model },
    streamFunction: recording.wrap(service.connect(server.url)),
    signal: stop.signal,
    onEvent(event) {
      if (isStopped && event.type === "message_delta" && JSON.stringify(event.delta).includes(LAST_WORD))
        stop.abort();
    },
  });
  const script = parseScript(readFileSync(path, "utf8"), path);
  const model = scriptedModel("run.json", script);
  const replayed = await runScript([], { model, streamFunction: createScriptedStream(script) });
  return { recorded: comparable(recorded.events), replayed: comparable(replayed.events) };
}

function comparable(events: readonly AgentEvent[]): AgentEvent[] {
  return JSON.parse(
    JSON.stringify(events, (key, value) => (key === "timestamp" || key === "model" ? undefined : value)),
  );
}

function countUsages(events: readonly AgentEvent[]): number {
  return events.filter(({ type }) => type === "usage").length;
}

test.each(Object.entries(IMPROVISED_SERVICES))(
  "an answer that was stopped replays with the same reported tokens, %s",
  async (name, service) => {
    const { reply = {}, usages } = GROWING[name] ?? {};
    const { recorded, replayed } = await recordAndReplay(service, reply, { isStopped: true });
    expect(recorded.at(-1)).toMatchObject({ type: "agent_end", stopReason: "aborted" });
    expect(countUsages(recorded)).toBe(usages ?? -1);
    expect(replayed).toEqual(recorded);
  },
  30_000,
);

test.each([
  ["no tokens", [], 0],
  ["no tokens used", [chunks.usageChunk({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })], 1],
] as const)(
  "a complete answer of a server that reports %s replays to the same",
  async (_, told, usages) => {
    const service = IMPROVISED_SERVICES.compatible;
    if (!service) throw new Error("There is no such service.");
    const body = chunks.toBody([chunks.textChunk("Hello."), chunks.finishChunk("stop"), ...told]);
    const { recorded, replayed } = await recordAndReplay(service, { body });
    expect(countUsages(recorded)).toBe(usages);
    expect(replayed).toEqual(recorded);
  },
  30_000,
);
