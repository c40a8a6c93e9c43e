import { describe, expect, test } from "bun:test";
import type { PruningLimits } from "../../src/session/compaction/limits.ts";
import { planPruning } from "../../src/session/compaction/pruning.ts";
import { contextMessages } from "../../src/session/context-builder.ts";
import type { SessionEntry, SessionMessageEntry } from "../../src/session/types.ts";
import type { Message } from "../../src/types.ts";
import { compaction, inLine, prune } from "../support/context-entries.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import { entry } from "../support/session-files.ts";

const DEFAULTS: PruningLimits = {
  enabled: true,
  softTrimChars: 4_000,
  softTrimHead: 1_500,
  softTrimTail: 1_500,
  hardClearAfter: 6,
  keepLast: 2,
  minimumTokens: 1,
  protectTokens: 0,
  startRatio: 0,
};

const SIZES = { trimHead: 1_500, trimTail: 1_500 };

/** A turn with one call for each output, all of them answered; its results are `r0`, `r1`, … of the whole row. */
function turns(...rows: (string | Partial<Parameters<typeof result>[2]>)[][]): SessionMessageEntry[] {
  let count = 0;
  const entries = rows.flatMap((outputs, row) => {
    const results = outputs.map((output) => {
      const id = `r${count++}`;
      const message = typeof output === "string" ? result(id, output) : result(id, "x".repeat(9000), output);
      return entry(id, null, message);
    });
    const calls = assistant(results.map(({ id }) => call(id)));
    return [
      entry(`u${row}`, null, "go"),
      entry(`a${row}`, null, calls),
      ...results,
      entry(`e${row}`, null, assistant([text("ok")])),
    ];
  });
  return inLine(...entries).flatMap((each) => (each.type === "message" ? [each] : []));
}

const big = (chars = 9000) => "x".repeat(chars);
const oneEach = (...outputs: string[]) => turns(...outputs.map((output) => [output]));
const plan = (path: readonly SessionEntry[], limits: Partial<PruningLimits> = {}) =>
  planPruning(path, { ...DEFAULTS, ...limits });

describe("what is shortened", () => {
  test("older results than the newest six are cleared, long ones among these trimmed, the newest two left alone", () => {
    expect(plan(oneEach(...Array.from({ length: 9 }, () => big())))).toEqual({
      cleared: ["r0", "r1", "r2"],
      trimmed: ["r3", "r4", "r5", "r6"],
      ...SIZES,
    });
  });

  test("a result of exactly the length that is allowed is not trimmed, one character more is", () => {
    expect(plan(oneEach(big(4000), big(4001), "", ""))).toMatchObject({ cleared: [], trimmed: ["r1"] });
  });

  test("an old result that is no longer than the placeholder stays as it is", () => {
    const placeholder =
      "[Tool output cleared — content was processed in earlier turns. It was the result of read {}: 999 characters. " +
      'To see it again, call recall with {"entry":"r0"} or repeat the call.]';
    const short = "y".repeat(placeholder.length);
    const path = oneEach(short, `${short}y`, ...Array.from({ length: 6 }, () => "z"));
    expect(plan(path, { minimumTokens: 0 })).toMatchObject({ cleared: ["r1"], trimmed: [] });
  });

  test("a result with images is skipped, and still counts as one", () => {
    const images = [image()];
    const path = turns(
      ["a".repeat(5000)],
      [{ images }],
      [{ images }],
      ...Array.from({ length: 5 }, () => ["z"]),
    );
    expect(plan(path)).toMatchObject({ cleared: ["r0"], trimmed: [] });
  });

  test("failed results too", () => {
    expect(plan(turns([{ isError: true }], ["a"], ["b"]))).toMatchObject({ trimmed: ["r0"] });
  });

  test("results that the model has not seen are not, however many came at once", () => {
    const [prompt, calls, ...rest] = turns(Array.from({ length: 10 }, () => big()));
    const unseen = [prompt, calls, ...rest.slice(0, 10)].flatMap((each) => each ?? []);
    expect(plan(unseen)).toBeUndefined();
    expect(plan([...unseen, entry("x", "r9", assistant([], { stopReason: "error" }))])).toBeUndefined();
    expect(plan([...unseen, ...rest.slice(10)])).toMatchObject({ cleared: ["r0", "r1", "r2", "r3"] });
  });

  test("unless nothing is protected: then unseen results are trimmed, and never cleared", () => {
    const [prompt, calls, ...rest] = turns(Array.from({ length: 3 }, () => big()));
    const unseen = [prompt, calls, ...rest.slice(0, 3)].flatMap((each) => each ?? []);
    expect(plan(unseen, { keepLast: 0, hardClearAfter: 1 })).toMatchObject({
      cleared: [],
      trimmed: ["r0", "r1", "r2"],
    });
  });

  test("neither words of the user nor of the model", () => {
    const long = big(100_000);
    const path = inLine(
      entry("1", null, long),
      entry("2", null, assistant([text(long), { type: "thinking", thinking: long }])),
      entry("3", null, long),
    );
    expect(plan(path, { keepLast: 0 })).toBeUndefined();
  });
});

describe("planPruning() spares", () => {
  const path = oneEach(...Array.from({ length: 12 }, () => big(8_000)));

  test("the newest protectTokens of results, the one that reaches over that limit included", () => {
    expect(plan(path, { protectTokens: 8_000 })).toMatchObject({
      cleared: ["r0", "r1", "r2", "r3", "r4", "r5"],
      trimmed: ["r6", "r7"],
    });
    expect(plan(path, { protectTokens: 8_001 })).toMatchObject({ trimmed: ["r6"] });
    expect(plan(path, { protectTokens: 24_000 })).toBeUndefined();
  });

  test("the newer of the old results once wantedTokens are gained", () => {
    const some = planPruning(path, { ...DEFAULTS, wantedTokens: 3_000 });
    expect(some).toMatchObject({ cleared: ["r0", "r1"], trimmed: [] });
    const least = planPruning(path, { ...DEFAULTS, minimumTokens: 5_000, wantedTokens: 1 });
    expect(least).toMatchObject({ cleared: ["r0", "r1", "r2"] });
  });
});

test("planPruning() spares the texts of skills, unless nothing else is left to shorten", () => {
  const rows = Array.from({ length: 9 }, (_, index) => [index === 1 ? { toolName: "skill" } : big()]);
  expect(plan(turns(...rows))).toMatchObject({
    cleared: ["r0", "r2"],
    trimmed: ["r3", "r4", "r5", "r6"],
  });
  expect(plan(turns(...rows), { keepLast: 0 })).toMatchObject({ cleared: ["r0", "r1", "r2"] });
});

describe("what is shortened already", () => {
  const path = oneEach(...Array.from({ length: 5 }, () => big()));

  test("is not trimmed again", () => {
    const pruned = inLine(...path, prune("p", null, { trimmed: ["r0", "r1", "r2"] }));
    expect(plan(pruned)).toBeUndefined();
  });

  test("is cleared when it has become old", () => {
    const older = oneEach(...Array.from({ length: 9 }, () => big(4500)));
    const pruned = inLine(
      ...older,
      prune("p", null, { trimmed: ["r0", "r1", "r2", "r3", "r4"], cleared: [] }),
    );
    expect(plan(pruned)).toMatchObject({ cleared: ["r0", "r1", "r2"], trimmed: ["r5", "r6"] });
  });

  test("and what was summarised away is not counted", () => {
    const compacted = inLine(...path, compaction("c", null, { firstKeptEntryId: "r3" }));
    expect(plan(compacted)).toBeUndefined();
  });
});

describe("pruning waits", () => {
  const path = oneEach(big(24_000), big(24_000), "a", "b");

  test("until as many tokens as it takes can go at once, at four characters each", () => {
    // Kept of each: twice 1,500 characters, and a line that says so with its two ends.
    const marker =
      "\n--- trimmed (kept 1500 head + 1500 tail of 24000 chars) --- result of read {}; " +
      'to see it whole, call recall with {"entry":"r0"}\n';
    const gained = Math.floor((2 * (24_000 - 3_000 - marker.length)) / 4);
    expect(plan(path, { minimumTokens: gained })).toMatchObject({ trimmed: ["r0", "r1"] });
    expect(plan(path, { minimumTokens: gained + 1 })).toBeUndefined();
  });

  test("for ever when it is off, when there is nothing, and when all is protected", () => {
    expect(plan(path, { enabled: false })).toBeUndefined();
    expect(plan([])).toBeUndefined();
    expect(plan(path, { keepLast: 4 })).toBeUndefined();
    expect(plan(oneEach("a", "b", "c", "d"), { minimumTokens: 0 })).toBeUndefined();
  });
});

test.each([
  { softTrimHead: 4_000, softTrimTail: 4_000 },
  { softTrimHead: 9_000, softTrimTail: 0 },
  { softTrimHead: 4_480, softTrimTail: 4_480 },
  { softTrimChars: 1, softTrimHead: 1_000_000, softTrimTail: 1_000_000 },
  { softTrimChars: 1, softTrimHead: 0, softTrimTail: 0 },
  { hardClearAfter: 1, keepLast: 0 },
  { hardClearAfter: 1, keepLast: 100 },
])("settings %j make no result longer", (settings) => {
  const path = oneEach("", "a", big(60), big(63), big(100), big(9000), big(9001), "end");
  const pruned = plan(path, settings);
  const after = pruned ? inLine(...path, prune("p", null, pruned)) : path;
  const lengths = (entries: readonly SessionEntry[]) =>
    contextMessages(entries).map(({ message }) => lengthOf(message));
  const [before, now] = [lengths(path), lengths(after)];
  expect(now.every((length, index) => length <= (before[index] ?? 0))).toBe(true);
});

function lengthOf(message: Message): number {
  return message.role === "tool_result" ? message.output.length : JSON.stringify(message.content).length;
}

test("every id that a plan names is shortened by it, so that the next plan does not name it again", () => {
  const path = oneEach(...Array.from({ length: 20 }, (_, index) => big(index * 700)));
  const pruned = plan(path);
  const after = inLine(...path, prune("p", null, pruned));
  const shown = new Map(contextMessages(after).map(({ entry: { id }, message }) => [id, message]));
  const ids = [...(pruned?.cleared ?? []), ...(pruned?.trimmed ?? [])];
  const original = new Map(path.map(({ id, message }) => [id, message]));
  expect(ids.length).toBeGreaterThan(10);
  expect(
    ids.filter((id) => lengthOf(shown.get(id) ?? user("")) >= lengthOf(original.get(id) ?? user(""))),
  ).toEqual([]);
  expect(plan(after)).toBeUndefined();
});
