import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { type PtyOptions, type PtyProgram, startInPty } from "../support/pty-program.ts";
import { childOf, expectModesOff, expectRestored, startInShell } from "../support/restored-terminal.ts";
import { PROGRAM_BY_PATH } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const FAULTS = join(import.meta.dir, "..", "support", "fail-on-signal.ts");
const [BUN = "bun", ...REST] = PROGRAM_BY_PATH;
/** A time to sleep that no other process of the machine uses. */
const SLEEP = `300.${process.pid}`;

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("script.json", {
    version: 1,
    turns: [
      { text: "I wait.", toolCalls: [{ name: "bash", input: { command: `trap '' TERM; sleep ${SLEEP}` } }] },
      { text: "It is done." },
    ],
  });
});

afterEach(() => place.remove());

const commandLine = (...options: string[]) =>
  [BUN, "--preload", FAULTS, ...REST, "--model", "scripted/script.json", "--approval", "auto", ...options]
    .map((word) => `'${word}'`)
    .join(" ");

/** The real program, in a shell, with its prompt on the screen and the title set. */
async function startIdle(options?: PtyOptions): Promise<PtyProgram> {
  const program = startInShell(place, commandLine(), options);
  await program.waitFor("scripted/script.json");
  await program.waitUntil((_, { title }) => title.startsWith("diligent"));
  return program;
}

/** The same while a command that ignores SIGTERM is running. */
async function startBusy(): Promise<PtyProgram> {
  const program = await startIdle();
  program.send("wait\r");
  await program.waitFor("Running bash");
  await program.waitUntil(() => countSleepers() > 0);
  return program;
}

function countSleepers(): number {
  const { stdout } = Bun.spawnSync(["pgrep", "-fx", `sleep ${SLEEP}`]);
  return stdout.toString().split("\n").filter(Boolean).length;
}

/** Every call has its result, so the session can be continued. */
function expectWholeSession(): void {
  const directory = join(place.project, ".diligent", "sessions");
  const [name = ""] = existsSync(directory)
    ? readdirSync(directory).filter((each) => each.endsWith(".jsonl"))
    : [];
  const messages = readFileSync(join(directory, name), "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => JSON.parse(line).message ?? []);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result"]);
}

const SIGNALS = [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGQUIT", 131],
] as const;

describe("an idle screen restores the terminal", () => {
  test.each(SIGNALS)("after %s", async (signal, code) => {
    await using program = await startIdle();
    const startedAt = performance.now();
    process.kill(childOf(program), signal);
    await program.waitFor(`code ${code}`);
    expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
    await expectRestored(program);
  });

  test.each([
    ["/quit", "/quit\r"],
    ["Ctrl+D", "\x04"],
    ["Ctrl+C twice", "\x03\x03"],
    ["Ctrl+C held down", "\x03".repeat(30)],
  ])("after %s, with exit code 0", async (_, keys) => {
    await using program = await startIdle();
    program.send(keys);
    await program.waitFor("code 0");
    await expectRestored(program);
  });

  test.each([
    ["an uncaught exception", "SIGUSR1", "thrown by the test"],
    ["an unhandled rejection", "SIGUSR2", "rejected by the test"],
  ] as const)("after %s, which is reported below the live region", async (_, signal, message) => {
    await using program = await startIdle();
    process.kill(childOf(program), signal);
    await program.waitFor("code 1");
    await expectRestored(program);
    const rows = program.terminal.scrollback();
    const told = rows.findIndex((row) => row.includes(`diligent: unexpected error: Error: ${message}`));
    expect(told).toBeGreaterThan(rows.findIndex((row) => row.includes("scripted/script.json")));
  });

  test("after an error that nobody reads: stderr is a pipe without a reader", async () => {
    const unread = `mkfifo unread; ( (: < unread) & ); ${commandLine()} 2> unread`;
    await using program = startInShell(place, unread);
    await program.waitUntil((_, { title }) => title.startsWith("diligent"));
    process.kill(childOf(program), "SIGUSR1");
    await program.waitFor("code 1");
    await expectRestored(program);
    expect(program.bytes).not.toContain("EPIPE");
  });
});

describe("a command that ignores SIGTERM leaves no process", () => {
  test.each(SIGNALS)("within two seconds of %s, and the session is complete", async (signal, code) => {
    await using program = await startBusy();
    const startedAt = performance.now();
    process.kill(childOf(program), signal);
    await program.waitFor(`code ${code}`);
    expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
    expect(countSleepers()).toBe(0);
    await expectRestored(program);
    expectWholeSession();
  });

  test("within a second of the second Ctrl+C", async () => {
    await using program = await startBusy();
    program.send("\x03");
    await program.waitFor("Press Ctrl+C again to quit");
    const startedAt = performance.now();
    program.send("\x03");
    await program.waitFor("code 0");
    expect(performance.now() - startedAt).toBeLessThan(1_000 + BUSY_MS);
    expect(countSleepers()).toBe(0);
    await expectRestored(program);
  });

  test("after an uncaught exception", async () => {
    await using program = await startBusy();
    process.kill(childOf(program), "SIGUSR1");
    await program.waitFor("code 1");
    expect(countSleepers()).toBe(0);
    await expectRestored(program);
  });

  test.each([
    ["the editor", "\x07", { EDITOR: `sh -c 'exec sleep ${SLEEP}'` }],
    ["the pager", "\x0f", { PAGER: `sh -c 'exec sleep ${SLEEP}'` }],
  ])("after %s while it has the terminal", async (_, key, environment) => {
    await using program = await startIdle({ environment });
    if (key === "\x0f") {
      program.send("!echo hello\r");
      await program.waitFor(/^\s*hello$/m);
      await program.settle();
    }
    program.send(key);
    await program.waitUntil(() => countSleepers() > 0);
    process.kill(childOf(program), "SIGTERM");
    await program.waitFor("code 143");
    expect(countSleepers()).toBe(0);
    await expectRestored(program);
  });

  test("when the terminal is closed, with the exit code of SIGHUP", async () => {
    await using program = startInPty(place, [
      "--model",
      "scripted/script.json",
      "--approval",
      "auto",
      "wait",
    ]);
    await program.waitFor("Running bash");
    await program.waitUntil(() => countSleepers() > 0);
    const startedAt = performance.now();
    program.process.terminal?.close();
    expect(await program.exitCode).toBe(129);
    expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
    expect(countSleepers()).toBe(0);
    expectWholeSession();
  });
});

describe("a screen that has just started, or is about to end,", () => {
  test.each([0, 30, 60, 120, 250])("is left at once by Ctrl+C held down from %i ms on", async (waitMs) => {
    // Ctrl+C discards output on its way to the terminal, which may include the exit code.
    const ends = "echo $? > code; sleep 0.1; sleep 0.1; echo; cat code; true";
    await using program = startInShell(place, `trap : INT; echo trapped; ${commandLine()}; ${ends}`);
    await program.waitFor("trapped");
    await Bun.sleep(waitMs);
    const deadline = performance.now() + 5_000;
    while (!existsSync(join(place.project, "code")) && performance.now() < deadline) {
      program.send("\x03");
      await Bun.sleep(15);
    }
    const rows = await program.waitFor(/^(?:0|130)$/m);
    expect(rows.join("\n")).not.toMatch(/error|at .*\.ts/);
    await program.waitFor(/iexten/);
    expect(program.terminal.modes).toMatchObject({ bracketedPasteMode: false, sendFocusMode: false });
  });
});

describe("Ctrl+Z", () => {
  test("returns the title and modes to the shell, and fg takes them again", async () => {
    await using program = startInPty(place, [], {
      program: ["bash", "--norc", "-i"],
      environment: { PS1: "$ " },
    });
    await program.waitFor("$ ");
    program.send(`${commandLine()}\r`);
    await program.waitUntil((_, { title }) => title.startsWith("diligent"));
    program.send("half a prompt");
    await program.waitFor("> half a prompt");
    program.send("\x1a");
    await program.waitFor("Stopped");
    expect((await program.screen()).join("\n")).not.toMatch(/> half a prompt|% context/);
    expectModesOff(program);
    program.send("echo in the shell\r");
    await program.waitFor(/^in the shell$/m);
    program.send("fg\r");
    await program.waitUntil((_, { title, modes }) => title.startsWith("diligent") && modes.sendFocusMode);
    await program.waitFor(/in the shell[\s\S]*> half a prompt/);
    program.send("\x03\x04");
    await program.waitUntil((_, { title }) => title === "");
    await program.waitFor(/\$ $/m);
    program.send("echo back for good\r");
    await program.waitFor(/^back for good$/m);
    expectModesOff(program);
  });
});
