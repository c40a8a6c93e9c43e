import { describe, expect, test } from "bun:test";
import { withIdleWatchdog } from "../../src/provider/idle-watchdog.ts";
import { withRetry } from "../../src/provider/retry.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import type { ProviderEvent, StreamFunction } from "../../src/provider/types.ts";
import { runScript, type TurnScript, user } from "../support/agent-run.ts";

// On a busy machine half of it has to be noticed before the whole has passed.
const LIMIT_MS = 600;

const model = { id: "m", provider: "scripted", contextWindow: 1_000, maxOutputTokens: 100 };
const context = { systemPrompt: "", messages: [user("go")], tools: [] };

function watched(turns: TurnScript[], idleTimeoutMs: number): StreamFunction {
  return withIdleWatchdog(createScriptedStream({ version: 1, turns }), { idleTimeoutMs });
}

async function request(streamFunction: StreamFunction, signal?: AbortSignal) {
  const events: ProviderEvent[] = [];
  const stream = streamFunction(model, context, { signal });
  const result = await stream.consume((event) => events.push(event)).catch((error: unknown) => error);
  return { types: events.map(({ type }) => type), result };
}

describe("withIdleWatchdog", () => {
  test("a request that is silent before its first event is reported at half time and ended", async () => {
    const { types, result } = await request(watched([{ text: "late", delayMs: 60_000 }], LIMIT_MS));
    expect(types).toEqual(["stall", "error"]);
    expect(result).toMatchObject({
      errorType: "timeout",
      message:
        'm has sent nothing for 0.6 s, so the request was ended. Check the network; "idleTimeoutMs" of the provider sets this limit.',
    });
  });

  test("a request that goes silent in the middle of a text is too", async () => {
    const turn = { text: "one two", chunkChars: 4, chunkDelayMs: 60_000 };
    const { types } = await request(watched([turn], LIMIT_MS));
    expect(types).toEqual(["start", "text_delta", "stall", "error"]);
  });

  test("a slow but steady answer is not affected", async () => {
    const turn = { text: "one two three four five six seven", chunkChars: 4, chunkDelayMs: 100 };
    // All of it takes longer.
    const { types, result } = await request(watched([turn], 800));
    expect(types).not.toContain("stall");
    expect(result).toMatchObject({ message: { stopReason: "end_turn" } });
  });

  test("an abort ends it immediately with the part that had arrived", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 10);
    const turn = { text: "one two", chunkChars: 4, chunkDelayMs: 60_000 };
    const { result } = await request(watched([turn], 30_000), abort.signal);
    expect(result).toMatchObject({
      message: { stopReason: "aborted", content: [{ type: "text", text: "one " }] },
    });
  });

  test("in a run the stall is a notice, the request is retried, and the answer arrives", async () => {
    const turns = [{ text: "never", delayMs: 60_000 }, { text: "Here." }];
    const { events, added, end } = await runScript([], {
      streamFunction: withRetry(watched(turns, LIMIT_MS), { sleep: async () => {} }),
    });
    const codes = events.flatMap((event) => (event.type === "notice" ? [event.code] : []));
    expect(codes).toEqual(["stall", "retry"]);
    expect([added.length, end.stopReason]).toEqual([1, "end_turn"]);
  });
});
