import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import {
  ANTHROPIC,
  type CountingModel,
  type CountingServer,
  configureModel,
  type ModelConfig,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

// Small enough for the short session to be summarized before the next request.
const LIMITS = { contextWindow: 10_000, maxOutputTokens: 1_000 };
const SHORT = { turns: 4, charactersPerMessage: 3_000 };

async function serve(config: ModelConfig, model: Partial<CountingModel> = {}): Promise<CountingServer> {
  const answer = () => "All right.";
  const server = await startCountingServer(OPENAI, { window: 200_000, answer, ...model });
  configureModel(place, OPENAI, server, { limits: LIMITS, ...config });
  return server;
}

const say = (...args: string[]) => runDiligent(place, ["-p", "and now?", ...args]);
const prunes = () => savedLines(place).filter(({ type }) => type === "prune");

describe("compaction.enabled: false", () => {
  test("leaves every request unchanged and still allows /compact", async () => {
    writeLongSession(place, OPENAI.model, SHORT);
    await using server = await serve({ compaction: { enabled: false } });
    await say("-c");
    expect(server.asked.map(({ messages }) => messages.length)).toEqual([9]);
    const { stdout, exitCode } = await runDiligent(place, ["sessions", "compact", "1"]);
    expect([stdout, exitCode]).toEqual([`${GOOD_SUMMARY}\n`, 0]);
  });
});

describe("compaction.reserveTokens", () => {
  test.each([
    [1, ["message", "message"]],
    // More than the window has must not cause endless summaries.
    [9_000, ["message", "compaction", "message"]],
    [20_000, ["message", "compaction", "message"]],
  ])("is used as configured: %d", async (reserveTokens, added) => {
    writeLongSession(place, OPENAI.model, SHORT);
    await using _server = await serve({ compaction: { reserveTokens } });
    const { stdout, exitCode } = await say("-c");
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(entryTypes(place).slice(9)).toEqual(added);
  });
});

describe("compaction.keepRecentTokens", () => {
  // A message of the session has 1,750 tokens; the summary and the prompt are two more.
  test.each([
    [undefined, 6],
    [1, 0],
    [4_000, 2],
    [8_000, 4],
  ])("%p keeps as many messages verbatim as fit: %d", async (keepRecentTokens, kept) => {
    writeLongSession(place, OPENAI.model, { turns: 10, charactersPerMessage: 7_000 });
    const limits = { contextWindow: 40_000, maxOutputTokens: 1_000 };
    await using server = await serve({ limits, compaction: { keepRecentTokens } });
    await say("-c");
    expect(server.turns[0]?.messages).toHaveLength(kept + 2);
  });
});

describe("compaction.pruning", () => {
  const AT_ONCE = { minimumTokens: 1, protectTokens: 0, startRatio: 0 };

  /** Reads a file of 5,000 characters three times. */
  function reading(): CountingModel["answer"] {
    place.write("a.txt", "0123456789".repeat(500));
    let read = 0;
    return () => {
      const call = { id: `call_${read}`, name: "read", input: { file_path: "a.txt" } };
      return { text: "All right.", calls: read++ < 3 ? [call] : [] };
    };
  }

  test.each([
    [{}, 0, 0],
    [{ ...AT_ONCE, softTrimChars: 1_000, softTrimHead: 20, softTrimTail: 10, keepLast: 1 }, 2, 2],
    [{ ...AT_ONCE, softTrimChars: 1_000, softTrimHead: 20, softTrimTail: 10, keepLast: 2 }, 1, 1],
    [{ ...AT_ONCE, enabled: false, keepLast: 0 }, 0, 0],
    [{ ...AT_ONCE, softTrimChars: 100_000 }, 0, 0],
  ])("is used as configured: %j", async (pruning, expectedPrunes, trimmed) => {
    await using server = await serve({ limits: undefined, compaction: { pruning } }, { answer: reading() });
    const { exitCode } = await say();
    expect([exitCode, prunes().length]).toEqual([0, expectedPrunes]);
    const last = server.turns.at(-1)?.messages ?? [];
    const marker = "(kept 20 head + 10 tail of ";
    expect(last.filter((message) => message.includes(marker))).toHaveLength(trimmed);
  });
});

describe("compaction.model", () => {
  test("from another provider writes the summary and nothing else", async () => {
    writeLongSession(place, OPENAI.model, SHORT);
    await using writer = await startCountingServer(ANTHROPIC, { window: 200_000, answer: () => "never" });
    await using server = await startCountingServer(OPENAI, { window: 200_000, answer: () => "All right." });
    const provider = { ...OPENAI.provider(server.url), ...ANTHROPIC.provider(writer.url) };
    configureModel(place, OPENAI, server, { limits: LIMITS, provider, compaction: { model: "haiku" } });
    const { stdout, exitCode } = await say("-c");
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(writer.asked.map(({ isSummary, model }) => [isSummary, model])).toEqual([
      [true, "claude-haiku-5-5"],
    ]);
    expect(server.asked.map(({ isSummary, model }) => [isSummary, model])).toEqual([[false, "gpt-4o"]]);
    expect(server.turns[0]?.messages[0]).toStartWith(`[Session Summary]\n${GOOD_SUMMARY}`);
    expect([...server.problems, ...writer.problems]).toEqual([]);
    expect(entryTypes(place).slice(9)).toEqual(["message", "compaction", "message"]);
  });

  test.each([
    ["haiku", "No API key: set ANTHROPIC_API_KEY"],
    ["gpd-4o", 'Unknown model "gpd-4o".'],
    ["scripted/none.json", "none.json"],
  ])(
    "that cannot be opened is reported once, and the session's own model writes the summary: %s",
    async (model, problem) => {
      writeLongSession(place, OPENAI.model, SHORT);
      await using server = await serve({ compaction: { model } });
      const { stdout, stderr, exitCode } = await say("-c");
      expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
      const warning = 'warning: The session\'s own model writes the summary: key "compaction.model": ';
      expect(stderr.split(warning)).toEqual([expect.any(String), expect.stringContaining(problem)]);
      expect(server.summaries.map(({ model: asked }) => asked)).toEqual(["gpt-4o"]);
    },
  );

  test("is not opened if nothing is summarized", async () => {
    await using server = await serve({ compaction: { model: "gpd-4o" } });
    const { stderr, exitCode } = await say();
    expect([stderr, exitCode, server.asked.length]).toEqual(["", 0, 1]);
  });
});
