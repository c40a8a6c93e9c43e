import { expect, test } from "bun:test";
import { planPruning } from "../../src/session/compaction/pruning.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { parseSessionLine } from "../../src/session/parse-line.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import type { Message } from "../../src/types.ts";
import { prune } from "../support/context-entries.ts";
import { createRandom } from "../support/fuzzed-history.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { entry, toLines } from "../support/session-files.ts";

const LIMITS = {
  enabled: true,
  softTrimChars: 4_000,
  softTrimHead: 1_500,
  softTrimTail: 1_500,
  hardClearAfter: 6,
  keepLast: 2,
  minimumTokens: 20_000,
  protectTokens: 0,
  startRatio: 0,
};
const TURNS = 60;

/** A session that is held turn by turn; before each request its old results are pruned where that is worth it. */
class Rehearsal {
  readonly entries: SessionEntry[] = [];
  readonly requests: Message[][] = [];
  /** How many requests had been made before each pruning. */
  readonly prunedAt: number[] = [];

  add(message: Message): void {
    this.append((id, parentId) => entry(id, parentId, message));
  }

  request(): void {
    const plan = planPruning(this.entries, LIMITS);
    if (plan) {
      this.append((id, parentId) => prune(id, parentId, plan));
      this.prunedAt.push(this.requests.length);
    }
    this.requests.push(buildSessionContext(this.entries).messages);
  }

  private append(make: (id: string, parentId: string | null) => SessionEntry): void {
    const id = this.entries.length.toString(16).padStart(8, "0");
    this.entries.push(make(id, this.entries.at(-1)?.id ?? null));
  }
}

/** Each turn reads a few files, some short, some as long as a tool may answer, and some at once. */
function hold(): Rehearsal {
  const random = createRandom(7);
  const session = new Rehearsal();
  for (let turn = 0; turn < TURNS; turn++) {
    session.add(user(`prompt ${turn}`));
    for (let round = 0; round < 3; round++) {
      const ids = Array.from(
        { length: 1 + Math.floor(random() * 3) },
        (_, index) => `${turn}-${round}-${index}`,
      );
      session.request();
      session.add(assistant(ids.map((id) => call(id))));
      for (const id of ids) session.add(result(id, id.repeat(Math.floor(random() ** 3 * 5000))));
    }
    session.request();
    session.add(assistant([text(`answer ${turn}`)]));
  }
  return session;
}

const session = hold();

test("over sixty turns every request begins with the one before it, but for those right after a pruning", () => {
  const broken = session.requests.flatMap((request, index) => {
    const before = session.requests[index - 1] ?? [];
    return Bun.deepEquals(request.slice(0, before.length), before) ? [] : [index];
  });
  expect(session.requests).toHaveLength(TURNS * 4);
  expect(broken).toEqual(session.prunedAt);
  // If nothing was waited for, nearly each of the 240 requests would follow a pruning.
  expect(session.prunedAt.length).toBeGreaterThan(10);
  expect(session.prunedAt.length).toBeLessThan(40);
});

test("between two prunings the results never grow far beyond what one of them is worth", () => {
  const charactersOf = (messages: readonly Message[]) =>
    messages.reduce((sum, message) => sum + (message.role === "tool_result" ? message.output.length : 0), 0);
  const most = Math.max(...session.requests.map(charactersOf));
  const whole = charactersOf(
    session.entries.flatMap((each) => (each.type === "message" ? [each.message] : [])),
  );
  expect(whole).toBeGreaterThan(1_000_000);
  expect(most).toBeLessThan(4 * LIMITS.minimumTokens + 200_000);
});

test("a session that is read again from its file sees the same at every point", () => {
  const lines = toLines(session.entries).split("\n").slice(0, -1);
  const read = lines
    .map((line) => parseSessionLine(line))
    .flatMap((line) => (line?.kind === "entry" ? [line.entry] : []));
  expect(read).toEqual(session.entries);
  for (const position of [40, 200, read.length - 1]) {
    const id = read[position]?.id;
    expect(buildSessionContext(read, id)).toEqual(buildSessionContext(session.entries, id));
  }
  expect(buildSessionContext(read).messages.slice(0, -1)).toEqual(session.requests.at(-1) ?? []);
});
