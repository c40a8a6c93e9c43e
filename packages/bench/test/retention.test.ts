import { describe, expect, test } from "bun:test";
import { chooseMisbehaviours, evaluateRetention } from "../src/retention/evaluate.ts";

const whole = { compactions: 1, missingConstraints: [], keptFacts: 7, wrongLists: [] };
const report = { constraints: 20, facts: 50, compactions: 1, fallbacks: 1, invalid: [], failures: [] };

describe("evaluateRetention()", () => {
  test("accepts sessions that kept everything, whatever happened to the facts", () => {
    const before = { ...whole, compactions: 0, keptFacts: 50 };
    const { lines, problems } = evaluateRetention([{ ...report, requests: [before, whole, whole] }]);
    expect(problems).toEqual([]);
    expect(lines).toEqual([
      "1 sessions, 1 compactions, 1 fallback summaries, 3 requests",
      "constraints verbatim in the next request: 20 of 20; missing in any request: 0",
      "requests after a compaction with correct file lists: 2 of 2",
      "facts kept: 7 of 50 (median), at least 7",
      "invalid requests: 0, errors: 0",
    ]);
  });

  test("reports a lost constraint, a wrong list, a refused request and an error once each", () => {
    const request = { ...whole, missingConstraints: ["never"], wrongLists: ["read-files lacks a.ts"] };
    const { lines, problems } = evaluateRetention([
      { ...report, requests: [request, request], invalid: ["no result"], failures: ["too long"] },
    ]);
    expect(lines[1]).toBe("constraints verbatim in the next request: 19 of 20; missing in any request: 2");
    const told = ["missing: never", "read-files lacks a.ts", "invalid: no result", "error: too long"];
    expect(problems).toEqual(told);
  });

  test("rejects a session without a compaction, which proves nothing", () => {
    const requests = [{ ...whole, compactions: 0 }];
    expect(() => evaluateRetention([{ ...report, compactions: 0, requests }])).toThrow("no request after");
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
