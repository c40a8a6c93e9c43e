import { describe, expect, test } from "bun:test";
import { ProviderError } from "../../src/provider/errors.ts";
import { RETRY_FOR_MS, withRetry } from "../../src/provider/retry.ts";
import type { Script } from "../../src/provider/scripted/script.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import type { ProviderEvent, StreamOptions } from "../../src/provider/types.ts";
import { runScript, type TurnScript, user } from "../support/agent-run.ts";

const model = { id: "m", provider: "scripted", contextWindow: 1_000, maxOutputTokens: 100 };

async function request(turns: TurnScript[], options: StreamOptions = {}) {
  const script: Script = { version: 1, turns };
  const waits: number[] = [];
  let clockMs = 0;
  const streamFunction = withRetry(createScriptedStream(script), {
    random: () => 0.5,
    clock: () => clockMs,
    sleep: async (durationMs) => {
      waits.push(durationMs);
      clockMs += durationMs;
    },
  });
  const events: ProviderEvent[] = [];
  const stream = streamFunction(model, { systemPrompt: "", messages: [user("go")], tools: [] }, options);
  const result = await stream.consume((event) => events.push(event)).catch((error: unknown) => error);
  return { events, waits, result };
}

const failing = (
  errorType: ProviderError["errorType"],
  more: { retryAfterMs?: number; text?: string } = {},
): TurnScript => {
  const { text, retryAfterMs } = more;
  return {
    ...(text !== undefined && { text }),
    error: { errorType, message: errorType, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  };
};

describe("withRetry", () => {
  test.each(["rate_limit", "overloaded", "server_error", "network", "stream_cut", "timeout"] as const)(
    "%s is retried",
    async (errorType) => {
      const { result, waits } = await request([failing(errorType), { text: "Here." }]);
      expect(result).toMatchObject({ message: { content: [{ type: "text", text: "Here." }] } });
      expect(waits).toEqual([750]);
    },
  );

  test.each(["auth", "quota", "context_overflow", "invalid_request", "invalid_response", "unknown"] as const)(
    "%s is not",
    async (errorType) => {
      const { result, waits } = await request([failing(errorType), { text: "Never asked." }]);
      expect(result).toBeInstanceOf(ProviderError);
      expect(waits).toEqual([]);
    },
  );

  test("the delay doubles up to thirty seconds, with jitter, and the last attempt is after five minutes", async () => {
    const { events, waits, result } = await request(Array.from({ length: 40 }, () => failing("overloaded")));
    expect(waits.slice(0, 7)).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500]);
    const waitedMs = waits.reduce((sum, wait) => sum + wait, 0);
    expect(waitedMs).toBeGreaterThanOrEqual(RETRY_FOR_MS);
    expect(waitedMs - (waits.at(-1) ?? 0)).toBeLessThan(RETRY_FOR_MS);
    expect(RETRY_FOR_MS).toBe(300_000);
    const attempts = events.flatMap((event) => (event.type === "retry" ? [event.attempt] : []));
    expect(attempts).toEqual(waits.map((_, index) => index + 2));
    expect(result).toMatchObject({ errorType: "overloaded" });
  });

  test("a request is retried without end for a user who can stop it", async () => {
    const failures = Array.from({ length: 200 }, () => failing("network"));
    const { waits, result } = await request([...failures, { text: "Back again." }], {
      retryForMs: Number.POSITIVE_INFINITY,
    });
    expect(waits).toHaveLength(200);
    expect(Math.max(...waits)).toBe(22_500);
    expect(result).toMatchObject({ message: { content: [{ text: "Back again." }] } });
  });

  test("a provider's own wait of up to ten minutes is honored, also after the other retries would have ended", async () => {
    const limited = failing("rate_limit", { retryAfterMs: 600_000 });
    const { waits } = await request([
      failing("rate_limit", { retryAfterMs: 45_000 }),
      limited,
      { text: "Here." },
    ]);
    expect(waits).toEqual([45_000, 600_000]);
  });

  test("a provider that asks for more than ten minutes is not waited for", async () => {
    const { waits, result } = await request([
      failing("rate_limit", { retryAfterMs: 601_000 }),
      { text: "Never asked." },
    ]);
    expect([waits, result]).toMatchObject([[], { errorType: "rate_limit", retryAfterMs: 601_000 }]);
    expect(String(result)).toMatch(/asks to wait 11 minutes: try again after .*\d\d:\d\d\.$/);
  });

  test.each([0, 1, 7])("maxRetries limits the retries to %d, however long they take", async (maxRetries) => {
    const failures = Array.from({ length: 9 }, () => failing("network"));
    const { waits } = await request([...failures, { text: "Never asked." }], { maxRetries, retryForMs: 0 });
    expect(waits).toHaveLength(maxRetries);
  });

  test("aborting during the wait ends the request at once", async () => {
    const abort = new AbortController();
    const script: Script = { version: 1, turns: [failing("overloaded"), { text: "Never asked." }] };
    const stream = withRetry(createScriptedStream(script))(
      model,
      { systemPrompt: "", messages: [user("go")], tools: [] },
      { signal: abort.signal },
    );
    const types: string[] = [];
    const done = stream.consume((event) => {
      types.push(event.type);
      if (event.type === "retry") abort.abort();
    });
    await expect(done).rejects.toThrow("overloaded");
    expect(types.at(-1)).toBe("error");
  });
});

describe("a retried request in a run", () => {
  test("a partial answer is void: the item begins again and only the complete answer is kept", async () => {
    const cut = {
      ...failing("stream_cut", { text: "Half an ans" }),
      usage: { inputTokens: 7, outputTokens: 3 },
    };
    const turns = [cut, { text: "Half an answer.", usage: { inputTokens: 7, outputTokens: 4 } }];
    const script: Script = { version: 1, turns };
    const { events, added, end } = await runScript([], {
      streamFunction: withRetry(createScriptedStream(script), { sleep: async () => {} }),
    });
    expect(added).toMatchObject([{ content: [{ type: "text", text: "Half an answer." }] }]);
    const starts = events.filter((event) => event.type === "message_start");
    expect(starts.map(({ itemId, message }) => [itemId, message.content])).toEqual([
      ["message-1", []],
      ["message-1", []],
    ]);
    const charged = events.flatMap((event) => (event.type === "usage" ? [event.usage.outputTokens] : []));
    expect(charged).toEqual([3, 4]);
    const statuses = events.flatMap((event) => (event.type === "status_change" ? [event.status] : []));
    expect(statuses).toEqual(["busy", "retry", "busy", "idle"]);
    expect(end.stopReason).toBe("end_turn");
  });
});
