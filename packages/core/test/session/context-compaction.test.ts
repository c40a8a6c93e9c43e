import { describe, expect, test } from "bun:test";
import { formatFileOperations, formatPinnedMessages } from "../../src/session/compaction/cut-point.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { readConversation } from "../../src/session/open.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import type { CompactionEntry, SessionEntry } from "../../src/session/types.ts";
import type { Message, UserMessage } from "../../src/types.ts";
import { branchSummary, compaction, inLine, modelChange } from "../support/context-entries.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { chain, entry, entryId, header, STAMP, toLines, writeSessionFile } from "../support/session-files.ts";

const MOMENT = Date.parse(STAMP);

const RECALL = "\n\nThe recall tool searches and reads the messages that this summary replaces.";

function told(content: string): UserMessage {
  return { role: "user", content, timestamp: MOMENT };
}

function question(index: number): UserMessage {
  return { ...told(`question ${index}`), timestamp: 1_700_000_000_000 };
}

function messagesFrom(first: number, last: number): Message[] {
  return chain(last + 1).flatMap(({ message }, index) => (index >= first ? [message] : []));
}

/** Four turns, a compaction that keeps from `firstKept` on, and one more turn. */
function compacted(firstKept: number, fields: Partial<CompactionEntry> = {}): SessionEntry[] {
  const entries = chain(10);
  const kept = { firstKeptEntryId: entryId(firstKept), ...fields };
  return inLine(...entries.slice(0, 8), compaction("c0000001", null, kept), ...entries.slice(8));
}

const summaryOf = (entries: readonly SessionEntry[]) => buildSessionContext(entries).messages[0];

describe("the context behind a compaction", () => {
  test("is the summary, what was kept, and what follows", () => {
    expect(buildSessionContext(compacted(4))).toEqual({
      messages: [told("[Session Summary]\nsummary of c0000001"), ...messagesFrom(4, 9)],
    });
  });

  test("may keep the end of a turn, whose head is in the summary", () => {
    const [summary, ...rest] = buildSessionContext(compacted(5)).messages;
    expect([summary?.role, rest]).toEqual(["user", messagesFrom(5, 9)]);
  });

  test("ends in the kept part when nothing follows yet", () => {
    const entries = compacted(6).slice(0, 9);
    expect(buildSessionContext(entries).messages.slice(1)).toEqual(messagesFrom(6, 7));
  });

  test("keeps nothing when the first kept entry is not on the branch", () => {
    for (const firstKeptEntryId of ["nowhere0", "c0000001", entryId(9)]) {
      const { messages } = buildSessionContext(compacted(0, { firstKeptEntryId }));
      expect(messages.slice(1)).toEqual(messagesFrom(8, 9));
    }
  });

  test("keeps what is left of the kept part when only the line of its first entry is damaged", () => {
    const entries = compacted(4);
    const damaged = [...entries.slice(0, 4), ...entries.slice(5)];
    expect(buildSessionContext(damaged).messages.slice(1)).toEqual(messagesFrom(5, 9));
  });

  test("names a model that was changed to in the summarised part", () => {
    const entries = inLine(
      ...chain(1),
      modelChange("m", null, "one"),
      ...chain(4).slice(1),
      compaction("c", null, { firstKeptEntryId: entryId(2) }),
    );
    expect(buildSessionContext(entries).currentModel).toEqual({ provider: "anthropic", modelId: "one" });
  });

  test("is told at the moment of the compaction, or at none when its time is damaged", () => {
    expect(summaryOf(compacted(4))?.timestamp).toBe(MOMENT);
    expect(summaryOf(compacted(4, { timestamp: "yesterday" }))?.timestamp).toBe(0);
  });
});

describe("of several compactions on a branch", () => {
  const entries = inLine(
    ...chain(4),
    compaction("c1", null, { firstKeptEntryId: entryId(2) }),
    ...chain(8).slice(4),
    compaction("c2", null, { firstKeptEntryId: entryId(6), pinnedTokens: 500 }),
    ...chain(10).slice(8),
  );

  test("the latest counts", () => {
    expect(buildSessionContext(entries).messages).toEqual([
      told(
        `[Session Summary]\nsummary of c2\n\n${formatPinnedMessages([question(0), question(2), question(4)], 500)}`,
      ),
      ...messagesFrom(6, 9),
    ]);
  });

  test("an earlier one that the latest keeps is no part of the context", () => {
    const late = inLine(...entries.slice(0, 9), compaction("c2", null, { firstKeptEntryId: entryId(3) }));
    expect(buildSessionContext(late).messages).toEqual([
      told("[Session Summary]\nsummary of c2"),
      ...messagesFrom(3, 7),
    ]);
  });

  test("a branch from between them sees the first, and one from before both sees the old messages", () => {
    expect(buildSessionContext(entries, entryId(5)).messages).toEqual([
      told("[Session Summary]\nsummary of c1"),
      ...messagesFrom(2, 5),
    ]);
    expect(buildSessionContext(entries, entryId(3)).messages).toEqual(messagesFrom(0, 3));
  });

  test("a damaged one is skipped and the one before it is used", () => {
    const lines = [header(), ...entries].map((value) =>
      "id" in value && value.id === "c2" ? { ...value, firstKeptEntryId: 7 } : value,
    );
    const { entries: read } = readSessionFile(writeSessionFile(toLines(lines)));
    expect(read.find(({ id }) => id === "c2")?.type).toBe("unknown");
    const { messages } = readConversation({ entries: read });
    expect(messages).toEqual([told("[Session Summary]\nsummary of c1"), ...messagesFrom(2, 9)]);
  });

  test("a torn one, in the middle of the file or at its end, costs nothing else", () => {
    const whole = [header(), ...entries].map((value) => JSON.stringify(value));
    const at = whole.findIndex((line) => line.includes('"id":"c2"'));
    const torn = whole.map((line, index) => (index === at ? line.slice(0, 90) : line));
    for (const lines of [torn, torn.slice(0, at + 1)]) {
      const { entries: read, skippedLines } = readSessionFile(writeSessionFile(lines.join("\n")));
      const last = lines.length > at + 1 ? 9 : 7;
      const { messages } = readConversation({ entries: read });
      expect(skippedLines).toBe(1);
      expect(messages).toEqual([told("[Session Summary]\nsummary of c1"), ...messagesFrom(2, last)]);
    }
  });
});

describe("beside the summary stand", () => {
  const details = { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] };
  const lists = formatFileOperations(details);

  test("the files, behind what the user said", () => {
    const pinned = formatPinnedMessages([question(0), question(2)], 700);
    const [message] = buildSessionContext(compacted(4, { details, pinnedTokens: 700 })).messages;
    expect(message).toEqual(told(`[Session Summary]\nsummary of c0000001\n\n${pinned}${RECALL}${lists}`));
  });

  test("nothing the user said when nothing of it was summarised, and no files when there were none", () => {
    const empty = { readFiles: [], modifiedFiles: [] };
    expect(summaryOf(compacted(0, { details: empty, pinnedTokens: 700 }))).toEqual(
      told(`[Session Summary]\nsummary of c0000001${RECALL}`),
    );
  });

  test("the file lists once when the summary holds them already", () => {
    const expected = told(`[Session Summary]\n## Goal\n- a.ts${RECALL}${lists}`);
    const forms = [
      lists,
      "\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>\n",
      "\n\n## Files Read\n- a.ts\n\n## Files Modified\n- b.ts\n",
    ];
    for (const form of forms)
      expect(summaryOf(compacted(4, { summary: `## Goal\n- a.ts${form}`, details }))).toEqual(expected);
  });

  test("what a summary says of other files", () => {
    const summary = "## Files Read\n- other.ts: the parser\n- a.ts";
    expect(summaryOf(compacted(4, { summary, details }))).toEqual(
      told(`[Session Summary]\n${summary}${RECALL}${lists}`),
    );
  });
});

test("a summary of a branch that was left is told as a message of the user", () => {
  const entries = inLine(
    ...chain(2),
    branchSummary("b", null, "tried it the other way"),
    entry("z", null, "go on"),
  );
  expect(buildSessionContext(entries).messages).toEqual([
    ...messagesFrom(0, 1),
    told("[Branch Summary]\ntried it the other way"),
    user("go on"),
  ]);
});

test("a call whose result was summarized away, or the reverse, is repaired", () => {
  const turn = [
    entry("1", null, "go"),
    entry("2", null, assistant([call("a"), call("b")])),
    entry("3", null, result("a", "one")),
    entry("4", null, result("b", "two")),
    entry("5", null, assistant([text("done")])),
  ];
  const entries = inLine(...turn, compaction("c", null, { firstKeptEntryId: "4" }), entry("6", null, "on"));
  expect(buildSessionContext(entries).messages.slice(1)).toEqual([assistant([text("done")]), user("on")]);
});

test("asked for again, it is the very same messages; on another branch the same summary has other words beside it", () => {
  const entries = compacted(4, { pinnedTokens: 700 });
  const [first, second] = [buildSessionContext(entries), buildSessionContext(entries)];
  expect(first.messages.every((message, index) => message === second.messages[index])).toBe(true);
  const elsewhere = [entry(entryId(7), null, "something else"), ...entries.slice(8, 9)];
  const pinned = formatPinnedMessages([{ ...question(0), content: "something else" }], 700);
  expect(summaryOf(elsewhere)).toEqual(told(`[Session Summary]\nsummary of c0000001\n\n${pinned}`));
});
