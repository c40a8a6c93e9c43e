import { describe, expect, test } from "bun:test";
import { OUTCOME_UNKNOWN } from "../../src/history.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { readConversation } from "../../src/session/open.ts";
import { findLeafId, pathTo } from "../../src/session/tree.ts";
import type { SessionEntry, UnknownEntry } from "../../src/session/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { compaction, inLine, modelChange, prune } from "../support/context-entries.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { chain, entry, entryId, STAMP } from "../support/session-files.ts";

function unknown(id: string, parentId: string | null, type: string): UnknownEntry {
  return { type: "unknown", id, parentId, timestamp: STAMP, raw: { type, id, parentId, timestamp: STAMP } };
}

const messagesOf = (entries: readonly SessionEntry[]) =>
  entries.flatMap((each) => (each.type === "message" ? [each.message] : []));

describe("the context of a session", () => {
  test("without entries is empty", () => {
    expect(buildSessionContext([])).toEqual({ messages: [] });
  });

  test("of a straight conversation is its messages in order", () => {
    const entries = chain(6);
    expect(buildSessionContext(entries)).toEqual({ messages: messagesOf(entries) });
    expect(buildSessionContext(entries, entryId(2))).toEqual({ messages: messagesOf(entries.slice(0, 3)) });
  });

  test("of a branch holds the branch and what it grew from, and nothing of the others", () => {
    const [first, second] = chain(2);
    const left = entry("left0000", entryId(1), "to the left");
    const right = entry("right000", entryId(1), "to the right");
    const further = entry("right001", "right000", assistant([text("yes")]));
    const entries = [first, second, left, right, further].filter((each) => each !== undefined);
    expect(buildSessionContext(entries, "left0000").messages).toEqual(messagesOf([...chain(2), left]));
    expect(buildSessionContext(entries).messages).toEqual(messagesOf([...chain(2), right, further]));
  });

  test("names the last model it was changed to, on its own branch", () => {
    const entries = [
      ...chain(2),
      modelChange("m1", entryId(1), "one"),
      entry("a", "m1", "hi"),
      modelChange("m2", "a", "two"),
      modelChange("m3", entryId(1), "three"),
    ];
    expect(buildSessionContext(entries, "m2").currentModel).toEqual({
      provider: "anthropic",
      modelId: "two",
    });
    expect(buildSessionContext(entries, "a").currentModel).toEqual({ provider: "anthropic", modelId: "one" });
    expect(buildSessionContext(entries).currentModel).toEqual({ provider: "anthropic", modelId: "three" });
    expect(buildSessionContext(entries, entryId(1))).not.toHaveProperty("currentModel");
  });

  test("passes over names, labels and entries it does not know, but goes through them", () => {
    const entries: SessionEntry[] = [
      ...chain(1),
      { type: "session_info", id: "i", parentId: entryId(0), timestamp: STAMP, name: "n" },
      { type: "label", id: "l", parentId: "i", timestamp: STAMP, targetId: entryId(0) },
      unknown("u", "l", "hologram"),
      entry("z", "u", assistant([text("end")])),
    ];
    expect(buildSessionContext(entries).messages).toEqual([
      ...messagesOf(chain(1)),
      assistant([text("end")]),
    ]);
  });

  test("gives a call that was cut off a result, which says that its outcome is unknown", () => {
    const entries = [
      entry("1", null, "go"),
      entry("2", "1", assistant([call("a"), call("b")])),
      entry("3", "2", result("b", "fine")),
    ];
    expect(buildSessionContext(entries).messages).toEqual([
      user("go"),
      assistant([call("a"), call("b")]),
      result("a", OUTCOME_UNKNOWN, { isError: true, outcome: "interrupted" }),
      result("b", "fine"),
    ]);
  });

  test("at the very beginning, or at an entry that is not there, is empty", () => {
    expect(buildSessionContext(chain(2), null)).toEqual({ messages: [] });
    expect(buildSessionContext(chain(2), "nowhere")).toEqual({ messages: [] });
  });
});

describe("where a session continues", () => {
  test.each(["compaction", "branch_summary", "prune"])("is behind a %s of a newer version too", (type) => {
    expect(findLeafId([...chain(2), unknown("x", entryId(1), type)])).toBe("x");
  });

  test("is behind a change of the model", () => {
    expect(findLeafId([...chain(2), modelChange("m", entryId(1), "one")])).toBe("m");
  });

  test("is not behind a name, a label or what is not known", () => {
    const notes: SessionEntry[] = [
      { type: "session_info", id: "i", parentId: entryId(1), timestamp: STAMP, name: "n" },
      { type: "label", id: "l", parentId: entryId(1), timestamp: STAMP, targetId: entryId(0) },
      unknown("u", entryId(1), "hologram"),
    ];
    expect(findLeafId([...chain(2), ...notes])).toBe(entryId(1));
  });

  test("is the beginning without a message", () => {
    expect(findLeafId([{ type: "session_info", id: "i", parentId: null, timestamp: STAMP }])).toBeNull();
  });

  test("is the branch that grew last", () => {
    const entries = [...chain(4), entry("b", entryId(1), "another way")];
    expect(findLeafId(entries)).toBe("b");
    expect(readConversation({ entries })).toEqual({
      messages: [...messagesOf(chain(2)), user("another way")],
      lastModelId: "test-model",
      path: pathTo(entries, "b"),
    });
  });
});

test("a context of 20,000 entries is built without a stack or a time that grows out of hand", () => {
  const entries = chain(20_000);
  const startedAt = performance.now();
  expect(pathTo(entries.toReversed(), entryId(19_999))).toHaveLength(20_000);
  expect(findLeafId(entries.toReversed())).toBe(entryId(19_999));
  expect(buildSessionContext(entries).messages).toHaveLength(20_000);
  expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
});

test("a context of 20,000 entries that was compacted and pruned is built again in a moment", () => {
  const talk = chain(20_000);
  const entries = inLine(
    ...talk,
    compaction("c", null, { firstKeptEntryId: entryId(10_000), pinnedTokens: 40_000 }),
    prune("p", null, { cleared: talk.map(({ id }) => id) }),
  );
  const { messages } = buildSessionContext(entries);
  const startedAt = performance.now();
  for (let round = 0; round < 20; round++) buildSessionContext(entries);
  // A few milliseconds each; a machine that is busy with other things may need more.
  expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
  expect(messages).toHaveLength(10_001);
});
