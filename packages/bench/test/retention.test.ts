import { describe, expect, test } from "bun:test";
import { chooseMisbehaviours, evaluateRetention } from "../src/retention/evaluate.ts";

const whole = { compactions: 1, missingConstraints: [], keptFacts: 7, wrongLists: [] };
const report = {
  constraints: 20,
  facts: 50,
  compactions: 1,
  fallbacks: 1,
  invalid: [],
  failures: [],
  recalledFacts: 50,
  watched: { requests: 3, changed: 0, recentResults: 2, shortenedResults: 0 },
};
const evidence = {
  requests: 9,
  changed: 0,
  recentResults: 30,
  shortenedResults: 0,
  prunings: 2,
  invalid: [],
};

const faithful = [{ ...report, requests: [{ ...whole, keptFacts: 48 }] }];

describe("evaluateRetention()", () => {
  test("accepts sessions that kept everything, whatever bad summaries did to the facts", () => {
    const before = { ...whole, compactions: 0, keptFacts: 50 };
    const { lines, problems } = evaluateRetention({
      reports: [{ ...report, requests: [before, whole, whole] }],
      evidence: [evidence],
      faithful,
    });
    expect(problems).toEqual([]);
    expect(lines).toEqual([
      "1 sessions, 1 compactions, 1 fallback summaries, 3 requests",
      "constraints verbatim in the next request: 20 of 20; missing in any request: 0",
      "requests after a compaction with correct file lists: 2 of 2",
      "facts kept by faithful summaries: 48 of 50 (96 %)",
      "facts kept by bad summaries: 7 of 50 (median), at least 7",
      "facts found by recall: 50 of 50 (100 %)",
      "results of the newest 40,000 tokens shown whole, over 2 prunings: 30 of 30 (100 %)",
      "requests changed before their last message except at a pruning or compaction: 0 of 12",
      "invalid requests: 0, errors: 0",
    ]);
  });

  test("reports a lost constraint, a wrong list, a refused request and an error once each", () => {
    const request = { ...whole, missingConstraints: ["never"], wrongLists: ["read-files lacks a.ts"] };
    const { lines, problems } = evaluateRetention({
      reports: [{ ...report, requests: [request, request], invalid: ["no result"], failures: ["too long"] }],
      evidence: [evidence],
      faithful,
    });
    expect(lines[1]).toBe("constraints verbatim in the next request: 19 of 20; missing in any request: 2");
    const told = ["missing: never", "read-files lacks a.ts", "invalid: no result", "error: too long"];
    expect(problems).toEqual(told);
  });

  test("reports forgotten facts, shortened results, changed and refused requests, and a test of nothing", () => {
    const { problems } = evaluateRetention({
      reports: [{ ...report, recalledFacts: 49, requests: [whole] }],
      evidence: [{ ...evidence, changed: 1, shortenedResults: 3, prunings: 0, invalid: ["no result"] }],
      faithful: [{ ...report, requests: [{ ...whole, keptFacts: 47 }] }],
    });
    expect(problems).toEqual([
      "lost: 3 facts",
      "recall misses 1 facts",
      "shortened: 3 of the newest results",
      "changed: 1 requests without a reason",
      "nothing was pruned, which proves nothing",
      "invalid: no result",
    ]);
  });

  test("rejects a session without a compaction, which proves nothing", () => {
    const requests = [{ ...whole, compactions: 0 }];
    const reports = [{ ...report, compactions: 0, requests }];
    expect(() => evaluateRetention({ reports, evidence: [evidence], faithful })).toThrow("no request after");
  });
});

test("chooseMisbehaviours() uses each way in turn on both services, then random ones", () => {
  const rows = [0, 1, 2, 3, 4, 5, 6].map((run) => chooseMisbehaviours(run, () => 0.5));
  expect(rows.slice(0, 3)).toEqual([
    ["half", "junk", "nothing"],
    ["half", "junk", "nothing"],
    ["junk", "nothing", "half"],
  ]);
  expect(rows.slice(5)).toEqual([
    ["nothing", "half", "junk"],
    ["junk", "junk", "junk"],
  ]);
});
