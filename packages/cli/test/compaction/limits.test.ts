import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  ANTHROPIC,
  type CountingModel,
  type CountingServer,
  configureModel,
  type ModelConfig,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { runDiligent } from "../support/run-diligent.ts";
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

async function serve(model: Partial<CountingModel>, config: ModelConfig = {}): Promise<CountingServer> {
  const answer = () => "All right.";
  const server = await startCountingServer(ANTHROPIC, { window: 200_000, answer, ...model });
  configureModel(place, ANTHROPIC, server, { limits: LIMITS, ...config });
  return server;
}

const say = (prompt = "and now?") => runDiligent(place, ["-c", "-p", prompt]);
const compactions = () => savedLines(place).filter(({ type }) => type === "compaction");

describe("a model that writes no summary costs only a few requests, and the run continues with a fallback summary:", () => {
  const error = (status: number, type: string) => {
    return { status, body: JSON.stringify({ type: "error", error: { type, message: "because" } }) };
  };

  test.each<[string, CountingModel["summarize"], number]>([
    ["it answers nonsense", () => ({ text: "Sure, I can help with that!" }), 2],
    ["it answers nothing", () => ({ text: " " }), 2],
    ["it never stops", () => ({ text: "x".repeat(100_000) }), 2],
    ["it is refused", () => error(400, "invalid_request_error"), 1],
    ["it has a wrong key", () => error(401, "authentication_error"), 1],
    ["it overflows however short the request is", ({ tokens }) => ANTHROPIC.overflow(tokens, 10), 4],
  ])("%s", async (_, summarize, requests) => {
    await using server = await serve({ ...(summarize && { summarize }) });
    const { stdout, stderr, exitCode } = await say();
    expect([stdout, exitCode, server.summaries.length]).toEqual(["All right.\n", 0, requests]);
    expect(stderr).toContain("warning: Used a fallback summary: ");
    expect(server.turns[0]?.messages[0]).toStartWith("[Session Summary]\n");
    expect(server.turns[0]?.messages[0]).toContain("question 0: the lexer knows numbers");
    expect([compactions().length, server.problems]).toEqual([1, []]);
  });

  test("it is silent for longer than the time limit", async () => {
    const silent = { silent: true };
    await using server = await serve(
      { summarize: () => silent },
      { access: { idleTimeoutMs: 700 }, maxRetries: 0 },
    );
    const { stdout, stderr, exitCode } = await say();
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(stderr).toContain("warning: Used a fallback summary: ");
    expect(server.summaries).toHaveLength(2);
  });
});

/** Requests a listing again and again, and reports `input` tokens for each request. */
function counting(input: number, calls: number): CountingModel["answer"] {
  let count = 0;
  return () => {
    count++;
    const call = { id: `toolu_${count}`, name: "glob", input: { pattern: `*.${count}` } };
    return { text: "All right.", calls: count > calls ? [] : [call], usage: { input, output: 5 } };
  };
}

describe("if the service counts far more tokens than the conversation has", () => {
  test("its count is used, and the run stops after three ineffective compactions in a row", async () => {
    await using server = await serve({ answer: counting(190_000, 8) }, { limits: undefined });
    const { stdout, stderr, exitCode } = await say("short");
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(stderr.match(/⟳ Compacting context \(190k tokens\)\.\.\./g)).toHaveLength(3);
    expect([server.turns.length, server.problems]).toEqual([9, []]);
    await say("again");
    expect(compactions().length).toBeWithin(4, 7);
  });

  test("and more than the window has, the run stops with both numbers and the reason", async () => {
    await using server = await serve({ answer: counting(250_000, 8) }, { limits: undefined });
    const { stderr, exitCode } = await say("short");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /diligent: The conversation does not fit into the context window of claude-sonnet-4-20250514: about 2500\d\d of 200000 tokens, and several summaries in a row freed no space\.\n$/,
    );
    expect([compactions().length, server.turns.length]).toEqual([3, 4]);
  });
});

describe("content that no summary can shorten ends the run with exit code 1, both numbers, and no request:", () => {
  test("a prompt larger than the window", async () => {
    await using server = await serve({});
    const { stderr, exitCode } = await say("lorem ipsum dolor ".repeat(3_000));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /diligent: The conversation does not fit into the context window of \S+: about 1\d{4} of 10000 tokens, and nothing more can be summarized\.\n$/,
    );
    expect([server.turns.length, compactions().length]).toEqual([0, 1]);
    // The next request need not repeat this prompt: it can be said in fewer words.
    expect(entryTypes(place).at(-1)).toBe("compaction");
  });

  test("instructions that take more than half of the window", async () => {
    place.write("CLAUDE.md", "Always write tests first. ".repeat(1_000));
    await using server = await serve({});
    const { stderr, exitCode } = await say();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /diligent: System prompt, instructions, knowledge and tools take about \d{4} tokens, more than half of the window of 10000 tokens of claude-sonnet-4-20250514\. Shorten the instructions, or choose a model with a larger window\.\n$/,
    );
    expect(server.asked).toEqual([]);
  });
});
