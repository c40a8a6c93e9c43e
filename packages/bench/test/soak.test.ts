import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { parseSoakArguments } from "../src/soak/arguments.ts";
import { judgeIdle, judgeProcess } from "../src/soak/judge-process.ts";
import { judgeSoak, type SoakFindings } from "../src/soak/judge-soak.ts";
import { findLeaks, sampleProcess } from "../src/soak/process-sample.ts";

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

const AT_REST = { megabytes: 80, files: 12, children: 0 };

describe("judgeProcess", () => {
  const turnMs = [90, 90, 10, 12, 11, 19, 20];

  test("a program that takes no longer and holds no more is right, whatever its first turns took", () => {
    const late = { ...AT_REST, megabytes: 130, files: 11 };
    expect(judgeProcess({ early: AT_REST, late, turnMs, warm: 2 })).toEqual({
      lines: [
        "  after 100 turns: 80.0 MB, 12 open files, 0 children",
        "  at the end: 130.0 MB, 11 open files, 0 children",
        "  time: 11.0 ms in the second hundred, 19.5 ms in the last, 1.8x",
      ],
      problems: [],
    });
  });

  test("one that grew, slowed down, or left files and children open is not", () => {
    const late = { megabytes: 131, files: 13, children: 2 };
    const { problems } = judgeProcess({ early: AT_REST, late, turnMs: [...turnMs, 60, 60], warm: 2 });
    expect(problems).toEqual([
      "it grew by 51.0 MB",
      "the last turns take more than 2x as long",
      "open files went from 12 to 13",
      "children went from 0 to 2",
    ]);
  });
});

test("a program that waits takes one percent of a core at most", () => {
  const quiet = { seconds: 20, cpuSeconds: 0.2, before: AT_REST, after: AT_REST };
  expect(judgeIdle(quiet).problems).toEqual([]);
  expect(judgeIdle(quiet).lines[0]).toBe("  1.00 % of a core over 20 s");
  expect(judgeIdle({ ...quiet, cpuSeconds: 0.21 }).problems).toEqual(["it took more than 1 % of a core"]);
});

test("what this process has open and has started is counted", async () => {
  const before = sampleProcess(process.pid);
  const child = Bun.spawn(["sleep", "5"]);
  const file = openSync(import.meta.path, "r");
  const during = sampleProcess(process.pid);
  closeSync(file);
  child.kill();
  await child.exited;
  expect(during.children - before.children).toBe(1);
  expect(during.files).toBeGreaterThan(before.files);
  expect(findLeaks(before, during)).toHaveLength(2);
  expect(during.megabytes).toBeGreaterThan(10);
});

describe("parseSoakArguments", () => {
  test("nothing said means all of them, each as long as is usual", () => {
    const kinds = ["prompts", "calls", "screen", "print", "idle"] as const;
    const usual = { kinds, turns: undefined, seed: 1, contextWindow: 20_000, seconds: 20 };
    expect(parseSoakArguments([])).toEqual(usual);
  });

  test("takes one of them and numbers", () => {
    const argv = ["calls", "idle", "--turns", "300", "--seed", "7", "--window", "8000", "--seconds", "600"];
    const asked = { turns: 300, seed: 7, contextWindow: 8_000, seconds: 600 };
    expect(parseSoakArguments(argv)).toEqual({ ...asked, kinds: ["calls", "idle"] });
  });

  test.each([[["--turns"]], [["--seed", "0"]], [["--window", "1.5"]]])("%p is no number", (argv) => {
    expect(() => parseSoakArguments(argv)).toThrow("takes a number from 1 on");
  });

  test.each([["--turn"], ["toString"], [""]])("%p is refused", (word) => {
    expect(() => parseSoakArguments([word])).toThrow(
      `${word}: not known. Sessions: prompts, calls, screen, print, idle.`,
    );
  });
});
