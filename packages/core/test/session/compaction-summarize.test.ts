import { describe, expect, test } from "bun:test";
import { withRetry } from "../../src/provider/retry.ts";
import type { StreamFunction } from "../../src/provider/types.ts";
import { createFallbackSummary } from "../../src/session/compaction/fallback-summary.ts";
import { type SummarizeOptions, summarize } from "../../src/session/compaction/summarize.ts";
import { assistant, result, text, user } from "../support/messages.ts";
import { TEST_MODEL } from "../support/models.ts";
import { GOOD_SUMMARY, recordSummaries, summaryOf } from "../support/summaries.ts";

const MESSAGES = [user("mend it"), assistant([text("yes")]), result("1", "boom", { isError: true })];
const GOOD = { text: GOOD_SUMMARY };

type Turns = Parameters<typeof recordSummaries>;

async function summarizeWith(turns: Turns, options: Partial<SummarizeOptions> = {}) {
  const { streamFunction, requests } = recordSummaries(...turns);
  const outcome = await summarize(MESSAGES, { streamFunction, model: TEST_MODEL, ...options });
  return { outcome, requests };
}

const fallback = (failure: string, previousSummary?: string) => ({
  summary: createFallbackSummary(MESSAGES, { previousSummary }),
  isFallback: true,
  failure,
});

describe("summarize", () => {
  test("returns the model's summary when it is one", async () => {
    const { outcome, requests } = await summarizeWith([GOOD]);
    expect(outcome).toEqual({ summary: GOOD_SUMMARY, isFallback: false });
    expect(requests).toHaveLength(1);
  });

  test("asks once more and says what was missing when it is none", async () => {
    const { outcome, requests } = await summarizeWith([{ text: "x".repeat(300) }, GOOD]);
    expect(outcome).toEqual({ summary: GOOD_SUMMARY, isFallback: false });
    expect(requests.map(({ prompt }) => /could not be used: (.*)\.$/m.exec(prompt)?.[1])).toEqual([
      undefined,
      'the summary lacked the sections "## Goal", "## Progress", "## Critical Context"',
    ]);
  });

  test("makes the summary by program when the model gives nothing or junk twice", async () => {
    const { outcome, requests } = await summarizeWith([{ text: "x".repeat(300) }, { text: "" }, GOOD]);
    expect(outcome).toEqual(fallback("the summary was empty"));
    expect(requests).toHaveLength(2);
  });

  test("keeps the summary before in the one made by program", async () => {
    const previousSummary = summaryOf("older");
    const { outcome } = await summarizeWith([{ text: "" }, { text: "" }], { previousSummary });
    expect(outcome).toEqual(fallback("the summary was empty", previousSummary));
  });

  test("does not ask again after a failure that would come again", async () => {
    for (const errorType of ["auth", "quota", "invalid_request"] as const) {
      const { outcome, requests } = await summarizeWith([{ error: { errorType, message: "no" } }, GOOD]);
      expect(outcome).toEqual(fallback("no"));
      expect(requests).toHaveLength(1);
    }
    const { outcome, requests } = await summarizeWith([{ text: GOOD_SUMMARY, stopReason: "refusal" }, GOOD]);
    expect(outcome).toEqual(fallback("test-model refused to answer."));
    expect(requests).toHaveLength(1);
  });

  test("makes the summary by program when the window is too small for any part of the transcript", async () => {
    const overflow = { error: { errorType: "context_overflow", message: "too long" } } as const;
    const { outcome, requests } = await summarizeWith(Array(9).fill(overflow));
    expect(outcome).toEqual(fallback("too long"));
    expect(requests).toHaveLength(4);
  });

  test("asks a second time after a failure in passing, and no third time", async () => {
    const busy = { error: { errorType: "overloaded", message: "busy" } } as const;
    expect((await summarizeWith([busy, GOOD])).outcome).toEqual({ summary: GOOD_SUMMARY, isFallback: false });
    const { outcome, requests } = await summarizeWith([busy, busy, GOOD]);
    expect(outcome).toEqual(fallback("busy"));
    expect(requests).toHaveLength(2);
  });

  test("sends at most five requests to a provider that stays overloaded", async () => {
    const busy = { error: { errorType: "overloaded", message: "busy" } } as const;
    const { streamFunction, requests } = recordSummaries(...Array(30).fill(busy));
    const patient = withRetry(streamFunction, { sleep: async () => {} });
    const outcome = await summarize(MESSAGES, { streamFunction: patient, model: TEST_MODEL });
    expect(outcome).toEqual(fallback("busy"));
    expect(requests).toHaveLength(5);
  });

  test("does not ask again when the provider wants to be left alone for a while", async () => {
    const limited = { error: { errorType: "rate_limit", message: "wait", retryAfterMs: 90_000 } } as const;
    const { outcome, requests } = await summarizeWith([limited, GOOD]);
    expect(outcome).toEqual(fallback("wait"));
    expect(requests).toHaveLength(1);
  });

  test("survives a provider that throws", async () => {
    const broken: StreamFunction = () => {
      throw new TypeError("a bug");
    };
    expect(await summarize(MESSAGES, { streamFunction: broken, model: TEST_MODEL })).toEqual(
      fallback("a bug"),
    );
  });

  test("rejects with the signal's reason when it is aborted, and makes no summary", async () => {
    const signal = AbortSignal.timeout(5);
    const { streamFunction } = recordSummaries({ text: GOOD_SUMMARY, delayMs: 60_000 });
    const summarizing = summarize(MESSAGES, { streamFunction, model: TEST_MODEL, signal });
    await expect(summarizing).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("keeps a summary made by program within what a small model may write", async () => {
    const model = { ...TEST_MODEL, contextWindow: 8_192, maxOutputTokens: 1_024 };
    const previousSummary = "y".repeat(40_000);
    const { outcome } = await summarizeWith([{ text: "" }, { text: "" }], { model, previousSummary });
    expect(outcome.isFallback).toBe(true);
    expect(outcome.summary.length).toBeLessThan(4_096 + 100);
  });

  test("does not believe a server that writes without end", async () => {
    const endless = { text: `${GOOD_SUMMARY}${"x ".repeat(50_000)}` };
    const { outcome, requests } = await summarizeWith([endless, endless]);
    expect(outcome).toMatchObject({ isFallback: true });
    expect(requests).toHaveLength(2);
  });
});
