import { describe, expect, test } from "bun:test";
import { contextEntries, contextMessages } from "../../src/session/context-builder.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import { branchSummary, compaction, inLine, modelChange, prune } from "../support/context-entries.ts";
import { result } from "../support/messages.ts";
import { chain, entry, entryId, STAMP } from "../support/session-files.ts";

const idsOf = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);
const questions = (first: number, last: number) => chain(last + 1).slice(first);

test("of a plain conversation all entries that are messages are in the context", () => {
  const entries = inLine(
    ...chain(2),
    { type: "session_info", id: "i", parentId: null, timestamp: STAMP, name: "n" },
    branchSummary("b", null, "s"),
    ...questions(2, 3),
  );
  const { kept, ...rest } = contextEntries(entries);
  expect(idsOf(kept)).toEqual([entryId(0), entryId(1), "b", entryId(2), entryId(3)]);
  expect(rest).toEqual({ summarized: [], usageFrom: 0 });
});

test("of a compacted one it names the compaction, what it stands for, and what is kept", () => {
  const first = compaction("c1", null, { firstKeptEntryId: entryId(0) });
  const entries = inLine(
    ...chain(2),
    first,
    ...questions(2, 3),
    compaction("c2", null, { firstKeptEntryId: entryId(2) }),
    ...questions(4, 5),
  );
  const { summary, summarized, kept, usageFrom } = contextEntries(entries);
  expect([summary?.id, idsOf(summarized), idsOf(kept), usageFrom]).toEqual([
    "c2",
    [entryId(0), entryId(1), "c1"],
    [entryId(2), entryId(3), entryId(4), entryId(5)],
    2,
  ]);
});

describe("usage counts", () => {
  test.each<[string, SessionEntry]>([
    ["pruning", prune("x", null)],
    ["a change of the model", modelChange("x", null, "other")],
  ])("from the last %s on", (_, change) => {
    expect(contextEntries(inLine(...chain(4), change, ...questions(4, 5))).usageFrom).toBe(4);
    expect(contextEntries(inLine(...chain(4), change)).usageFrom).toBe(4);
  });

  test("from the start of what is kept when the change is in the summarised part and nowhere later", () => {
    const compacted = inLine(...chain(2), prune("x", null), ...questions(2, 3));
    expect(contextEntries(compacted).usageFrom).toBe(2);
  });
});

test("a context's messages come with the entries they are from, as they are sent", () => {
  const entries = inLine(
    entry("1", null, "old"),
    entry("2", null, result("a", "x".repeat(1_000))),
    prune("p", null, { cleared: ["2"] }),
    compaction("c", null, { firstKeptEntryId: "2" }),
    branchSummary("b", null, "s"),
  );
  expect(contextMessages(entries).map(({ entry: { id }, message }) => [id, message])).toEqual([
    ["c", expect.objectContaining({ content: "[Session Summary]\nsummary of c" })],
    ["2", expect.objectContaining({ output: expect.stringContaining("[Tool output cleared — ") })],
    ["b", expect.objectContaining({ content: "[Branch Summary]\ns" })],
  ]);
});

test("an empty path has an empty context", () => {
  expect(contextEntries([])).toEqual({ summarized: [], kept: [], usageFrom: 0 });
});
