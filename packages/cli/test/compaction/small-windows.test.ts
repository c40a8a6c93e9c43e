import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

// System prompt and tools take about 2,000 tokens, and at most half of a window.
const summaries = Array.from({ length: 40 }, () => ({ text: GOOD_SUMMARY }));

function script(contextWindow: number, turns: readonly object[], config: object = {}): void {
  place.write("script.json", { version: 1, contextWindow, turns, summaries });
  place.write("diligent.jsonc", config);
}

const say = (prompt: string, ...args: string[]) =>
  runDiligent(place, ["-m", "scripted/script.json", "-p", prompt, ...args]);

/** Reads about 5,000 tokens per call. */
function reading(): object[] {
  place.write("a.ts", "const value = parse(input);\n".repeat(800));
  return Array.from({ length: 8 }, (_, step) => ({
    text: `Step ${step}.`,
    toolCalls: [{ name: "read", input: { file_path: "a.ts", offset: step * 10 + 1, limit: 700 } }],
  }));
}

/** Writes about 2,000 tokens per call, which cannot be shortened later. */
function writing(): object[] {
  return Array.from({ length: 12 }, (_, step) => ({
    text: `Step ${step}.`,
    toolCalls: [
      { name: "write", input: { file_path: `${step}.txt`, content: `${"x".repeat(400)}\n`.repeat(20) } },
    ],
  }));
}

describe("a window of this many tokens", () => {
  // 4,096 is the default window of local servers such as Ollama.
  test.each([16_000, 8_000, 5_000, 4_096])(
    "is enough for results that are about as long as the window: %d",
    async (contextWindow) => {
      script(contextWindow, [...reading(), { text: "Done." }]);
      const { stdout, stderr, exitCode } = await say("Read all of it, and never touch main.c.");
      expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
      expect(stderr.match(/⟳ Compacting/g)?.length).toBeWithin(1, 9);
      expect(savedMessages(place).filter(({ role }) => role === "tool_result")).toHaveLength(8);
    },
  );

  test.each([10_000, 8_000])("is enough for calls that cannot be shortened: %d", async (contextWindow) => {
    script(contextWindow, [...writing(), { text: "Done." }]);
    const { stdout, stderr, exitCode } = await say("Write all of them.");
    expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
    expect(stderr.match(/⟳ Compacting/g)?.length).toBeWithin(4, 13);
  });

  test("is enough without pruning: 8000", async () => {
    script(8_000, [...reading(), { text: "Done." }], { compaction: { pruning: { enabled: false } } });
    const { stdout, exitCode } = await say("Read all of it.");
    expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
  });

  test("is enough for a conversation of many prompts, each a separate run: 8000", async () => {
    const answer = (index: number) => `Answer ${index}. ${"The lexer knows numbers. ".repeat(200)}`;
    script(
      8_000,
      Array.from({ length: 9 }, (_, index) => ({ text: answer(index) })),
    );
    for (let index = 0; index < 9; index++) {
      const { stdout, exitCode } = await say(`Prompt ${index}.`, ...(index === 0 ? [] : ["-c"]));
      expect([stdout.trim(), exitCode]).toEqual([answer(index).trim(), 0]);
    }
    expect(entryTypes(place).filter((type) => type === "compaction").length).toBeWithin(2, 9);
    expect(savedMessages(place)).toHaveLength(18);
  });

  test.each([3_000, 2_000, 100])(
    "is refused with both numbers before anything is sent: %d",
    async (contextWindow) => {
      script(contextWindow, [{ text: "never" }]);
      const { stdout, exitCode } = await say("hi", "--output-format", "json");
      const { error, turns, stopReason } = Object(parseLines(stdout)[0]);
      expect([exitCode, stopReason, turns, error.errorType]).toEqual([1, "error", 0, "context_overflow"]);
      const numbers = /take about (\d+) tokens, more than half of the window of (\d+) tokens/.exec(
        error.message,
      );
      expect(Number(numbers?.[1])).toBeWithin(1_000, 3_000);
      expect(Number(numbers?.[2])).toBe(contextWindow);
      expect(savedMessages(place).map(({ role }) => role)).toEqual(["user"]);
    },
  );
});
