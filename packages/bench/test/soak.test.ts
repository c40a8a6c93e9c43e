import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { parseSoakArguments } from "../src/soak/arguments.ts";
import {
  evaluateIdle,
  evaluateProcess,
  evaluateSoak,
  formatSoaks,
  isBroken,
  type SoakFindings,
  type SoakVerdict,
  sampleProcess,
} from "../src/soak/evaluate.ts";

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
  return evaluateSoak(all);
}

/** Descriptions of what is wrong. */
const brokenOf = ({ rows }: SoakVerdict) => rows.filter((row) => row.isBroken).map(({ what }) => what);

describe("evaluateSoak()", () => {
  test("accepts a session that reached its end and grew by no more than its log", () => {
    const { rows, details } = findings();
    expect(rows).toEqual([
      { what: "errors, and runs that did not reach their end", found: "0", budget: "0", isBroken: false },
      { what: "requests that a service would refuse", found: "0 of 2051", budget: "0", isBroken: false },
      { what: "largest request", found: "17000 tokens", budget: "≤ 20000", isBroken: false },
      {
        what: "CPU time per request, first quarter to last",
        found: "1.00 → 1.50 ms, 1.5x",
        budget: "≤ 2x",
        isBroken: false,
      },
      { what: "heap in addition to the log", found: "28.0 → 30.0 MB", budget: "4 MB more", isBroken: false },
      { what: "compactions, fallback summaries, prunings", found: "40, 0, 3" },
      { what: "refused for their length and shortened", found: "1" },
    ]);
    expect(details).toEqual([]);
  });

  test("rejects a session that failed, was refused, slowed down or grew", () => {
    const asked = { requests: 1, mostTokens: 20_001, tooLong: 0, faults: ["messages: none"], spentMs: 0 };
    const verdict = findings({
      report: { asked, failures: ["too long"], requestMs: [1, 1, 2, 2.1] },
      heaps: [
        { turn: 500, all: 30, log: 2 },
        { turn: 2_000, all: 50, log: 10 },
      ],
    });
    expect(brokenOf(verdict)).toEqual([
      "errors, and runs that did not reach their end",
      "requests that a service would refuse",
      "largest request",
      "CPU time per request, first quarter to last",
      "heap in addition to the log",
    ]);
    expect(verdict.details).toEqual(["did not reach its end: too long", "invalid: messages: none"]);
    expect([isBroken(verdict), isBroken(findings())]).toEqual([true, false]);
  });
});

const AT_REST = { megabytes: 80, files: 12, children: 0 };

describe("evaluateProcess() and evaluateIdle()", () => {
  const turnMs = [90, 90, 10, 12, 11, 19, 20];

  test("accepts a program that is no slower and no larger, whatever its first turns took", () => {
    const late = { ...AT_REST, megabytes: 130, files: 11 };
    expect(evaluateProcess({ early: AT_REST, late, turnMs, warm: 2 }).rows).toEqual([
      {
        what: "time of a turn, second hundred to last",
        found: "11.0 → 19.5 ms, 1.8x",
        budget: "≤ 2x",
        isBroken: false,
      },
      { what: "resident memory", found: "80.0 → 130.0 MB", budget: "50 MB more", isBroken: false },
      { what: "open files", found: "12 → 11", budget: "no more", isBroken: false },
      { what: "children", found: "0 → 0", budget: "no more", isBroken: false },
    ]);
  });

  test("rejects a program that grew, slowed down, or left files and children open", () => {
    const late = { megabytes: 131, files: 13, children: 2 };
    const verdict = evaluateProcess({ early: AT_REST, late, turnMs: [...turnMs, 60, 60], warm: 2 });
    expect(brokenOf(verdict)).toEqual([
      "time of a turn, second hundred to last",
      "resident memory",
      "open files",
      "children",
    ]);
  });
});

test("allows an idle program one percent of a core", () => {
  const quiet = { seconds: 20, cpuSeconds: 0.2, wakes: 50, before: AT_REST, after: AT_REST };
  expect(brokenOf(evaluateIdle(quiet))).toEqual([]);
  expect(evaluateIdle(quiet).rows.map(({ found }) => found)).toEqual([
    "1.00 % of a core",
    "2.50 a second",
    "80.0 → 80.0 MB",
    "12 → 12",
    "0 → 0",
  ]);
  expect(brokenOf(evaluateIdle({ ...quiet, cpuSeconds: 0.21 }))).toEqual(["CPU over 20 s"]);
});

test("each soak session is a table, with the details of problems below", () => {
  const rows = [
    { what: "errors", found: "1", budget: "0", isBroken: true },
    { what: "compactions", found: "40" },
  ];
  const calm = { rows: [{ what: "CPU", found: "0.02 %", budget: "≤ 1 %", isBroken: false }] };
  const soaks = [
    { title: "calls", verdict: { rows, details: ["did not reach its end: because"] } },
    { title: "idle", verdict: calm },
  ];
  expect(formatSoaks(soaks).split("\n")).toEqual([
    "session  what         found   budget",
    "calls    errors       1       0       BROKEN",
    "         compactions  40",
    "idle     CPU          0.02 %  ≤ 1 %   ok",
    "",
    "calls: did not reach its end: because",
  ]);
});

test("the open files and children of this process are counted", async () => {
  const before = sampleProcess(process.pid);
  const child = Bun.spawn(["sleep", "5"]);
  const file = openSync(import.meta.path, "r");
  const during = sampleProcess(process.pid);
  closeSync(file);
  child.kill();
  await child.exited;
  expect(during.children - before.children).toBe(1);
  expect(during.files).toBeGreaterThan(before.files);
  expect(during.megabytes).toBeGreaterThan(10);
});

describe("parseSoakArguments", () => {
  test("selects all sessions with their default length without arguments", () => {
    const kinds = ["prompts", "calls", "screen", "print", "idle"] as const;
    const usual = { kinds, turns: undefined, seed: 1, contextWindow: 20_000, seconds: 20 };
    expect(parseSoakArguments([])).toEqual(usual);
  });

  test("refuses fewer turns of the real program than can be compared", () => {
    expect(parseSoakArguments(["calls", "--turns", "3"])).toMatchObject({ kinds: ["calls"], turns: 3 });
    expect(parseSoakArguments(["print", "--turns", "300"])).toMatchObject({ turns: 300 });
    expect(() => parseSoakArguments(["print", "--turns", "299"])).toThrow(
      "--turns 299: too few for print; at least 300",
    );
    expect(() => parseSoakArguments(["--turns", "150"])).toThrow("too few for screen and print");
  });

  test("parses one session and its numbers", () => {
    const argv = ["calls", "idle", "--turns", "300", "--seed", "7", "--window", "8000", "--seconds", "600"];
    const asked = { turns: 300, seed: 7, contextWindow: 8_000, seconds: 600 };
    expect(parseSoakArguments(argv)).toEqual({ ...asked, kinds: ["calls", "idle"] });
  });

  test("accepts --long for ten minutes", () => {
    expect(parseSoakArguments(["idle", "--long"])).toMatchObject({ kinds: ["idle"], seconds: 600 });
  });

  test.each([[["--turns"]], [["--seed", "0"]], [["--window", "1.5"]]])("refuses %p as a number", (argv) => {
    expect(() => parseSoakArguments(argv)).toThrow("needs a number of at least 1");
  });

  test.each([["--turn"], ["toString"], [""]])("refuses %p", (word) => {
    expect(() => parseSoakArguments([word])).toThrow(
      `${word}: unknown. Sessions: prompts, calls, screen, print, idle.`,
    );
  });
});
