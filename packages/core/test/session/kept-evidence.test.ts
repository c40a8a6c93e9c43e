import { describe, expect, test } from "bun:test";
import { z } from "zod";
import type { Tool } from "../../src/tool/types.ts";
import type { Message } from "../../src/types.ts";
import { type TurnScript, user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

const LARGE = { contextWindow: 200_000, maxOutputTokens: 8_000 };
const SMALL = { contextWindow: 20_000, maxOutputTokens: 4_000 };

const LINE = `${"x".repeat(79)}\n`;

/** A tool whose result has as many characters as its call asks for. */
const fill: Tool = {
  name: "fill",
  description: "Fill.",
  parameters: z.object({ number: z.number(), characters: z.number() }),
  readOnly: true,
  approval: () => undefined,
  execute: async ({ characters = 0 }: { characters?: number }) => ({
    output: LINE.repeat(Math.ceil(characters / LINE.length)).slice(0, characters),
  }),
};

/** Turns whose results have so many tokens each, at four characters a token. */
const readings = (count: number, tokens: number): TurnScript[] =>
  Array.from({ length: count }, (_, number) => ({
    toolCalls: [{ name: "fill", input: { number, characters: tokens * 4 } }],
  }));

const outputsOf = (messages: readonly Message[] = []) =>
  messages.flatMap((message) => (message.role === "tool_result" ? [message.output] : []));

/** The session's only run, with the requests that it made. */
async function runWith(turns: TurnScript[], model: typeof LARGE, compaction = {}) {
  const project = await createSessionProject(...turns);
  const session = project.manager({ model, tools: [fill], context: { compaction } });
  const events = await Array.fromAsync(session.run(user("look at all of it")));
  return { events, requests: project.requests, prunes: events.filter(({ type }) => type === "prune") };
}

describe("pruning in a run", () => {
  test("leaves files that were just read whole while the window is mostly empty", async () => {
    const { requests, prunes } = await runWith([...readings(8, 7_000), { text: "done" }], LARGE);
    expect(prunes).toEqual([]);
    expect(outputsOf(requests.at(-1)).map(({ length }) => length)).toEqual(Array(8).fill(28_000));
  });

  test("begins above half of the window, shortens the oldest results in one batch and spares the newest 40,000 tokens", async () => {
    const { requests, prunes } = await runWith([...readings(17, 7_000), { text: "done" }], LARGE);
    const batches = requests.map(
      (request) => outputsOf(request).filter(({ length }) => length < 28_000).length,
    );
    const first = batches.findIndex((count) => count > 0);
    expect(first).toBe(15);
    expect(batches[first]).toBeGreaterThanOrEqual(3);
    const shown = outputsOf(requests.at(-1)).map(({ length }) => length);
    expect(shown.slice(-6)).toEqual(Array(6).fill(28_000));
    for (const prune of prunes) {
      if (prune.type !== "prune") continue;
      expect(prune.tokensBefore - prune.tokensAfter).toBeGreaterThanOrEqual(20_000);
    }
    expect(outputsOf(requests.at(-1))[0]).toContain('result of fill {"number":0,"characters":28000}');
  });

  test("happens as well if summaries are turned off", async () => {
    const turns = [...readings(17, 7_000), { text: "done" }];
    const { requests, prunes } = await runWith(turns, LARGE, { enabled: false });
    expect(prunes.length).toBeGreaterThan(0);
    expect(
      outputsOf(requests.at(-1))
        .slice(-6)
        .map(({ length }) => length),
    ).toEqual(Array(6).fill(28_000));
  });

  test("happens below maxContextTokens of a window of a million tokens", async () => {
    const million = { ...LARGE, contextWindow: 1_000_000 };
    const turns = [...readings(17, 7_000), { text: "done" }];
    expect((await runWith(turns, million)).prunes).not.toEqual([]);
    expect((await runWith(turns, million, { maxContextTokens: 600_000 })).prunes).toEqual([]);
  });
});

describe("after an overflow without summaries", () => {
  const off = { enabled: false, reserveTokens: 1_000, pruning: { startRatio: 1 } };

  test("only what the stated limit demands is cut, from the oldest result on", async () => {
    const refusal: TurnScript = {
      error: {
        errorType: "context_overflow",
        message: "prompt is too long: 12600 tokens > 12000 maximum",
        contextWindow: 12_000,
        requestTokens: 12_600,
      },
    };
    const turns = [...readings(4, 3_000), refusal, { text: "done" }];
    const { requests, events } = await runWith(turns, SMALL, off);
    expect(events.at(-1)).toMatchObject({ stopReason: "end_turn" });
    const shown = outputsOf(requests.at(-1)).map(({ length }) => length);
    expect(shown[0]).toBeLessThan(4_000);
    expect(shown.slice(1)).toEqual([12_000, 12_000, 12_000]);
  });

  test("the newest result goes last, and keeps as much as there is room for", async () => {
    const refusal: TurnScript = {
      error: {
        errorType: "context_overflow",
        message: "prompt is too long: 14000 tokens > 10000 maximum",
        contextWindow: 10_000,
        requestTokens: 14_000,
      },
    };
    const turns = [...readings(1, 1_500), ...readings(1, 12_000), refusal, { text: "done" }];
    const { requests } = await runWith(turns, SMALL, off);
    const [older = 0, newest = 0] = outputsOf(requests.at(-1)).map(({ length }) => length);
    expect(older).toBeLessThan(4_000);
    expect(newest).toBeGreaterThan(24_000);
    expect(newest).toBeLessThan(34_000);
  });
});
