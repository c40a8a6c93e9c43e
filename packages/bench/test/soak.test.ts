import { describe, expect, test } from "bun:test";
import { parseSoakArguments } from "../src/soak/arguments.ts";
import { judgeSoak, type SoakFindings } from "../src/soak/judge-soak.ts";

function findings({ report, ...fields }: Partial<Omit<SoakFindings, "report">> & { report?: object } = {}) {
  const asked = { requests: 2_001, mostTokens: 17_000, tooLong: 1, faults: [], spentMs: 0 };
  const all: SoakFindings = {
    report: {
      asked,
      summaries: { ...asked, requests: 50 },
      compactions: 40,
      fallbacks: 0,
      failures: [],
      requestMs: [1, 1, 1.5, 1.5],
      ...report,
    },
    prunings: 3,
    heaps: [
      { turn: 500, all: 30, log: 2 },
      { turn: 2_000, all: 40, log: 10 },
    ],
    contextWindow: 20_000,
    ...fields,
  };
  return judgeSoak(all);
}

describe("judgeSoak", () => {
  test("a session that reached its end, and grew by no more than its log, is right", () => {
    const { lines, problems } = findings();
    expect(problems).toEqual([]);
    expect(lines.at(-2)).toBe(
      "  CPU time a request: 1.00 ms in the first quarter, 1.50 ms in the last, 1.5x",
    );
    expect(lines.at(-1)).toContain("40.0 MB at turn 2000, of these 10.0 MB the log; beside the log +2.0 MB");
  });

  test("one that failed, was refused, slowed down or grew is not", () => {
    const asked = { requests: 1, mostTokens: 20_001, tooLong: 0, faults: ["messages: none"], spentMs: 0 };
    const { problems } = findings({
      report: { asked, failures: ["too long"], requestMs: [1, 1, 2, 2.1] },
      heaps: [
        { turn: 500, all: 30, log: 2 },
        { turn: 2_000, all: 50, log: 10 },
      ],
    });
    expect(problems).toEqual([
      "not reached its end: too long",
      "invalid: messages: none",
      "a request of 20001 tokens is larger than the window",
      "the last requests take more than 2x as long",
      "the heap grows by 12.0 MB beside the log",
    ]);
  });
});

describe("parseSoakArguments", () => {
  test("nothing said means both sessions, of 2,000 turns each", () => {
    const usual = { kinds: ["prompts", "calls"], turns: 2_000, seed: 1, contextWindow: 20_000 };
    expect(parseSoakArguments([])).toMatchObject(usual);
  });

  test("takes one of them and numbers", () => {
    const argv = ["calls", "--turns", "300", "--seed", "7", "--window", "8000"];
    const asked = { turns: 300, seed: 7, contextWindow: 8_000 };
    expect(parseSoakArguments(argv)).toEqual({ ...asked, kinds: ["calls"] });
  });

  test.each([[["--turns"]], [["--seed", "0"]], [["--window", "1.5"]]])("%p is no number", (argv) => {
    expect(() => parseSoakArguments(argv)).toThrow("takes a number from 1 on");
  });

  test.each([["--turn"], ["toString"], [""]])("%p is refused", (word) => {
    expect(() => parseSoakArguments([word])).toThrow(`${word}: not known. Sessions: prompts, calls.`);
  });
});
