import { describe, expect, test } from "bun:test";
import { rankKnowledge, scoreKnowledge } from "../../src/knowledge/ranker.ts";
import type { KnowledgeEntry } from "../../src/knowledge/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { daysAgo, knowledge, NOON } from "../support/knowledge-entry.ts";

function rank(...entries: KnowledgeEntry[]): string[] {
  return rankKnowledge(entries, NOON).map(({ id }) => id);
}

describe("the order of entries", () => {
  test("puts higher-confidence, more-recent entries first, and leaves superseded ones out", () => {
    expect(
      rank(
        knowledge("old-sure", { timestamp: daysAgo(60), confidence: 1 }),
        knowledge("new-unsure", { timestamp: daysAgo(1), confidence: 0.2 }),
        knowledge("replaced", { confidence: 1 }),
        knowledge("new-sure", { timestamp: daysAgo(1), confidence: 0.9, supersedes: "replaced" }),
        knowledge("recent", { timestamp: daysAgo(10), confidence: 0.9 }),
      ),
    ).toEqual(["new-sure", "recent", "old-sure", "new-unsure"]);
  });

  test("a score halves every 30 days", () => {
    const entry = knowledge("a", { confidence: 0.8 });
    const scores = [0, 30, 60, 300].map((days) =>
      scoreKnowledge({ ...entry, timestamp: daysAgo(days) }, NOON),
    );
    expect(scores).toEqual([0.8, 0.4, 0.2, 0.8 / 1024]);
  });

  test("weights the types as planned", () => {
    const types = ["correction", "preference", "pattern", "decision", "discovery"] as const;
    expect(types.map((type) => scoreKnowledge(knowledge("a", { type }), NOON))).toEqual([
      1.5, 1.3, 1, 1, 0.8,
    ]);
  });

  test("treats a future time as now, and an invalid one as long ago", () => {
    const [future, unreadable] = ["2099-01-01T00:00:00.000Z", "yesterday"];
    expect(scoreKnowledge(knowledge("a", { timestamp: future }), NOON)).toBe(1);
    expect(scoreKnowledge(knowledge("a", { timestamp: unreadable }), NOON)).toBe(0);
    expect(
      rank(
        knowledge("unreadable", { timestamp: unreadable }),
        knowledge("ancient", { timestamp: daysAgo(10_000) }),
        knowledge("future", { timestamp: future }),
      ),
    ).toEqual(["future", "ancient", "unreadable"]);
  });

  test("keeps the file's order for equal scores", () => {
    const ids = ["c", "a", "b", "e", "d"];
    expect(rank(...ids.map((id) => knowledge(id)))).toEqual(ids);
  });

  test("uses the current time by default, and an empty list stays empty", () => {
    expect(rankKnowledge([knowledge("a")])).toEqual([knowledge("a")]);
    expect(rankKnowledge([])).toEqual([]);
  });
});

describe("a superseded entry", () => {
  const replacing = (id: string, supersedes: string, timestamp = daysAgo(0)) =>
    knowledge(id, { supersedes, timestamp });

  test("is left out along a chain, in any order of the file", () => {
    expect(rank(replacing("c", "b"), knowledge("a"), replacing("b", "a"))).toEqual(["c"]);
  });

  test("an entry that replaces a missing one stays", () => {
    expect(rank(replacing("a", "gone"))).toEqual(["a"]);
  });

  test("an entry that replaces itself stays", () => {
    expect(rank(replacing("a", "a"), knowledge("b"))).toEqual(["a", "b"]);
  });

  test("of a cycle the newest stays", () => {
    const circle = [
      replacing("a", "b", daysAgo(3)),
      replacing("b", "c", daysAgo(1)),
      replacing("c", "a", daysAgo(2)),
    ];
    expect(rank(...circle)).toEqual(["b"]);
    expect(rank(...circle, knowledge("x"))).toEqual(["x", "b"]);
  });

  test("a cycle that an outside entry replaces is removed", () => {
    const circle = [replacing("a", "b"), replacing("b", "a")];
    expect(rank(...circle, replacing("d", "b"))).toEqual(["d"]);
    expect(rank(...circle, replacing("d", "b"), replacing("e", "d"))).toEqual(["e"]);
  });

  test("thousands of chains and cycles are ranked quickly", () => {
    const circles = Array.from({ length: 5_000 }, (_, index) => [
      replacing(`a${index}`, `b${index}`),
      replacing(`b${index}`, `a${index}`),
    ]).flat();
    const chain = Array.from({ length: 10_000 }, (_, index) => replacing(`c${index + 1}`, `c${index}`));
    const startedAt = performance.now();
    expect(rank(...circles, ...chain).length).toBe(5_001);
    expect(performance.now() - startedAt).toBeLessThan(500 + BUSY_MS);
  });
});
