import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InputLines } from "../../src/line-prompt/input.ts";
import { runLinePrompt } from "../../src/line-prompt/line-prompt.ts";
import { FakeIo, FakeOutput } from "../support/fake-io.ts";
import { said, savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { writeScript } from "../support/typed-commands.ts";

// Shown to a user who tries to quit during a task: typed lines have been read by then.
const QUIT_HINT = "Type /quit at the prompt to quit";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  writeScript(
    place,
    { toolCalls: [{ name: "bash", input: { command: "touch changed; sleep 30" } }] },
    "Done.",
  );
});

afterEach(() => place.remove());

/** The line prompt in this process: its input, and its exit code. */
function start() {
  const typing = new TransformStream<Uint8Array, Uint8Array>();
  const writer = typing.writable.getWriter();
  const io = new FakeIo();
  io.cwd = place.project;
  io.environment = { PATH: "/usr/bin:/bin", HOME: place.home, TMPDIR: place.temporary };
  io.stdin = { isTerminal: true, stream: () => typing.readable };
  const options = {
    model: "scripted/script.json",
    approval: "auto" as const,
    isSaved: true,
    isVerbose: false,
  };
  return {
    io,
    exitCode: runLinePrompt({ kind: "run", isPrint: false, options }, io),
    type: (line: string) => writer.write(new TextEncoder().encode(`${line}\n`)),
    endInput: () => writer.close(),
    async shown(text: string) {
      while (!io.stdout.text.includes(text)) await Bun.sleep(2);
    },
  };
}

/** The content of the session file, if there is one. */
function written(): string {
  return existsSync(join(place.project, ".diligent", "sessions"))
    ? said(savedMessages(place)).join("\n")
    : "";
}

const made = (name: string) => existsSync(join(place.project, name));

/** A shell command of the user is running, and a prompt waits for its end. */
async function startWithWaitingPrompt() {
  const prompt = start();
  await prompt.type("!touch began; sleep 30");
  while (!made("began")) await Bun.sleep(2);
  await prompt.type("change everything");
  await prompt.type("/quit");
  await prompt.shown(QUIT_HINT);
  return prompt;
}

test("a line that waits for the end of a command does not start when a signal ends both", async () => {
  const { io, exitCode } = await startWithWaitingPrompt();
  io.send("SIGTERM");
  expect(await exitCode).toBe(143);
  expect(io.stdout.text + written()).not.toContain("change everything");
  const history = join(place.home, ".local", "state", "diligent", "history.jsonl");
  expect(readFileSync(history, "utf8")).toContain('"text":"change everything"');
  expect(made("changed")).toBe(false);
});

test("a line that waits for the end of a command does not start when the input ends", async () => {
  const { io, endInput, exitCode } = await startWithWaitingPrompt();
  await endInput();
  expect(await exitCode).toBe(0);
  expect(io.stdout.text + written()).not.toContain("change everything");
  expect(made("changed")).toBe(false);
});

test("input is ignored while the line prompt is shutting down", () => {
  const opened = () => {
    throw new Error("Something was begun.");
  };
  const output = new FakeOutput();
  const never = () => Promise.reject(new Error("Nothing is opened any more."));
  const parts = {
    environment: {},
    opened,
    reopen: never,
    quit() {},
    hideInput: () => () => {},
    isShuttingDown: () => true,
  };
  const lines = new InputLines(output, parts);
  for (const line of ["change everything", "/compact", "!touch changed", ""]) lines.take(line);
  expect([output.text, lines.conversation.doing]).toEqual(["", undefined]);
});
