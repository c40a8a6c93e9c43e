import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as messages from "../../../core/test/support/answers.ts";
import * as responses from "../../../core/test/support/openai-answers.ts";
import type { Reply } from "../../../core/test/support/sse-server.ts";
import { ANTHROPIC, configureModel, OPENAI, startCountingServer } from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const WINDOW = 12_000;
const LIMITS = { contextWindow: WINDOW, maxOutputTokens: 1_000 };

interface Step {
  number: number;
  /** The service's own count. */
  tokens: number;
}

/** Arguments of two calls of about a thousand tokens each, which can only be summarized. */
function argumentsOf({ number }: Step): string[] {
  const content = "const value = parse(input);\n".repeat(150);
  return ["a", "b"].map((name) => JSON.stringify({ file_path: `${name}${number}.ts`, content }));
}

/** Thinks, and writes two files at once. */
function thinkAndWrite(step: Step): Reply {
  const { number, tokens } = step;
  const calls = argumentsOf(step).flatMap((json, index) =>
    messages.block(
      index + 1,
      { type: "tool_use", id: `toolu_${number}_${index}`, name: "write", input: {} },
      { type: "input_json_delta", partial_json: json },
    ),
  );
  const thinking = messages.thinkingBlock(0, `Step ${number}`, `signature ${number}`);
  const start = messages.messageStart({ input_tokens: tokens, output_tokens: 1 });
  return { events: [start, ...thinking, ...calls, ...messages.messageEnd("tool_use")] };
}

/** The same with a reasoning item, which must be sent back in its place. */
function reasonAndWrite(step: Step): Reply {
  const { number, tokens } = step;
  const calls = argumentsOf(step).flatMap((json, index) =>
    responses.item(
      index + 1,
      responses.callItem(`call_${number}_${index}`, json, { name: "write" }),
      ...responses.argumentPieces(json),
    ),
  );
  const reasoning = responses.item(
    0,
    responses.reasoningItem(`rs_${number}`, ["hm"]),
    ...responses.summaryPieces(0, "hm"),
  );
  const end = responses.completed({ input_tokens: tokens, output_tokens: 5 });
  return { events: [responses.created(), ...reasoning, ...calls, end] };
}

describe.each([
  ["claude-sonnet-5, thinking", { ...ANTHROPIC, model: "claude-sonnet-5" }, thinkAndWrite],
  ["o3, reasoning", { ...OPENAI, model: "o3" }, reasonAndWrite],
])("a turn that is longer than the window, with %s and parallel calls,", (_, service, reply) => {
  test("is split repeatedly; no request is refused, then or when it is continued", async () => {
    let number = 0;
    await using server = await startCountingServer(service, {
      window: WINDOW,
      answer: ({ tokens }) => (++number > 14 ? "Done." : reply({ number, tokens })),
    });
    configureModel(place, service, server, { limits: LIMITS });
    const { stdout, exitCode } = await runDiligent(place, ["-p", "Write them all, never main.c."]);
    expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
    await runDiligent(place, ["-c", "-p", "go on"]);
    const compactions = savedLines(place).filter(({ type }) => type === "compaction");
    expect(compactions.length).toBeGreaterThanOrEqual(3);
    expect([server.turns.length, server.refused, server.problems]).toEqual([16, 0, []]);
    expect(server.turns.at(-1)?.messages[0]).toContain("<user-message>\nWrite them all, never main.c.\n");
  });
});

test("a session that continues with another provider's smaller model is compacted first", async () => {
  writeLongSession(place, ANTHROPIC.model, { turns: 10, charactersPerMessage: 6_000 });
  await using server = await startCountingServer(OPENAI, { window: WINDOW, answer: () => "All right." });
  configureModel(place, OPENAI, server, { limits: LIMITS });
  const { stdout, exitCode } = await runDiligent(place, ["-c", "-m", OPENAI.model, "-p", "go on"]);
  expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
  expect([server.turns.length, server.refused, server.problems]).toEqual([1, 0, []]);
  expect(server.turns[0]?.messages[0]).toStartWith("[Session Summary]");
});
