import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import {
  ANTHROPIC,
  type CountingModel,
  type CountingServer,
  configureModel,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { parseLines, runDiligent, startDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeLongSession(place, ANTHROPIC.model, { turns: 4, charactersPerMessage: 3_000 });
});

afterEach(() => place.remove());

// Small enough for the session to be summarized before the next request.
const LIMITS = { contextWindow: 10_000, maxOutputTokens: 1_000 };
const USED = { input: 1_000_000, output: 100_000 };

async function serve(model: Partial<CountingModel> = {}, config: object = {}): Promise<CountingServer> {
  const answer = () => ({ text: "All right.", usage: { input: 4_000, output: 10 } });
  const server = await startCountingServer(ANTHROPIC, { window: 200_000, answer, ...model });
  configureModel(place, ANTHROPIC, server, { limits: LIMITS, ...config });
  return server;
}

const say = (...args: string[]) => runDiligent(place, ["-c", "-p", "and now?", ...args]);

/** A summary for which the service charges three dollars for input and one and a half for output. */
const DEAR_SUMMARY = { summarize: () => ({ text: GOOD_SUMMARY, usage: USED }) };

describe("a compaction in the middle of a run", () => {
  test("is reported on stderr in text mode; stdout has only the answer", async () => {
    await using _server = await serve();
    const { stdout, stderr, exitCode } = await say();
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(stderr).toMatch(
      /^Resuming .*\n⟳ Compacting context \((\d+k) tokens\)\.\.\.\nContext compacted: \1 → \dk tokens\n$/,
    );
  });

  test("is two events in stream-json, which agree with the entry in the file", async () => {
    await using _server = await serve();
    const { stdout } = await say("--output-format", "stream-json");
    // The test does not depend on whether this machine has a sandbox; a connection is reported when it has ended.
    const lines = parseLines(stdout).filter(({ type, code }) => code !== "no_sandbox" && type !== "network");
    const types = lines.map(({ type }) => type);
    const at = types.indexOf("compaction_start");
    expect(types.slice(0, at)).toEqual(["session", "notice", "agent_start", "status_change"]);
    expect(types.slice(at, at + 4)).toEqual(["compaction_start", "usage", "compaction_end", "turn_start"]);
    const entry = savedLines(place).find(({ type }) => type === "compaction") ?? {};
    const ids = savedLines(place)
      .filter(({ type }) => type === "message")
      .map(({ id }) => id);
    // The answer follows the compaction.
    const cut = ids.indexOf(entry.firstKeptEntryId);
    expect(cut).toBeGreaterThan(0);
    expect(lines[at]).toEqual({
      type: "compaction_start",
      estimatedTokens: entry.tokensBefore,
      trigger: "threshold",
      cutEntryIds: ids.slice(0, cut),
      keptEntryIds: ids.slice(cut, -1),
      tokensByCause: {
        systemPrompt: expect.any(Number),
        tools: expect.any(Number),
        summary: 0,
        user: expect.any(Number),
        assistant: expect.any(Number),
        toolResults: 0,
      },
    });
    const causes: number[] = Object.values(Object(lines[at]).tokensByCause);
    expect(causes.reduce((sum, tokens) => sum + tokens, 0)).toBe(Number(entry.tokensBefore));
    expect(lines[at + 2]).toEqual({
      type: "compaction_end",
      tokensBefore: entry.tokensBefore,
      tokensAfter: entry.tokensAfter,
      summary: `${GOOD_SUMMARY.slice(0, 200)}…`,
      durationMs: expect.any(Number),
      rung: "session_model",
      validation: {
        characters: GOOD_SUMMARY.length,
        isLong: false,
        keywords: expect.any(Array),
        missingKeywords: expect.any(Array),
      },
    });
    expect(lines.at(-1)).toMatchObject({ type: "result", result: "All right.", stopReason: "end_turn" });
  });

  test("stream-json reports that a fallback summary was used", async () => {
    await using _server = await serve({ summarize: () => ({ text: "ok" }) });
    const { stdout, exitCode } = await say("--output-format", "stream-json");
    expect(exitCode).toBe(0);
    expect(parseLines(stdout)).toContainEqual({
      type: "notice",
      level: "warning",
      code: "compaction_fallback",
      message: expect.stringContaining("Used a fallback summary: "),
    });
  });

  test("is not a turn in json, and its requests are part of usage and cost", async () => {
    await using _server = await serve(DEAR_SUMMARY);
    const { stdout } = await say("--output-format", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      result: "All right.",
      stopReason: "end_turn",
      turns: 1,
      usage: { inputTokens: 1_004_000, outputTokens: 100_010, cacheReadTokens: 0, cacheWriteTokens: 0 },
      cost: expect.closeTo(3 + 1.5 + 0.012 + 0.00015, 9),
    });
  });

  test("costs as much as the model that writes the summary", async () => {
    await using _server = await serve(DEAR_SUMMARY, { compaction: { model: "claude-sonnet-5" } });
    const { stdout } = await say("--output-format", "json");
    expect(JSON.parse(stdout).cost).toBeCloseTo(2 + 1 + 0.01215, 6);
  });

  test("counts towards --max-cost: no request follows above the limit", async () => {
    await using server = await serve(DEAR_SUMMARY);
    const { stdout, stderr, exitCode } = await say("--max-cost", "4", "--output-format", "json");
    expect(JSON.parse(stdout)).toMatchObject({ stopReason: "max_cost", cost: 4.5, turns: 0 });
    expect([exitCode, server.turns.length, server.summaries.length]).toEqual([3, 0, 1]);
    expect(stderr).toContain("Stopped: the limit of $4 was reached.");
    // What was paid for is kept.
    expect(entryTypes(place).slice(9)).toEqual(["message", "compaction"]);
  });

  test("is interrupted with the run, and leaves the session with its prompt", async () => {
    await using server = await serve({ summarize: () => ({ silent: true }) });
    const running = startDiligent(place, ["-c", "-p", "and now?", "--output-format", "json"]);
    while (server.summaries.length === 0) await Bun.sleep(5);
    running.process.kill("SIGINT");
    const { stdout, exitCode } = await running.ended;
    expect([JSON.parse(stdout).stopReason, exitCode, server.turns.length]).toEqual(["aborted", 130, 0]);
    expect(entryTypes(place).slice(9)).toEqual(["message"]);
  });
});
