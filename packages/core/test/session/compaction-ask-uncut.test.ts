import { describe, expect, test } from "bun:test";
import { createFallbackSummary } from "../../src/session/compaction/fallback-summary.ts";
import { generateSummary, summarize } from "../../src/session/compaction/summarize.ts";
import { user } from "../support/messages.ts";
import { TEST_MODEL } from "../support/models.ts";
import { GOOD_SUMMARY, inTag, recordSummaries, summaryOf } from "../support/summaries.ts";

const MESSAGES = [user("mend it")];
const UP_TO_NEXT_STEPS = GOOD_SUMMARY.slice(0, GOOD_SUMMARY.indexOf("\n\n## Critical Context"));
const LONGER = `${UP_TO_NEXT_STEPS}\n2. write the docs of src/par`;
const TOO_EARLY = `${GOOD_SUMMARY.slice(0, GOOD_SUMMARY.indexOf("## Next Steps"))}${"x".repeat(500)}`;
const NOTE = "\n[… cut off here …]";

const cut = (text: string) => ({ text, stopReason: "max_tokens" });

type Turns = Parameters<typeof recordSummaries>;

async function summarizeWith(...turns: Turns) {
  const { streamFunction, requests } = recordSummaries(...turns);
  return { outcome: await summarize(MESSAGES, { streamFunction, model: TEST_MODEL }), requests };
}

describe("a summary that was cut off", () => {
  test("is asked for once more, shorter, in words that say why", async () => {
    const { outcome, requests } = await summarizeWith(cut(LONGER), { text: GOOD_SUMMARY });
    expect(outcome).toEqual({ summary: GOOD_SUMMARY, isFallback: false });
    expect(requests.map(({ prompt }) => prompt.split("</transcript>\n\n")[1])).toEqual([
      "Write the summary now, in the given form and in at most 1200 words.",
      "An earlier attempt could not be used: the summary was cut off at the limit for its length, so write a shorter " +
        "one of at most 600 words, with every heading.\n\n" +
        "Write the summary now, in the given form and in at most 600 words.",
    ]);
  });

  test("is taken where both were, the longer one that has all sections up to the next steps", async () => {
    const taken = { summary: LONGER + NOTE, isFallback: false };
    for (const turns of [
      [cut(LONGER), cut(UP_TO_NEXT_STEPS)],
      [cut(UP_TO_NEXT_STEPS), cut(LONGER)],
      [cut(`${TOO_EARLY}${"x".repeat(900)}`), cut(LONGER)],
      [cut(`\`\`\`markdown\n${LONGER}`), cut("")],
    ]) {
      const { outcome, requests } = await summarizeWith(...turns);
      expect(outcome).toEqual(taken);
      expect(requests).toHaveLength(2);
    }
  });

  test("gives way to one made by program where neither came so far", async () => {
    for (const second of [TOO_EARLY, "", `${TOO_EARLY}\n\n## Next Steps`]) {
      const { outcome, requests } = await summarizeWith(cut(TOO_EARLY), cut(second));
      expect(outcome).toEqual({
        summary: createFallbackSummary(MESSAGES),
        isFallback: true,
        failure: "The summary was cut off at the limit for its length.",
      });
      expect(requests).toHaveLength(2);
    }
  });

  test("is still there when the second request fails or gives junk", async () => {
    const error = { errorType: "overloaded", message: "busy" } as const;
    for (const second of [{ error }, { text: "junk" }]) {
      const { outcome, requests } = await summarizeWith(cut(LONGER), second);
      expect(outcome).toEqual({ summary: LONGER + NOTE, isFallback: false });
      expect(requests).toHaveLength(2);
    }
  });

  test("is not asked for a third time where it was the second attempt", async () => {
    const { outcome, requests } = await summarizeWith({ text: "" }, cut(LONGER));
    expect(outcome).toEqual({ summary: LONGER + NOTE, isFallback: false });
    expect(requests).toHaveLength(2);
  });

  test("of a part of a long transcript is repeated for that part, and the later ones are short at once", async () => {
    const long = Array.from({ length: 40 }, (_, index) => user(`wish ${index}: ${"x".repeat(1_000)}`));
    const { streamFunction, requests } = recordSummaries(
      cut(LONGER),
      ...Array.from({ length: 9 }, (_, index) => ({ text: summaryOf(`part ${index}`) })),
    );
    await generateSummary(long, streamFunction, { ...TEST_MODEL, contextWindow: 8_192 });
    const transcripts = requests.map(({ prompt }) => inTag("transcript", prompt));
    expect(transcripts[1]).toBe(transcripts[0]);
    expect(new Set(transcripts).size).toBe(requests.length - 1);
    expect(requests.length).toBeGreaterThan(3);
    expect(requests.map(({ prompt }) => /at most (\d+) words\.$/.exec(prompt)?.[1])).toEqual(
      requests.map((_, index) => (index === 0 ? "1024" : "512")),
    );
    expect(requests[2]?.prompt).not.toContain("could not be used");
  });
});

test("a conversation of many tokens a character goes to the model in parts that fit", async () => {
  const dense = Array.from({ length: 40 }, (_, index) => user(`${index}: ${"語".repeat(1_000)}`));
  for (const tokensPerCharacter of [1.2, 0.1]) {
    const { streamFunction, requests } = recordSummaries(...Array(30).fill({ text: GOOD_SUMMARY }));
    await generateSummary(
      dense,
      streamFunction,
      { ...TEST_MODEL, contextWindow: 32_000 },
      { tokensPerCharacter },
    );
    const ratio = Math.max(0.4, tokensPerCharacter);
    for (const { systemPrompt, prompt } of requests) {
      expect((systemPrompt.length + prompt.length) * ratio + 4_096).toBeLessThanOrEqual(32_000);
    }
    expect(requests.length > 1).toBe(tokensPerCharacter > 1);
  }
});
