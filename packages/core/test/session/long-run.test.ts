import { describe, expect, test } from "bun:test";
import { findRequestFault } from "../../src/provider/scripted/check-request.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { readSessionFile } from "../../src/session/persistence.ts";
import type { Message } from "../../src/types.ts";
import { holdLongSession, type LongSessionKind, type LongSessionOptions } from "../support/long-session.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const WINDOW = 20_000;
const KINDS: LongSessionKind[] = ["prompts", "calls"];

/** Holds a session to its end and returns, with the report, its file and what the next request would begin with. */
async function hold(options: Pick<LongSessionOptions, "kind" | "turns" | "onRequest" | "kinds" | "seed">) {
  let path = "";
  let messages: Message[] = [];
  const report = await holdLongSession({
    kinds: ["prose", "code", "json"],
    contextWindow: WINDOW,
    project: makeTempDir(),
    onTurn(_, session) {
      path = session.sessionPath ?? "";
      messages = session.context.messages;
    },
    ...options,
  });
  return { ...report, path, messages };
}

const entriesOf = (path: string | undefined) => (path === undefined ? [] : readSessionFile(path).entries);

describe("three hundred turns in a window of 20,000 tokens", () => {
  test.each(KINDS)("of %s reach their end, and each request fits", async (kind) => {
    const { asked, summaries, failures, compactions, fallbacks } = await hold({ kind, turns: 300 });
    expect({ failures, faults: [...asked.faults, ...summaries.faults], fallbacks }).toEqual({
      failures: [],
      faults: [],
      fallbacks: 0,
    });
    expect([asked.tooLong, summaries.tooLong]).toEqual([0, 0]);
    expect(Math.max(asked.mostTokens, summaries.mostTokens)).toBeLessThan(WINDOW);
    // Far more was said than fits, and it was neither summarised before every request nor hardly ever.
    expect(asked.requests).toBeGreaterThan(300);
    expect(compactions).toBeGreaterThan(2);
    expect(compactions).toBeLessThan(asked.requests / 5);
  });

  test.each(KINDS)("of %s are read from the file as they were held", async (kind) => {
    const { path, messages } = await hold({ kind, turns: 60 });
    const { entries, skippedLines } = readSessionFile(path);
    expect(skippedLines).toBe(0);
    expect(buildSessionContext(entries).messages).toEqual(messages);
    const next: Message = { role: "user", content: "go on", timestamp: 0 };
    const tools = [{ name: "look", description: "", inputSchema: { type: "object" } }];
    expect(findRequestFault({ systemPrompt: "", messages: [...messages, next], tools })).toBeUndefined();
  });
});

test.each([4, 10, 15])(
  "results that take far more tokens than estimated end no run (seed %p)",
  async (seed) => {
    const { asked, failures } = await hold({
      kind: "calls",
      turns: 150,
      kinds: ["prose", "prose", "base64"],
      seed,
    });
    expect(failures).toEqual([]);
    // Otherwise nothing was tried here.
    expect(asked.tooLong).toBeGreaterThan(0);
  },
);

describe("over sixty turns", () => {
  test.each(KINDS)(
    "of %s every request begins with the one before, but for those shortened",
    async (kind) => {
      const requests: Message[][] = [];
      const shortened: number[] = [];
      let known = 0;
      const report = await hold({
        kind,
        turns: 60,
        onRequest({ messages }, session) {
          const entries = entriesOf(session.sessionPath);
          const count = entries.filter(({ type }) => type === "prune" || type === "compaction").length;
          if (count > known) shortened.push(requests.length);
          known = count;
          requests.push([...messages]);
        },
      });
      const broken = requests.flatMap((request, index) => {
        const before = requests[index - 1] ?? [];
        return Bun.deepEquals(request.slice(0, before.length), before) ? [] : [index];
      });
      expect(broken).toEqual(shortened);
      expect(report.compactions).toBeGreaterThan(0);
      // Prompts alone leave too few results that are worth it.
      if (kind === "calls") expect(entriesOf(report.path).some(({ type }) => type === "prune")).toBe(true);
      expect(shortened.length).toBeLessThan(requests.length / 3);
    },
  );
});
