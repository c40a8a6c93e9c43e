import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  ANTHROPIC,
  type CountingServer,
  configureModel,
  startCountingServer,
} from "../support/counting-service.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { said, savedLines, savedMessages, sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

/** A model on a loopback server that answers with the number of messages it received. */
async function serve(): Promise<CountingServer> {
  const server = await startCountingServer(ANTHROPIC, {
    window: 200_000,
    answer: ({ messages }) => `I was asked with ${messages.length} messages.`,
  });
  configureModel(place, ANTHROPIC, server);
  return server;
}

/** Starts the program in a terminal with this prompt, waits for its answer and quits with Ctrl+D. */
async function chat(args: readonly string[], prompts: readonly [string, string][]): Promise<number> {
  const program = runInTerminal(place, args);
  programs.push(program);
  for (const [prompt, answer] of prompts) {
    if (prompt !== "") program.type(`${prompt}\r`);
    await program.shown(answer);
  }
  program.type("\x04");
  return program.exitCode;
}

test("a session is created, used, left, resumed and found again with all its messages", async () => {
  await using server = await serve();
  const first = await chat(
    ["My favourite colour is blue."],
    [
      ["", "asked with 1 messages."],
      ["And my second one is green.", "asked with 3 messages."],
    ],
  );
  expect([first, sessionIds(place).length]).toEqual([0, 1]);
  expect(existsSync(join(place.project, ".diligent", ".gitignore"))).toBe(true);

  const second = await chat(["--continue", "Which ones are they?"], [["", "asked with 5 messages."]]);
  expect([second, sessionIds(place).length]).toEqual([0, 1]);
  expect(server.asked.at(-1)?.messages.map((text) => text.trim())).toEqual([
    "My favourite colour is blue.",
    "I was asked with 1 messages.",
    "And my second one is green.",
    "I was asked with 3 messages.",
    "Which ones are they?",
  ]);

  const third = await runDiligent(place, ["-c", "-p", "And in print mode?"]);
  expect([third.stdout, third.exitCode]).toEqual(["I was asked with 7 messages.\n", 0]);
  expect(savedLines(place)[0]).toMatchObject({ type: "session", version: 2, cwd: place.project });
  expect(said(savedMessages(place))).toEqual([
    "user: My favourite colour is blue.",
    "assistant: I was asked with 1 messages.",
    "user: And my second one is green.",
    "assistant: I was asked with 3 messages.",
    "user: Which ones are they?",
    "assistant: I was asked with 5 messages.",
    "user: And in print mode?",
    "assistant: I was asked with 7 messages.",
  ]);
  const { stdout } = await runDiligent(place, ["--list"]);
  expect(stdout).toMatch(/^Sessions:\n {2}1\. \[[-0-9 :]+\] My favourite colour is blue\. \(8 messages\)\n$/);
  expect(server.problems).toEqual([]);
});
