import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

function start(turns: object[], ...args: string[]): TerminalProgram {
  place.write("script.json", { version: 1, turns });
  const program = runInTerminal(place, ["-m", "scripted/script.json", ...args]);
  programs.push(program);
  return program;
}

function bash(command: string) {
  return { toolCalls: [{ name: "bash", input: { command } }] };
}

function made(name: string): boolean {
  return existsSync(join(place.project, name));
}

describe("a conversation at the line prompt", () => {
  test("answers one prompt after the other until Ctrl+D", async () => {
    const program = start([{ text: "First answer" }, { text: "Second answer" }]);
    await program.shown("diligent> ");
    program.type("one\r");
    await program.shown("First answer");
    await program.shown("diligent> ");
    program.type("two\r");
    await program.shown("Second answer");
    await program.shown("diligent> ");
    program.type("\x04");
    expect(await program.exitCode).toBe(0);
  });

  test("sends the prompt of the command line first, and /quit quits", async () => {
    const program = start([{ text: "The answer" }], "do it");
    await program.shown("The answer");
    await program.shown("diligent> ");
    program.type("/quit\r");
    expect(await program.exitCode).toBe(0);
  });

  test("prompts again after an empty line", async () => {
    const program = start([]);
    await program.shown("diligent> ");
    program.type("\r");
    await program.shown("diligent> ");
  });

  test("shows the model's text without control sequences", async () => {
    const program = start([{ text: "a\x1b]0;title\x07b\x1bc\u009b2Jc", chunkChars: 1 }], "go");
    await program.shown("a\\x1b]0;title\\x07b\\x1bc\\x9b2Jc");
    await program.shown("diligent> ");
    expect(program.screen).not.toContain("\x1b");
  });
});

describe("approval at the line prompt", () => {
  test("shows a command in full, and y runs it once", async () => {
    const program = start(
      [bash("touch made\necho 'and \x1b[8m hidden'"), bash("touch again"), { text: "never" }],
      "go",
    );
    await program.shown("Allow bash? Reason: it contains invisible characters");
    await program.shown("    touch made");
    await program.shown("    echo 'and \\x1b[8m hidden'");
    await program.shown("Allow it? y (once) / a (always) / p (always, saved) / e (edit) / n: ");
    expect(made("made")).toBe(false);
    program.type("y\r");
    await program.shown("Allow bash? Reason: touch may do more than read");
    await program.shown(`exactly \`touch again\` in ${place.project}`);
    await program.shown("Allow it? ");
    expect([made("made"), made("again")]).toEqual([true, false]);
    program.type("n\r");
    await program.shown("Stopped: request denied");
    await program.shown("diligent> ");
    expect(made("again")).toBe(false);
    expect(program.screen).not.toContain("never");
  });

  test("passes a no with a message to the model, which continues", async () => {
    const program = start([bash("touch made"), { text: "Done" }], "go");
    await program.shown("Allow it? ");
    program.type("n use another name\r");
    await program.shown("bash failed: The user denied this: use another name");
    await program.shown("Done");
    expect(made("made")).toBe(false);
  });

  test('asks about the same command no second time after "always", and about a longer one again', async () => {
    const program = start([bash("touch made"), bash("touch made && ls"), bash("touch made more")], "go");
    await program.shown("Allow it? ");
    program.type("a\r");
    await program.shown("touch made more");
    await program.shown("Allow it? ");
    expect([made("made"), made("more")]).toEqual([true, false]);
  });

  test("asks again after any other answer", async () => {
    const program = start([bash("touch made"), { text: "Done" }], "go");
    await program.shown("Allow it? ");
    program.type("yes please\r");
    await program.shown("Please answer y, a, p, e or n.");
    await program.shown("Allow it? ");
    program.type("\r");
    await program.shown("Allow it? ");
    expect(made("made")).toBe(false);
    program.type("YES\r");
    await program.shown("Done");
    expect(made("made")).toBe(true);
  });

  test("does not take a line typed before the question as its answer", async () => {
    const program = start([{ ...bash("touch made"), delayMs: 2_000 }, { text: "Done" }], "go");
    // Lines are read in order: the answer to the second shows that the first was read.
    program.type("y\r/statsu\r");
    await program.shown("Unknown command /statsu");
    await program.shown("Allow it? ");
    await Bun.sleep(100);
    expect(made("made")).toBe(false);
  });

  test("asks nothing with --approval deny, and the run continues", async () => {
    const program = start([bash("touch made"), { text: "Done without" }], "go", "--approval", "deny");
    await program.shown("bash failed: Refused");
    await program.shown("Done without");
    expect(program.screen).not.toContain("Allow it?");
  });
});

describe("Ctrl+C at the line prompt", () => {
  test("stops the current run, and quits when pressed twice at the prompt", async () => {
    const program = start([bash("touch began; sleep 30"), { text: "never" }], "go", "--approval", "auto");
    while (!made("began")) await Bun.sleep(5);
    program.type("\x03");
    await program.shown("interrupted");
    await program.shown("diligent> ");
    program.type("\x03");
    await program.shown("Press Ctrl+C again to quit.");
    program.type("\x03");
    expect(await program.exitCode).toBe(130);
  });

  test("answers an open question with no", async () => {
    const program = start([bash("touch made"), { text: "never" }], "go");
    await program.shown("Allow it? ");
    program.type("\x03");
    await program.shown("diligent> ");
    expect(made("made")).toBe(false);
    expect(program.screen).not.toContain("never");
  });

  test("quits within a second when pressed twice during a run", async () => {
    const program = start(
      [bash("touch began; trap '' TERM; sleep 30"), { text: "x" }],
      "go",
      "--approval",
      "auto",
    );
    while (!made("began")) await Bun.sleep(5);
    program.type("\x03");
    await Bun.sleep(50);
    const pressedAt = performance.now();
    program.type("\x03");
    expect(await program.exitCode).toBe(130);
    expect(performance.now() - pressedAt).toBeLessThan(1000 + BUSY_MS);
  });
});

for (const [signal, exitCode] of [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGQUIT", 131],
] as const) {
  test(`${signal} during a run ends it within two seconds with ${exitCode}`, async () => {
    const program = start([bash("seq 100000; touch began; sleep 30")], "go", "--approval", "auto");
    while (!made("began")) await Bun.sleep(5);
    const sentAt = performance.now();
    program.process.kill(signal);
    expect(await program.exitCode).toBe(exitCode);
    expect(readdirSync(place.temporary)).toEqual([]);
    expect(performance.now() - sentAt).toBeLessThan(2000 + BUSY_MS);
  });
}

test("a terminal refuses --output-format without -p, and an empty prompt", async () => {
  const first = start([], "--output-format", "json", "hi");
  await first.shown("--output-format needs -p");
  expect(await first.exitCode).toBe(2);
  const second = start([], "");
  await second.shown("the prompt is empty");
  expect(await second.exitCode).toBe(2);
});
