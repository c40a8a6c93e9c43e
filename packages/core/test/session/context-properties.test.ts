import { expect, test } from "bun:test";
import fc from "fast-check";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import { planPruning } from "../../src/session/compaction/pruning.ts";
import { buildSessionContext, contextMessages } from "../../src/session/context-builder.ts";
import { parseSessionLine } from "../../src/session/parse-line.ts";
import { findLeafId, pathTo } from "../../src/session/tree.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import type { Message } from "../../src/types.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { branchSummary, compaction, modelChange, prune } from "../support/context-entries.ts";
import { createFuzzedHistory, createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, result, user } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";
import { entry, STAMP } from "../support/session-files.ts";

type Random = () => number;

const upTo = (random: Random, count: number) => Math.floor(random() * count);

/** A tree of everything that can stand in a file, with branches, lost parents, doubled ids and names of nothing. */
function createTree(random: Random): SessionEntry[] {
  const entries: SessionEntry[] = [];
  const anyId = () =>
    random() < 0.1 ? "nowhere0" : (entries[upTo(random, entries.length)]?.id ?? "nowhere0");
  const anyIds = () => Array.from({ length: upTo(random, 12) }, anyId);
  const add = (make: (id: string, parentId: string | null) => SessionEntry) => {
    const id = random() < 0.02 ? anyId() : entries.length.toString(16).padStart(8, "0");
    const before = entries.at(-1)?.id ?? null;
    entries.push(make(id, random() < 0.1 ? anyId() : random() < 0.02 ? null : before));
  };
  const count = 1 + upTo(random, 12);
  for (let round = 0; round < count; round++) {
    for (const message of createFuzzedHistory(random)) add((id, parentId) => entry(id, parentId, message));
    const kind = random();
    if (kind < 0.3) {
      const fields = {
        firstKeptEntryId: anyId(),
        summary: ["", " ", "## Goal\ngo", "\ud83d"][upTo(random, 4)] ?? "",
        ...(random() < 0.5 && { pinnedTokens: upTo(random, 200) }),
        ...(random() < 0.5 && { pinnedEntryIds: anyIds() }),
        ...(random() < 0.5 && { details: { readFiles: ["a"], modifiedFiles: random() < 0.5 ? ["b"] : [] } }),
      };
      add((id, parentId) => compaction(id, parentId, fields));
    } else if (kind < 0.6) {
      const sizes = random() < 0.5 ? { trimHead: upTo(random, 9), trimTail: upTo(random, 9) } : {};
      add((id, parentId) => prune(id, parentId, { cleared: anyIds(), trimmed: anyIds(), ...sizes }));
    } else if (kind < 0.7) add((id, parentId) => branchSummary(id, parentId, "went wrong"));
    else if (kind < 0.8) add((id, parentId) => modelChange(id, parentId, "other"));
    else if (kind < 0.9)
      add((id, parentId) => ({ type: "label", id, parentId, timestamp: STAMP, targetId: "x" }));
    const compactions = entries.filter(({ type }) => type === "compaction");
    const undone = compactions[upTo(random, compactions.length)];
    if (undone && random() < 0.3)
      add((id, parentId) => ({
        type: "compaction_undo",
        id,
        parentId,
        timestamp: STAMP,
        targetId: undone.id,
      }));
  }
  return entries;
}

/** What the providers would refuse about a request with these messages. */
function problemsOf(messages: readonly Message[]): string[] {
  const context = { systemPrompt: "s", messages, tools: [READ_TOOL] };
  return [
    ...checkAnthropicRequest(toAnthropicRequest(TEST_MODEL, context)),
    ...checkOpenAIRequest(toOpenAIRequest({ ...TEST_MODEL, provider: "openai" }, context, {})),
  ];
}

function readAgain(entries: readonly SessionEntry[]): SessionEntry[] {
  return entries.flatMap((each) => {
    const line = parseSessionLine(JSON.stringify(each));
    return line?.kind === "entry" ? [line.entry] : [];
  });
}

const LIMITS = {
  enabled: true,
  softTrimChars: 100,
  softTrimHead: 10,
  softTrimTail: 10,
  hardClearAfter: 3,
  keepLast: 1,
  minimumTokens: 1,
  protectTokens: 0,
  startRatio: 0,
};

test("whatever a context is made of, no provider would refuse it, and a file gives the same", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = createRandom(seed);
      const entries = createTree(random);
      const read = readAgain(entries);
      const leaves = [undefined, findLeafId(entries), entries[upTo(random, entries.length)]?.id];
      for (const leafId of leaves) {
        const { messages } = buildSessionContext(entries, leafId);
        expect(problemsOf([...messages, user("next")])).toEqual([]);
        expect(buildSessionContext(read, leafId).messages).toEqual(messages);
        expect(contextMessages(pathTo(entries, leafId))).toEqual(contextMessages(pathTo(read, leafId)));
      }
    }),
    { numRuns: 400 },
  );
}, 60_000);

test("whatever the branch, carrying out a plan gains what it promises, and nothing is left to plan", () => {
  const size = (entries: readonly SessionEntry[]) =>
    contextMessages(entries).reduce(
      (sum, { message }) => sum + (message.role === "tool_result" ? message.output.length : 0),
      0,
    );
  let plans = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const tree = createTree(createRandom(seed));
      // One id for each entry, as a session gives them.
      const path = tree.map((each, index) => ({ ...each, id: `${index}`, parentId: null }));
      const plan = planPruning(path, LIMITS);
      if (!plan) return;
      plans++;
      const after = [...path, prune("last", null, plan)];
      expect(size(path) - size(after)).toBeGreaterThanOrEqual(4 * LIMITS.minimumTokens);
      expect(planPruning(after, LIMITS)).toBeUndefined();
    }),
    { numRuns: 400 },
  );
  expect(plans).toBeGreaterThan(20);
}, 60_000);

test("whatever stands in the fields of such an entry, it is read, and the conversation opens", () => {
  const FIELDS = [
    "summary",
    "firstKeptEntryId",
    "tokensBefore",
    "details",
    "pinnedTokens",
    "cleared",
    "trimmed",
  ];
  const fields = fc.record(
    Object.fromEntries(
      [...FIELDS, "trimHead", "trimTail", "fromId", "timestamp"].map((name) => [
        name,
        fc.oneof(fc.jsonValue(), fc.constant("r"), fc.constant(["r"]), fc.nat(50)),
      ]),
    ),
    { requiredKeys: [] },
  );
  const talk = [
    entry("u", null, "go"),
    entry("a", "u", assistant([call("r")])),
    entry("r", "a", result("r")),
  ];
  fc.assert(
    fc.property(fields, fc.constantFrom("compaction", "prune", "branch_summary"), (odd, type) => {
      const line = JSON.stringify({ ...odd, type, id: "x", parentId: "r" });
      const parsed = parseSessionLine(line);
      if (parsed?.kind !== "entry") throw new Error(`${line} is not read`);
      expect(problemsOf([...buildSessionContext([...talk, parsed.entry]).messages, user("next")])).toEqual(
        [],
      );
      expect(planPruning([...talk, parsed.entry], LIMITS)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
