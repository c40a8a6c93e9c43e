import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textAnswer } from "../../../core/test/support/answers.ts";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { callAnswer } from "../support/service-answers.ts";
import { said, savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
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

function start(...args: string[]): TerminalProgram {
  const program = runInTerminal(place, args);
  programs.push(program);
  return program;
}

const CTRL_C = "\x03";
const CTRL_D = "\x04";
const FOUND = "Found 8 TODO comments.";
const REMEMBERED = "In our previous conversation, I found 8 TODO comments.";

function playTodos(): string[] {
  for (let index = 0; index < 8; index++) place.write(`src/${index}.ts`, "// TODO\n");
  place.write("todos.json", {
    version: 1,
    turns: [
      { toolCalls: [{ name: "grep", input: { pattern: "TODO", path: "src" } }] },
      { text: FOUND },
      { text: REMEMBERED },
    ],
  });
  return ["-m", "scripted/todos.json"];
}

/** The user's configuration, which sets a loopback server as the service. */
function configureServer(baseUrl: string): void {
  const directory = join(place.home, ".config", "diligent");
  mkdirSync(directory, { recursive: true });
  const config = { provider: { anthropic: { apiKey: "test-key", baseUrl } } };
  writeFileSync(join(directory, "diligent.jsonc"), JSON.stringify(config), { mode: 0o600 });
}

test("a conversation with a service is left with Ctrl+D, resumed by --continue, and sent in full", async () => {
  playTodos();
  const call = { id: "toolu_1", name: "grep", input: { pattern: "TODO", path: "src" } };
  await using server = await startSseServer(
    { events: callAnswer(call) },
    { events: textAnswer(FOUND) },
    { events: textAnswer(REMEMBERED) },
  );
  configureServer(server.url);
  const first = start();
  await first.shown("diligent> ");
  first.type("find all TODO comments\r");
  await first.shown(FOUND);
  await first.shown("diligent> ");
  first.type(CTRL_D);
  expect(await first.exitCode).toBe(0);

  const second = start("--continue");
  await second.shown("Resuming session ");
  expect(second.screen).toMatch(
    /^Resuming session \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\.\. \(just now, 4 messages, /m,
  );
  await second.shown("diligent> ");
  second.type("which TODOs did you find earlier?\r");
  await second.shown(REMEMBERED);
  await second.shown("diligent> ");
  second.type(CTRL_D);
  expect(await second.exitCode).toBe(0);

  const sent = JSON.stringify(server.requests[2]?.body);
  for (const text of ["find all TODO comments", "toolu_1", FOUND, "which TODOs"])
    expect(sent).toContain(text);
  expect([server.problems, server.requests.length, sessionIds(place).length]).toEqual([[], 3, 1]);
  expect(said(savedMessages(place))).toEqual([
    "user: find all TODO comments",
    "assistant:",
    expect.stringContaining("tool_result: "),
    `assistant: ${FOUND}`,
    "user: which TODOs did you find earlier?",
    `assistant: ${REMEMBERED}`,
  ]);
});

test("sessions are listed by their last change, and resumed by their number", async () => {
  const model = playTodos();
  const texts = (first: string, count: number) => [first, ...Array.from({ length: count - 1 }, () => "x")];
  writeSession(place, {
    id: "20260225091500-bbbbbb",
    modified: "2026-02-25T09:15:00.000Z",
    texts: texts("refactor config module", 12),
  });
  writeSession(place, {
    id: "20260225103000-aaaaaa",
    modified: "2026-02-25T10:30:00.000Z",
    texts: texts("find all TODO comments", 8),
  });
  const list = await runDiligent(place, ["--list"], { environment: { TZ: "UTC" } });
  expect(list.stdout).toBe(
    "Sessions:\n" +
      "  1. [2026-02-25 10:30] find all TODO comments (8 messages)\n" +
      "  2. [2026-02-25 09:15] refactor config module (12 messages)\n",
  );
  const program = start("--continue", "1", ...model);
  await program.shown("Resuming session 2026-02-25T");
  expect(program.screen).toContain(", 8 messages, ");
});

describe("a prompt", () => {
  test.each([
    ["Ctrl+C, and at the prompt twice", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("without an answer is kept on %s", async (how, code) => {
    await using server = await startSseServer({ silent: true });
    configureServer(server.url);
    const program = start();
    await program.shown("diligent> ");
    program.type("the prompt\r");
    // The terminal itself echoes what is typed; the request shows that the program has read it.
    while (server.requests.length === 0) await Bun.sleep(5);
    if (how !== "Ctrl+C, and at the prompt twice") program.process.kill(how);
    else {
      program.type(CTRL_C);
      await program.shown("diligent> ");
      program.type(CTRL_C);
      await program.shown("Press Ctrl+C again to quit.");
      program.type(CTRL_C);
    }
    expect(await program.exitCode).toBe(code);
    expect(said(savedMessages(place))).toEqual(["user: the prompt"]);
  });

  test("typed too late for the current run is kept and starts the next one", async () => {
    const slow = { text: "one two three", chunkChars: 4, chunkDelayMs: 20_000 };
    place.write("slow.json", { version: 1, turns: [slow, { text: "Answer." }] });
    const program = start("-m", "scripted/slow.json", "go");
    await program.shown("one");
    // Lines are read in order: the answer to the second shows that the first was read.
    program.type("rather this\r/statsu\r");
    await program.shown("Unknown command /statsu");
    program.type(CTRL_C);
    await program.shown("interrupted");
    await program.shown("diligent> ");
    program.type("and that\r");
    await program.shown("Answer.");
    await program.shown("diligent> ");
    program.type(CTRL_D);
    expect(await program.exitCode).toBe(0);
    expect(said(savedMessages(place)).slice(2)).toEqual([
      "user: rather this",
      "user: and that",
      "assistant: Answer.",
    ]);
  });
});

describe("session.autoResume", () => {
  test("resumes the most recent session automatically, if there is one", async () => {
    const model = playTodos();
    place.write("diligent.jsonc", { session: { autoResume: true } });
    const fresh = start(...model);
    await fresh.shown("diligent> ");
    expect(fresh.screen).not.toContain("Resuming");
    writeSession(place, {
      id: "20260225103000-aaaaaa",
      modified: "2026-02-25T10:30:00.000Z",
      texts: ["a", "b"],
    });
    await start(...model).shown("Resuming session ");
  });

  test("has no effect in print mode, where nobody could start a new session instead", async () => {
    const model = playTodos();
    place.write("diligent.jsonc", { session: { autoResume: true } });
    for (const prompt of ["first", "second"]) await runDiligent(place, ["-p", ...model, prompt]);
    expect(sessionIds(place)).toHaveLength(2);
  });
});
