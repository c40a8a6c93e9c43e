import { afterEach, beforeEach, expect, test } from "bun:test";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import {
  ANTHROPIC,
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { REFACTORED, refactorConfig } from "../support/refactoring.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, OPENAI_SERVICE, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

function start(environment: Record<string, string> = {}): TerminalProgram {
  const program = runInTerminal(place, [], environment);
  programs.push(program);
  return program;
}

/** Types a prompt and waits for the next one. */
async function say(program: TerminalProgram, prompt: string, answer: string): Promise<void> {
  program.type(`${prompt}\r`);
  await program.shown(answer);
  await program.shown("diligent> ");
}

const START = /⟳ Compacting context \((\d+)k tokens\)\.\.\.\r?\n/;
const END = /Context compacted: (\d+)k → (\d+)k tokens\r?\n/;
const REQUEST = "Refactor the config module, and keep its public names.";

/** @param modified how many of the written files are in the summarized part; the others were only read there. */
function summaryOf(prompts: readonly string[], modified = REFACTORED.modified.length): string {
  const changed = REFACTORED.modified.slice(0, modified);
  const read = [...REFACTORED.read, ...REFACTORED.modified.slice(modified)].sort();
  return [
    `[Session Summary]\n${GOOD_SUMMARY}`,
    "## User Messages\nWhat the user said in the summarized part, verbatim, oldest first.",
    ...prompts.map((prompt) => `<user-message>\n${prompt}\n</user-message>`),
    "The recall tool searches and reads the messages that this summary replaces.",
    `## Files Read\n<read-files>\n${read.join("\n")}\n</read-files>`,
    `## Files Modified\n<modified-files>\n${changed.join("\n")}\n</modified-files>`,
  ].join("\n\n");
}

/** The compaction as shown, in thousands of tokens; there must be exactly one. */
function seenCompaction({ screen }: TerminalProgram): number[] {
  expect(screen.match(/Compacting context/g)).toHaveLength(1);
  return [START.exec(screen)?.[1], ...(END.exec(screen)?.slice(1) ?? [])].map(Number);
}

function expectLastRequest(server: CountingServer, summary: string, prompt: string): void {
  const last = server.turns.at(-1)?.messages ?? [];
  expect(last[0]).toStartWith(summary);
  expect(last.at(-1)).toBe(prompt);
  expect([server.problems, server.refused]).toEqual([[], 0]);
}

test("a long conversation is compacted automatically and visibly, and continues as before", async () => {
  const answer = refactorConfig(place, { rounds: 2, characters: 95_000 });
  await using server = await startCountingServer(ANTHROPIC, { window: 200_000, answer });
  configureModel(place, ANTHROPIC, server);
  const program = start();
  await program.shown("diligent> ");
  await say(program, REQUEST, "The config module is refactored.");
  await say(program, "what were we working on?", "We were refactoring the config module.");
  const [started = 0, before = 0, after = 0] = seenCompaction(program);
  expect(before).toBe(started);
  // 16,384 of 200,000 tokens are kept free.
  expect(before).toBeWithin(184, 200);
  expect(after).toBeWithin(20, 60);
  expectLastRequest(server, summaryOf([REQUEST]), "what were we working on?");
});

test("the next session knows what an earlier one saved", async () => {
  const content = "This project uses Bun.spawn instead of child_process";
  const call = { id: "toolu_1", name: "add_knowledge", input: { type: "preference", content } };
  await using server = await startSseServer(
    wholeReply(ANTHROPIC_SERVICE, { text: "I'll remember.", calls: [call] }),
    wholeReply(ANTHROPIC_SERVICE, { text: "Noted." }),
  );
  const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
  const first = start(environment);
  await first.shown("diligent> ");
  await say(first, "this project always uses Bun.spawn", `💡 Knowledge saved: ${content}`);
  first.type("\x04");
  expect(await first.exitCode).toBe(0);
  const second = start(environment);
  await second.shown("diligent> ");
  await say(second, "run the tests", "Noted.");
  const { system, messages } = Object(server.requests.at(-1)?.body);
  expect(JSON.stringify(system)).toContain(`## Project Knowledge`);
  expect(JSON.stringify(system)).toContain(`- [preference] ${content}`);
  expect(messages).toHaveLength(1);
});

test("gpt-4o from diligent.jsonc converses, runs tools and is compacted in the same way", async () => {
  const inner = refactorConfig(place, { rounds: 2, characters: 60_000 });
  await using server = await startCountingServer(OPENAI, {
    window: 128_000,
    answer: (asked) => (asked.messages.length === 1 && asked.messages[0] === "hello" ? HELLO : inner(asked)),
  });
  place.write("diligent.jsonc", '{ "model": "gpt-4o" }');
  const { DILIGENT_MODEL: _, ...environment } = environmentFor(OPENAI_SERVICE, server.url);
  const program = start(environment);
  await program.shown("diligent> ");
  await say(program, "hello", HELLO);
  await say(program, REQUEST, "The config module is refactored.");
  await say(program, "what were we working on?", "We were refactoring the config module.");
  const [, before = 0, after = 0] = seenCompaction(program);
  expect(before).toBeWithin(112, 128);
  expect(after).toBeWithin(20, 60);
  expectLastRequest(server, summaryOf(["hello", REQUEST], 3), "what were we working on?");
  expect(new Set(server.asked.map(({ model }) => model))).toEqual(new Set(["gpt-4o"]));
});

const HELLO = "Hello! How can I help you today?";
