import { describe, expect, test } from "bun:test";
import { parseSessionLine } from "../../src/session/parse-line.ts";
import {
  generateEntryId,
  generateSessionId,
  SESSION_VERSION,
  type SessionEntry,
} from "../../src/session/types.ts";
import { branchSummary, compaction, prune } from "../support/context-entries.ts";
import { entry, header, STAMP } from "../support/session-files.ts";

describe("ids", () => {
  test("an entry's is 8 hexadecimal digits, and no two of ten thousand are all alike", () => {
    const ids = Array.from({ length: 10_000 }, generateEntryId);
    expect(ids.filter((id) => !/^[0-9a-f]{8}$/.test(id))).toEqual([]);
    // By chance two of so many may be the same: the session checks those it has.
    expect(new Set(ids).size).toBeGreaterThan(9_990);
  });

  test("a session's begins with the time in UTC, so that ids sort by age, and ends in chance", () => {
    const early = generateSessionId(new Date("2026-02-25T10:30:00.999Z"));
    const late = generateSessionId(new Date("2026-02-25T10:30:01Z"));
    expect(early).toMatch(/^20260225103000-[0-9a-f]{6}$/);
    expect([late, early].sort()).toEqual([early, late]);
    expect(new Set(Array.from({ length: 100 }, () => generateSessionId())).size).toBe(100);
  });
});

test("the version of the format is 2", () => {
  expect(SESSION_VERSION).toBe(2);
});

const BASE = { id: "00000001", parentId: null, timestamp: STAMP };

describe("an entry comes back from its line as it was", () => {
  const entries: SessionEntry[] = [
    entry("00000001", null, "hi"),
    { type: "model_change", ...BASE, provider: "anthropic", modelId: "m" },
    { type: "session_info", ...BASE, name: "a name" },
    { type: "session_info", ...BASE },
    { type: "label", ...BASE, targetId: "00000000", label: "here" },
    { type: "label", ...BASE, targetId: "00000000" },
    { type: "settings", ...BASE, effort: "high" },
    { type: "settings", ...BASE },
    { type: "archive", ...BASE, archived: true },
    { type: "custom", ...BASE, customType: "mine", data: { a: [1, null] } },
    { type: "custom", ...BASE, customType: "mine", data: null },
    compaction("00000001", null, { firstKeptEntryId: "00000000" }),
    compaction("00000001", null, {
      firstKeptEntryId: "00000000",
      details: { readFiles: ["a"], modifiedFiles: ["b"] },
      pinnedTokens: 0,
    }),
    prune("00000001", null, { cleared: ["a"], trimmed: ["b", "c"], trimHead: 0, trimTail: 5 }),
    prune("00000001", null),
    branchSummary("00000001", null, ""),
  ];
  test.each(entries.map((value) => [value.type, value] as const))("%s", (_, value) => {
    expect(parseSessionLine(JSON.stringify(value))).toEqual({ kind: "entry", entry: value });
  });

  test("with the fields that a newer version added, in their places", () => {
    const line = JSON.stringify({
      type: "message",
      ...BASE,
      weight: 3,
      message: { role: "user", content: "hi", timestamp: 1, mood: "fine" },
      last: [],
    });
    const parsed = parseSessionLine(line);
    expect(parsed?.kind === "entry" && JSON.stringify(parsed.entry)).toBe(line);
  });
});

describe("what is kept without being understood", () => {
  const kept: Record<string, Record<string, unknown>> = {
    "an unknown type": { type: "hologram", ...BASE, data: [1, 2] },
    "a compaction that does not say what it keeps": { type: "compaction", ...BASE, summary: "s" },
    "a compaction without a summary": { type: "compaction", ...BASE, firstKeptEntryId: "a", summary: 1 },
    "a prune of nothing": { type: "prune", ...BASE, cleared: ["a"] },
    "a prune of what is no id": { type: "prune", ...BASE, cleared: [], trimmed: ["a", 1] },
    "a branch summary of no branch": { type: "branch_summary", ...BASE, summary: "s" },
    "a message of an unknown role": { type: "message", ...BASE, message: { role: "system", content: "x" } },
    "a message without one": { type: "message", ...BASE },
    "a change to no model": { type: "model_change", ...BASE },
    "a label on nothing": { type: "label", ...BASE, label: "x" },
  };
  test.each(Object.entries(kept))("%s", (_, raw) => {
    expect(parseSessionLine(JSON.stringify(raw))).toEqual({
      kind: "entry",
      entry: { type: "unknown", ...BASE, raw },
    });
  });
});

test.each([
  ["a torn line", '{"type":"message","id":"0000', undefined],
  ["a list", "[1]", undefined],
  ["a number", "7", undefined],
  ["JSON without an id", '{"type":"hologram"}', { kind: "other" }],
  ["an id that is no text", '{"type":"message","id":1,"parentId":null}', { kind: "other" }],
  ["a parent that is no text", '{"type":"message","id":"a","parentId":1}', { kind: "other" }],
] as const)("%s is no entry", (_, line, expected) => {
  expect(parseSessionLine(line)).toEqual(expected);
});

describe("figures that are not as they should be do not cost the entry", () => {
  const read = (value: object) => parseSessionLine(JSON.stringify(value));
  const kept = { type: "compaction", ...BASE, summary: "s", firstKeptEntryId: "a" } as const;

  test.each([
    [{}],
    [{ tokensBefore: "9", tokensAfter: -1, details: [], pinnedTokens: 1.5 }],
    [{ tokensBefore: null, details: "none", pinnedTokens: -1 }],
  ])("of a compaction: %j", (figures) => {
    const entry = { ...kept, tokensBefore: 0, tokensAfter: 0 };
    expect(read({ ...kept, ...figures })).toEqual({ kind: "entry", entry });
  });

  test("of a compaction's file lists, which keep what names a file", () => {
    const details = { readFiles: ["a", 7], modifiedFiles: null, more: true };
    expect<unknown>(read({ ...kept, tokensBefore: 1, tokensAfter: 2, details })).toEqual({
      kind: "entry",
      entry: {
        ...kept,
        tokensBefore: 1,
        tokensAfter: 2,
        details: { readFiles: ["a"], modifiedFiles: [], more: true },
      },
    });
  });

  test("of a prune", () => {
    const entry = prune("00000001", null, { cleared: ["a"] });
    expect(read({ ...entry, trimHead: "many", trimTail: -5 })).toEqual({ kind: "entry", entry });
  });
});

test("what a newer version adds to a compaction, a prune or a branch summary is kept", () => {
  const entries = [
    compaction("00000001", null, { firstKeptEntryId: "a" }),
    prune("00000001", null),
    branchSummary("00000001", null, "s"),
  ];
  for (const value of entries) {
    const entry: object = { ...value, weight: [3] };
    expect<unknown>(parseSessionLine(JSON.stringify(entry))).toEqual({ kind: "entry", entry });
  }
});

test("a header is told from an entry", () => {
  const value = { ...header(), parentSession: "20260101000000-000000", extra: true };
  expect(parseSessionLine(JSON.stringify(value))).toEqual({ kind: "header", value });
});

describe("a malformed message is repaired", () => {
  const read = (message: unknown): unknown =>
    parseSessionLine(JSON.stringify({ type: "message", ...BASE, message }));
  const saved = (message: unknown): unknown => ({
    kind: "entry",
    entry: { type: "message", ...BASE, message },
  });

  test("an assistant message without usage, model and stop reason", () => {
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(read({ role: "assistant", content: [] })).toEqual(
      saved({
        role: "assistant",
        content: [],
        model: "unknown",
        usage,
        stopReason: "end_turn",
        timestamp: 0,
      }),
    );
  });

  test("blocks that are none become opaque ones", () => {
    const content = [{ type: "text", text: "hi" }, { type: "text" }, null, { type: "hologram", data: 1 }];
    expect(read({ role: "user", content, timestamp: 1 })).toEqual(
      saved({
        role: "user",
        content: [
          { type: "text", text: "hi" },
          { type: "opaque", provider: "unknown", raw: { type: "text" } },
          { type: "opaque", provider: "unknown", raw: null },
          { type: "opaque", provider: "unknown", raw: { type: "hologram", data: 1 } },
        ],
        timestamp: 1,
      }),
    );
  });

  test("a tool result without output, and images that are none", () => {
    expect(read({ role: "tool_result", toolCallId: "a", images: [{ type: "text", text: "x" }] })).toEqual(
      saved({
        role: "tool_result",
        toolCallId: "a",
        toolName: "unknown",
        output: "",
        isError: false,
        timestamp: 0,
      }),
    );
  });
});
