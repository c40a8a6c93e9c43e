import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ProjectSession } from "../../../src/harness/harness.ts";
import type { PrefixBreak } from "../../../src/session/types.ts";
import { type CachingService, startCachingService } from "../../support/caching-service.ts";
import { CostStage, requestsOf, say } from "../../support/cost-stage.ts";

let service: CachingService;
let stage: CostStage;

beforeEach(async () => {
  service = await startCachingService();
  stage = new CostStage(service);
});

afterEach(async () => {
  await stage.close();
  await service[Symbol.asyncDispose]();
});

/** The break of the last request. */
function lastBreak(opened: ProjectSession): PrefixBreak | undefined {
  return requestsOf(opened).findLast(({ purpose }) => purpose === undefined)?.break;
}

/** What the service read again of what it had cached, which is what the break has to say. */
function readAgain(): number {
  const [before, last] = service.counted.slice(-2);
  return (before?.tokens ?? 0) - (last?.cached ?? 0);
}

describe("a request whose cached beginning is lost says why", () => {
  test("not as long as nothing is lost", async () => {
    const opened = await stage.openSession();
    await say(opened, "one");
    await say(opened, "two");
    expect(requestsOf(opened).map((request) => request.break)).toEqual([undefined, undefined]);
    expect(requestsOf(opened)[1]?.usage.cacheReadTokens).toBeGreaterThan(1_000);
  });

  test("another model", async () => {
    const opened = await stage.openSession();
    await say(opened, "one");
    await opened.changeModel({ modelId: "claude-opus-5" });
    await say(opened, "two");
    const broken = lastBreak(opened);
    expect(broken).toMatchObject({ why: "model", at: "model", detail: "claude-sonnet-5 → claude-opus-5" });
    expect(within(broken?.tokens, readAgain(), 0.02)).toBe(true);
  });

  test("the thinking level", async () => {
    const opened = await stage.openSession();
    await say(opened, "one");
    await opened.changeModel({ effort: "high" });
    service.forget();
    await say(opened, "two");
    expect(lastBreak(opened)).toMatchObject({ why: "thinking", at: "messages", detail: "default → high" });
  });

  test("other instructions in a later run of the program", async () => {
    const first = await stage.openSession();
    await say(first, "one");
    await stage.close();
    stage.write("AGENTS.md", "Answer in Latin.\n");
    const opened = await stage.openSession({ resume: { latest: true } });
    await say(opened, "two");
    const broken = lastBreak(opened);
    expect(broken).toMatchObject({ why: "instructions", at: "system" });
    expect(within(broken?.tokens, readAgain(), 0.02)).toBe(true);
    expect(broken?.cost).toBeGreaterThan(0);
  });

  test("other tools in a later run of the program", async () => {
    const first = await stage.openSession();
    await say(first, "one");
    await stage.close();
    stage = Object.assign(new CostStage(service, { agentLimits: { maxDepth: 0 } }), {
      home: stage.home,
      root: stage.root,
    });
    const opened = await stage.openSession({ resume: { latest: true } });
    await say(opened, "two");
    expect(lastBreak(opened)).toMatchObject({ why: "tools", at: "tools", detail: "-task" });
  });

  test("other tools in a fork, whose requests before are in the session that was forked", async () => {
    const first = await stage.openSession();
    await say(first, "one");
    await stage.close();
    stage = Object.assign(new CostStage(service, { agentLimits: { maxDepth: 0 } }), {
      home: stage.home,
      root: stage.root,
    });
    const fork = await stage.openSession({ fork: { latest: true } });
    await say(fork, "two");
    expect(requestsOf(fork)).toHaveLength(1);
    const broken = lastBreak(fork);
    expect(broken).toMatchObject({ why: "tools", at: "tools", detail: "+recall, -task" });
    expect(within(broken?.tokens, readAgain(), 0.02)).toBe(true);
    await say(fork, "three");
    expect(lastBreak(fork)).toBeUndefined();
  });

  test("a compaction", async () => {
    const opened = await stage.openSession();
    service.answers.push(
      "a ".repeat(3_000),
      "b ".repeat(3_000),
      "c",
      "## Goal\nNothing.\n\n## Progress\n- Done.",
    );
    await say(opened, `one ${"x ".repeat(20_000)}`);
    await say(opened, `two ${"y ".repeat(20_000)}`);
    await say(opened, "three");
    expect((await opened.session.compact()).kind).toBe("compacted");
    await say(opened, "four");
    expect(lastBreak(opened)).toMatchObject({ why: "compaction" });
    const summary = requestsOf(opened).find(({ purpose }) => purpose === "summary");
    expect(summary?.cost).toBeGreaterThan(0);
  });

  test("results that were shortened", async () => {
    await stage.close();
    const pruning = { minimumTokens: 10, protectTokens: 0, startRatio: 0, keepLast: 0, hardClearAfter: 1 };
    stage = new CostStage(service, { compaction: { pruning } });
    stage.write("long.txt", "line of a long file\n".repeat(1_500));
    const opened = await stage.openSession();
    service.answers.push(
      { calls: [{ name: "read", input: { file_path: "long.txt" } }] },
      { calls: [{ name: "read", input: { file_path: "long.txt", offset: 2 } }] },
      { calls: [{ name: "read", input: { file_path: "long.txt", offset: 3 } }] },
      "Read.",
    );
    await say(opened, "read");
    await say(opened, "again");
    const breaks = requestsOf(opened).flatMap((request) => request.break ?? []);
    expect(breaks.length).toBeGreaterThan(0);
    expect(new Set(breaks.map(({ why }) => why))).toEqual(new Set(["prune"]));
    expect(breaks.map(({ at }) => at)).toEqual(["tools", "messages", "messages"]);
    expect(breaks[0]?.detail).toBe("+recall");
  });

  test("a conversation that continues after an earlier entry", async () => {
    const opened = await stage.openSession();
    await say(opened, "one");
    const first = opened.session.leafId;
    await say(opened, `two ${"y ".repeat(5_000)}`);
    opened.session.branch(first);
    await say(opened, "another two");
    expect(lastBreak(opened)).toMatchObject({ why: "rewind", at: "messages", messagesBefore: 2 });
  });

  test("a provider that has dropped it", async () => {
    const opened = await stage.openSession();
    await say(opened, "one");
    service.forget();
    await say(opened, "two");
    const broken = lastBreak(opened);
    expect(broken).toMatchObject({ why: "expiry", at: "end" });
    expect(within(broken?.tokens, readAgain(), 0.02)).toBe(true);
    // Written at 2.5 instead of read at 0.2 US dollars for a million tokens.
    expect(within(broken?.cost ?? 0, ((broken?.tokens ?? 0) * 2.3) / 1_000_000, 0.001)).toBe(true);
  });
});

function within(value = Number.NaN, expected: number, share: number): boolean {
  return Math.abs(value - expected) <= expected * share;
}
