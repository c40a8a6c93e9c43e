import { expect, test } from "bun:test";
import { z } from "zod";
import { describeTools } from "../../src/agent/run.ts";
import { BASE_SYSTEM_PROMPT } from "../../src/config/system-prompt.ts";
import { createAnthropicStream } from "../../src/provider/anthropic.ts";
import { asRecord } from "../../src/provider/wire-format.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createTools } from "../../src/tools/index.ts";
import { type CountedAnswer, startCountingServer } from "../support/counting-server.ts";
import { EstimatedSession } from "../support/estimated-session.ts";
import { createRandom } from "../support/fuzzed-history.ts";
import { TEST_MODEL } from "../support/models.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";
import { createText, type TextKind } from "../support/varied-text.ts";

const TURNS_A_PROMPT = 4;

/** What is said in a session: English, code and JSON, and now and then another script. */
class Conversation {
  private readonly random: () => number;
  private replies = 0;
  private results = 0;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  prompt(number: number): string {
    return number === 2 ? this.text("cjk", 60, 200) : this.text("prose", 100, 800);
  }

  reply(): CountedAnswer {
    this.replies++;
    const isLast = this.replies % TURNS_A_PROMPT === 0;
    if (isLast) return { text: this.text("prose", 200, 1_200) + this.text("code", 100, 800) };
    const look = { path: `src/part-${this.replies}.ts`, text: this.text("code", 50, 600) };
    return { text: this.text("prose", 50, 300), look };
  }

  result(): string {
    this.results++;
    if (this.results % 5 === 0) return this.text("cjk", 100, 600);
    return this.text(this.results % 2 === 0 ? "code" : "json", 200, 3_000);
  }

  private text(kind: TextKind, least: number, most: number): string {
    return createText(this.random, kind, least + this.random() * (most - least));
  }
}

function createLookTool(conversation: Conversation): Tool {
  const parameters = z.strictObject({ path: z.string(), text: z.string() });
  return {
    name: "look",
    description: "Looks at a file.",
    parameters,
    readOnly: true,
    execute: async () => ({ output: conversation.result() }),
  };
}

/** Asks so many prompts, twenty requests for five; with a compaction behind them, another one. */
async function estimate({ seed, isCompacted = false }: { seed: number; isCompacted?: boolean }) {
  const conversation = new Conversation(seed);
  await using server = await startCountingServer((body) =>
    asRecord(body).tools === undefined ? { text: GOOD_SUMMARY } : conversation.reply(),
  );
  const tools = [createLookTool(conversation), ...createTools(createToolWorkspace())];
  const systemPrompt = BASE_SYSTEM_PROMPT + createText(createRandom(3), "prose", 3_000);
  const streamFunction = createAnthropicStream("key", server.url);
  const session = new EstimatedSession({ model: TEST_MODEL, systemPrompt, tools, streamFunction });
  for (let prompt = 0; prompt < 5; prompt++) await session.ask(conversation.prompt(prompt));
  const before = session.estimates.length;
  if (isCompacted) {
    const context = { systemPrompt, tools: describeTools(tools, TEST_MODEL), messages: [] };
    const { signal } = new AbortController();
    const manual = { context, signal, emit: () => {}, countUsage: () => {} };
    expect(await session.window.compact(manual)).toMatchObject({ kind: "compacted" });
    await session.ask(conversation.prompt(5));
  }
  expect(server.problems).toEqual([]);
  const errors = session.estimates.map((tokens, index) => tokens / (server.counts[index] ?? 0) - 1);
  return { errors, afterCompaction: errors.slice(before) };
}

const isWithin = (share: number) => (error: number) => Math.abs(error) <= share;

test.each([1, 2, 3, 4, 5])(
  "from the third request on the estimate is within a tenth of what the server counts (texts %p)",
  async (seed) => {
    const { errors } = await estimate({ seed });
    expect(errors).toHaveLength(20);
    expect(errors.slice(2).filter((error) => !isWithin(0.1)(error))).toEqual([]);
  },
);

test.each([1, 2, 3])(
  "behind a compaction, where nothing has been counted yet, the learned ratio is as near (texts %p)",
  async (seed) => {
    const { afterCompaction } = await estimate({ seed, isCompacted: true });
    expect(afterCompaction).toHaveLength(TURNS_A_PROMPT);
    expect(afterCompaction.filter((error) => !isWithin(0.1)(error))).toEqual([]);
  },
);
