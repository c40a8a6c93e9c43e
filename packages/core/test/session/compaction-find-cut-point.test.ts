import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findCutPoint } from "../../src/session/compaction.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import type { Message } from "../../src/types.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { STAMP } from "../support/session-files.ts";

type Place = Pick<SessionEntry, "id" | "parentId" | "timestamp">;
type Made = Message | ((place: Place) => SessionEntry);

/** A branch of entries with the ids e0, e1, … */
function path(...made: Made[]): SessionEntry[] {
  return made.map((each, index) => {
    const place = { id: `e${index}`, parentId: index === 0 ? null : `e${index - 1}`, timestamp: STAMP };
    return typeof each === "function" ? each(place) : { type: "message", ...place, message: each };
  });
}

const compaction =
  (firstKeptEntryId: string): Made =>
  (place) => ({
    type: "compaction",
    ...place,
    summary: "s",
    firstKeptEntryId,
    tokensBefore: 1,
    tokensAfter: 1,
  });

const label: Made = (place) => ({ type: "label", ...place, targetId: "e0", label: words(500) });

/** So many tokens. */
const words = (tokens: number) => "word".repeat(tokens);
const ask = (tokens = 100) => user(words(tokens));
const say = (tokens = 100) => assistant([text(words(tokens))]);

/** A reply that calls once for each id, an empty argument object and the name `read` being 2 tokens. */
const callFor = (...ids: string[]) => assistant(ids.map((id) => call(id)));
const answer = (id: string, tokens = 100) => result(id, words(tokens));

const idsOf = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id).join(" ");

function cut(entries: readonly SessionEntry[], keepRecentTokens: number) {
  const { entriesToSummarize, entriesToKeep, ...rest } = findCutPoint(entries, keepRecentTokens);
  return { summarize: idsOf(entriesToSummarize), keep: idsOf(entriesToKeep), ...rest };
}

const WHOLE_TURN = { isSplitTurn: false, turnStartIndex: undefined };

describe("a conversation that fits", () => {
  test("without entries has nothing to summarise", () => {
    expect(cut([], 100)).toEqual({ summarize: "", keep: "", firstKeptIndex: 0, ...WHOLE_TURN });
  });

  test("of a single turn is kept whole", () => {
    expect(cut(path(ask(), say()), 200)).toEqual({
      summarize: "",
      keep: "e0 e1",
      firstKeptIndex: 0,
      ...WHOLE_TURN,
    });
  });

  test("of entries without any words is kept whole, also when nothing is to be kept", () => {
    const entries = path((place) => ({ type: "session_info", ...place, name: "x" }), label);
    expect(cut(entries, 0).summarize).toBe("");
  });
});

describe("several turns", () => {
  const turns = path(ask(), say(), ask(), say(), ask(), say());

  test("are cut at the user message with which the kept tokens are exceeded", () => {
    expect(cut(turns, 150)).toEqual({
      summarize: "e0 e1 e2 e3",
      keep: "e4 e5",
      firstKeptIndex: 4,
      ...WHOLE_TURN,
    });
  });

  test("are cut at the next user message when they are exceeded inside a turn", () => {
    expect(cut(turns, 250).firstKeptIndex).toBe(4);
    expect(cut(turns, 350).firstKeptIndex).toBe(2);
  });

  test("are kept as long as the tokens are not exceeded", () => {
    expect(cut(turns, 600).summarize).toBe("");
    expect(cut(turns, 599)).toMatchObject({ summarize: "e0 e1", isSplitTurn: false });
  });

  test("with a long one before the last are cut in front of the last", () => {
    const entries = path(ask(5), callFor("a"), answer("a", 1_000), say(), ask(5), say(5));
    expect(cut(entries, 50)).toMatchObject({ summarize: "e0 e1 e2 e3", keep: "e4 e5", isSplitTurn: false });
  });

  test("are cut at a message that the user sent into a running turn", () => {
    const entries = path(ask(), callFor("a"), answer("a", 200), user("stop that"), say(50));
    expect(cut(entries, 100)).toMatchObject({ keep: "e3 e4", isSplitTurn: false });
  });

  test("are cut in front of a prompt that has no answer yet", () => {
    expect(cut(path(ask(), say(), ask(1)), 0)).toMatchObject({ summarize: "e0 e1", keep: "e2" });
  });
});

describe("a turn that is larger than what may be kept", () => {
  test("is split at the next assistant message, with its user message in the summary", () => {
    const entries = path(ask(), say(), ask(), callFor("a"), answer("a"), callFor("b"), answer("b"), say());
    expect(cut(entries, 250)).toEqual({
      summarize: "e0 e1 e2 e3 e4",
      keep: "e5 e6 e7",
      firstKeptIndex: 5,
      isSplitTurn: true,
      turnStartIndex: 2,
    });
  });

  test("is never cut at a tool result", () => {
    const entries = path(ask(), callFor("a", "b", "c"), answer("a"), answer("b"), answer("c"), say(1));
    for (const kept of [1, 50, 150, 250]) expect(cut(entries, kept)).toMatchObject({ keep: "e5" });
    expect(cut(entries, 400).keep).toBe("e1 e2 e3 e4 e5");
  });

  test("keeps its last assistant message with all results, however large they are", () => {
    const entries = path(ask(), callFor("a"), answer("a"), callFor("b", "c"), answer("b", 900), answer("c"));
    for (const kept of [0, 100, 950]) {
      expect(cut(entries, kept)).toMatchObject({
        summarize: "e0 e1 e2",
        keep: "e3 e4 e5",
        isSplitTurn: true,
      });
    }
  });

  test("keeps the last answer when nothing is to be kept", () => {
    expect(cut(path(ask(), say(), ask(), say(1)), 0)).toMatchObject({ keep: "e3", turnStartIndex: 2 });
  });

  test("leaves a large user message at its beginning to the summary", () => {
    expect(cut(path(ask(900), callFor("a"), answer("a")), 200)).toMatchObject({
      summarize: "e0",
      keep: "e1 e2",
      isSplitTurn: true,
      turnStartIndex: 0,
    });
  });

  test("cannot be cut when it is a single message, or one reply with its results", () => {
    expect(cut(path(ask(900)), 100)).toMatchObject({ summarize: "", keep: "e0", isSplitTurn: false });
    expect(cut(path(callFor("a"), answer("a", 900)), 0)).toMatchObject({ summarize: "", keep: "e0 e1" });
    expect(cut(path(answer("a"), answer("b")), 0)).toMatchObject({ summarize: "" });
  });
});

describe("a call and its results", () => {
  test("stay together when a user message came between them", () => {
    const entries = path(ask(), callFor("a", "b"), answer("a"), ask(1), answer("b"), say(1));
    expect(cut(entries, 50)).toMatchObject({ keep: "e5" });
    expect(cut(entries, 102)).toMatchObject({ keep: "e5" });
  });

  test("are those of the newest message when an id comes back", () => {
    const entries = path(ask(), callFor("a"), answer("a"), ask(1), callFor("a"), answer("a"));
    expect(cut(entries, 101)).toMatchObject({ keep: "e4 e5" });
    expect(cut(entries, 102)).toMatchObject({ keep: "e3 e4 e5" });
  });

  test("do not hinder a cut behind an answer that comes a second time", () => {
    const entries = path(ask(), callFor("a"), answer("a"), ask(), say(), answer("a", 1));
    expect(cut(entries, 200)).toMatchObject({ keep: "e3 e4 e5" });
  });

  test("may be parted where there is no result, since the turn was interrupted", () => {
    expect(cut(path(ask(), callFor("a"), ask(), say()), 150)).toMatchObject({ keep: "e2 e3" });
  });
});

describe("entries that are no messages", () => {
  test("carry no tokens and are never the first that is kept", () => {
    const notes: Made[] = [
      (place) => ({ type: "model_change", ...place, provider: "p", modelId: "m" }),
      (place) => ({ type: "session_info", ...place, name: words(500) }),
      label,
      (place) => ({ type: "prune", ...place, cleared: [words(500)], trimmed: [] }),
      (place) => ({ type: "unknown", ...place, raw: { text: words(500) } }),
    ];
    const entries = path(ask(), say(), ...notes, ask(), say(), ...notes);
    expect(cut(entries, 150)).toMatchObject({ firstKeptIndex: 7, summarize: "e0 e1 e2 e3 e4 e5 e6" });
    expect(cut(entries, 400).summarize).toBe("");
  });

  test("count by their words when they summarise a branch", () => {
    const entries = path(
      ask(),
      say(),
      (place) => ({ type: "branch_summary", ...place, fromId: "x", summary: words(300) }),
      ask(),
      say(),
    );
    expect(cut(entries, 400)).toMatchObject({ summarize: "e0 e1 e2", keep: "e3 e4" });
  });
});

describe("a conversation that was compacted before", () => {
  test("is summarised from what the last compaction kept on, without the compaction", () => {
    const entries = path(ask(), say(), ask(), say(), compaction("e2"), ask(), say(), ask(), say());
    expect(cut(entries, 150)).toEqual({
      summarize: "e2 e3 e5 e6",
      keep: "e7 e8",
      firstKeptIndex: 7,
      ...WHOLE_TURN,
    });
    expect(cut(entries, 600)).toMatchObject({ summarize: "", keep: "e2 e3 e5 e6 e7 e8", firstKeptIndex: 2 });
  });

  test("may be cut in front of the last compaction", () => {
    const entries = path(ask(), say(), ask(), say(), ask(), say(), compaction("e2"), ask(), say());
    expect(cut(entries, 350)).toMatchObject({ summarize: "e2 e3", keep: "e4 e5 e7 e8", firstKeptIndex: 4 });
  });

  test("goes by the latest of several compactions", () => {
    const entries = path(ask(), say(), compaction("e1"), ask(), say(), compaction("e3"), ask(), say());
    expect(cut(entries, 150)).toMatchObject({ summarize: "e3 e4", keep: "e6 e7" });
  });

  test("whose first kept entry is missing is summarised from behind the compaction", () => {
    const entries = path(ask(), say(), compaction("gone"), ask(), say(), ask(), say());
    expect(cut(entries, 150)).toMatchObject({ summarize: "e3 e4", keep: "e5 e6" });
    expect(cut(entries, 400)).toMatchObject({ summarize: "", keep: "e3 e4 e5 e6", firstKeptIndex: 3 });
    expect(cut(path(ask(), compaction("gone")), 0)).toMatchObject({ summarize: "", firstKeptIndex: 2 });
  });

  test("in the middle of a turn reports where the rest of that turn begins", () => {
    const entries = path(ask(), say(), compaction("e1"), callFor("a"), answer("a"), say(), say());
    expect(cut(entries, 150)).toMatchObject({ summarize: "e1 e3 e4", keep: "e5 e6", turnStartIndex: 1 });
  });

  test("right after a compaction that left nothing to cut has nothing to summarise", () => {
    expect(cut(path(ask(), say(), ask(), say(), compaction("e3")), 0).summarize).toBe("");
  });
});

test("no conversation is cut at a result, parted between call and result, or loses an entry", () => {
  const message = fc.oneof(
    fc.nat(60).map(ask),
    fc.nat(60).map(say),
    fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }).map((ids) => callFor(...ids)),
    fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(60)).map(([id, tokens]) => answer(id, tokens)),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 30 }), fc.nat(400), (messages, kept) => {
      const entries = path(...messages);
      const { firstKeptIndex, entriesToSummarize, entriesToKeep } = findCutPoint(entries, kept);
      expect([...entriesToSummarize, ...entriesToKeep]).toEqual(entries);
      if (entriesToSummarize.length === 0) return;
      expect(firstKeptIndex).toBe(entriesToSummarize.length);
      expect(messages[firstKeptIndex]?.role).toBeOneOf(["user", "assistant"]);
      expect(partedCalls(messages, firstKeptIndex)).toEqual([]);
    }),
  );
});

/** The calls before `index` that are first answered at or behind it. */
function partedCalls(messages: readonly Message[], index: number): string[] {
  const open = new Map<string, number>();
  return messages.flatMap((message, at) => {
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "tool_call") open.set(block.id, at);
    }
    if (message.role !== "tool_result") return [];
    const callAt = open.get(message.toolCallId);
    open.delete(message.toolCallId);
    return callAt !== undefined && callAt < index && at >= index ? [message.toolCallId] : [];
  });
}
