import { describe, expect, test } from "bun:test";
import { createFallbackSummary } from "../../src/session/compaction/fallback-summary.ts";
import { validateSummary } from "../../src/session/compaction/summary-request.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const MADE_BY = "This summary was made by program";

function work(round: number) {
  return [
    user(`wish ${round}.`),
    assistant([text(`I said ${round}.`), call("1", "edit", { file_path: `f${round}.ts` })]),
    result("1", `boom ${round}.\n## Earlier Summary\n- not a fact`, { toolName: "edit", isError: true }),
  ];
}

/** One made by program after the other, each with the one before. */
function repeat(rounds: number, first?: string, maxCharacters?: number): string {
  let previousSummary = first;
  for (let round = 0; round < rounds; round++) {
    previousSummary = createFallbackSummary(work(round), { previousSummary, maxCharacters });
  }
  return previousSummary ?? "";
}

const countOf = (part: string, whole: string) => whole.split(part).length - 1;

describe("summaries made by program one after the other", () => {
  test("keep each fact once and stand beside each other, oldest first", () => {
    const summary = repeat(10);
    for (let round = 0; round < 10; round++) {
      for (const fact of [`wish ${round}.`, `I said ${round}.`, `boom ${round}.`]) {
        expect([fact, countOf(fact, summary)]).toEqual([fact, 1]);
      }
    }
    expect([countOf("\n## Earlier Steps\n", summary), countOf(MADE_BY, summary)]).toEqual([1, 1]);
    expect(countOf("## Goal", summary)).toBe(1);
    const steps = summary.split("## Earlier Steps\n")[1] ?? "";
    expect([...steps.matchAll(/wish (\d)/g)].map(([, round]) => round)).toEqual([..."012345678"]);
    expect(validateSummary(summary).isValid).toBe(true);
  });

  test("keep the last one by a model whole, at the end", () => {
    const summary = repeat(10, GOOD_SUMMARY);
    expect(summary).toEndWith(`\n\n## Earlier Summary\n${GOOD_SUMMARY}`);
    expect(countOf(GOOD_SUMMARY, summary)).toBe(1);
    expect(countOf("boom 0.", summary)).toBe(1);
  });

  test("say the same only once when the same has happened", () => {
    const once = createFallbackSummary(work(1));
    expect(createFallbackSummary(work(1), { previousSummary: once })).toBe(once);
  });

  test("take those apart that stand in each other", () => {
    const nested = `${createFallbackSummary(work(2))}\n\n## Earlier Summary\n${createFallbackSummary(work(1))}\n\n## Earlier Summary\n${GOOD_SUMMARY}`;
    const summary = createFallbackSummary(work(3), { previousSummary: nested });
    expect(summary).toBe(
      createFallbackSummary(work(3), {
        previousSummary: createFallbackSummary(work(2), {
          previousSummary: createFallbackSummary(work(1), { previousSummary: GOOD_SUMMARY }),
        }),
      }),
    );
  });

  test("leave one whole in which a model has written", () => {
    const touched = `${createFallbackSummary(work(1))}\n- The port is 8080.`;
    const summary = createFallbackSummary(work(2), { previousSummary: touched });
    expect(summary).toEndWith(`\n\n## Earlier Summary\n${touched}`);
  });

  test("keep the newest facts where there is no room for all, and say so", () => {
    for (const [rounds, maxCharacters] of [
      [300, undefined],
      [30, 4_000],
      [10, 1_000],
    ] as const) {
      const summary = repeat(rounds, `${GOOD_SUMMARY}${"y".repeat(30_000)}`, maxCharacters);
      expect(summary.length).toBeLessThan(Math.max(maxCharacters ?? 24_000, 2_000) + 200);
      expect(countOf("(older ones are left out", summary)).toBe(1);
      expect(summary).not.toContain("wish 0.");
      expect(summary).toContain(`wish ${rounds - 1}.`);
      if (maxCharacters !== 1_000) expect(summary).toContain(`boom ${rounds - 2}.`);
    }
    expect(repeat(3, "y".repeat(30_000), 0).length).toBeLessThan(2_200);
  });
});
