import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import {
  bareEnvironment,
  CHECKOUT_PROGRAM,
  PROGRAM,
  parseLines,
  startDiligent,
} from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

function script(...turns: object[]): string[] {
  place.write("script.json", { version: 1, turns });
  return ["-p", "do it", "-m", "scripted/script.json", "--approval", "auto"];
}

function bash(command: string) {
  return { toolCalls: [{ name: "bash", input: { command } }] };
}

/** The messages in the one session file. */
function savedMessages(): { role: string; stopReason?: string; toolCallId?: string; content?: unknown }[] {
  const directory = join(place.project, ".diligent", "sessions");
  const [name = "none"] = readdirSync(directory).filter((each) => each.endsWith(".jsonl"));
  return parseLines(readFileSync(join(directory, name), "utf8")).flatMap((entry) =>
    entry.type === "message" && isMessage(entry.message) ? [entry.message] : [],
  );
}

function isMessage(value: unknown): value is { role: string } {
  return typeof value === "object" && value !== null && "role" in value;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** True once the process has a handler for this signal. */
function isHandling(pid: number, signal: NodeJS.Signals): boolean {
  const caught = /^SigCgt:\t([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return ((BigInt(`0x${caught ?? 0}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

/** A killed process disappears a moment later. */
async function waitForEnd(pid: number): Promise<void> {
  const deadline = performance.now() + BUSY_MS;
  while (isAlive(pid) && performance.now() < deadline) await Bun.sleep(5);
  expect(isAlive(pid)).toBe(false);
}

async function waitForFile(name: string): Promise<string> {
  const path = join(place.project, name);
  while (!existsSync(path) || readFileSync(path, "utf8") === "") await Bun.sleep(5);
  return readFileSync(path, "utf8");
}

describe("a signal while a tool runs", () => {
  // Neither the shell nor its child obeys TERM.
  const STUBBORN = "trap '' TERM; (trap '' TERM; while :; do sleep 0.2; done) & echo $! > child; wait";

  for (const [signal, exitCode] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
  ] as const) {
    test(`${signal} ends the run within 2 s with ${exitCode}, a result line, a complete session and no child`, async () => {
      const running = startDiligent(place, [...script(bash(STUBBORN)), "--output-format", "stream-json"]);
      const child = Number(await waitForFile("child"));
      const signalledAt = performance.now();
      running.process.kill(signal);
      const { stdout, exitCode: actual } = await running.ended;
      expect(performance.now() - signalledAt).toBeLessThan(2000 + BUSY_MS);
      expect(actual).toBe(exitCode);
      const lines = parseLines(stdout);
      expect(lines.at(-1)).toMatchObject({ type: "result", stopReason: "aborted" });
      expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
      await waitForEnd(child);
      expect(savedMessages().map(({ role, toolCallId = "" }) => `${role} ${toolCallId}`)).toEqual([
        "user ",
        "assistant ",
        "tool_result call_1",
      ]);
      expect(readdirSync(place.temporary)).toEqual([]);
    });
  }

  test("the second SIGINT ends it at once, and still without a child", async () => {
    const running = startDiligent(place, script(bash(STUBBORN)));
    const child = Number(await waitForFile("child"));
    running.process.kill("SIGINT");
    await Bun.sleep(50);
    const signalledAt = performance.now();
    running.process.kill("SIGINT");
    const { exitCode } = await running.ended;
    expect(performance.now() - signalledAt).toBeLessThan(1000 + BUSY_MS);
    expect(exitCode).toBe(130);
    await waitForEnd(child);
  });
});

describe("a signal at another moment", () => {
  test("while the model answers: the received part is saved as aborted", async () => {
    const text = "One two three four five";
    const args = script({ text, chunkChars: 4, chunkDelayMs: 100 });
    const running = startDiligent(place, [...args, "--output-format", "stream-json"]);
    await running.shown('"delta":"One ');
    running.process.kill("SIGINT");
    const { stdout, exitCode } = await running.ended;
    expect(exitCode).toBe(130);
    const result = String(parseLines(stdout).at(-1)?.result);
    expect([text.startsWith(result), result.length > 0, result.length < text.length]).toEqual([
      true,
      true,
      true,
    ]);
    expect(savedMessages()).toMatchObject([{ role: "user" }, { role: "assistant", stopReason: "aborted" }]);
  });

  test("while the input is read", async () => {
    script({ text: "x" });
    const running = startDiligent(place, ["-p", "-m", "scripted/script.json"], { stdin: null });
    while (!isHandling(running.process.pid, "SIGTERM")) await Bun.sleep(5);
    const signalledAt = performance.now();
    running.process.kill("SIGTERM");
    const { stdout, exitCode } = await running.ended;
    expect([stdout, exitCode]).toEqual(["", 143]);
    expect(performance.now() - signalledAt).toBeLessThan(2000 + BUSY_MS);
  });

  test("while a reader of the answer does not read", async () => {
    const args = script({ text: "x".repeat(500_000) });
    const line = '("$@" & echo $! > pid; wait) | sleep 30';
    const child = Bun.spawn(["sh", "-c", line, "sh", PROGRAM, ...args], {
      cwd: place.project,
      env: bareEnvironment(place),
      stdin: "ignore",
      stderr: "ignore",
      stdout: "ignore",
      detached: true,
    });
    const pid = Number(await waitForFile("pid"));
    // Long enough for the answer to fill the pipe.
    await Bun.sleep(500);
    const signalledAt = performance.now();
    process.kill(pid, "SIGTERM");
    while (isAlive(pid)) await Bun.sleep(10);
    expect(performance.now() - signalledAt).toBeLessThan(2000 + BUSY_MS);
    process.kill(-child.pid, "SIGKILL");
  });
});

test("under nohup a hangup does not end it", async () => {
  const args = script(bash("touch began; sleep 0.3"), { text: "Done" });
  const running = startDiligent(place, args, { program: ["nohup", PROGRAM] });
  while (!existsSync(join(place.project, "began"))) await Bun.sleep(5);
  running.process.kill("SIGHUP");
  const { stdout, exitCode } = await running.ended;
  expect([stdout, exitCode]).toEqual(["Done\n", 0]);
});

describe("a closed or slow output", () => {
  /** Runs a shell line in which "$@" is the program. */
  async function shell(line: string, args: string[]) {
    const child = Bun.spawn(["bash", "-c", line, "bash", PROGRAM, ...args], {
      cwd: place.project,
      env: bareEnvironment(place),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { stdout, stderr, exitCode: child.exitCode };
  }

  test("with | head -1 the run stops silently with 0 and a complete session", async () => {
    const args = script(...Array.from({ length: 50 }, (_, n) => bash(`sleep 0.1; echo ${n}`)));
    const line = '"$@" --output-format stream-json | head -1 | cut -c1-17; echo "$PIPESTATUS"';
    expect(await shell(line, args)).toEqual({ stdout: '{"type":"session"\n0\n', stderr: "", exitCode: 0 });
    const messages = savedMessages();
    const calls = messages.filter(({ role }) => role === "assistant").length;
    expect(calls).toBeLessThan(50);
    expect(messages.filter(({ role }) => role === "tool_result").length).toBe(calls);
  });

  test("that nobody reads ends silently with 0", async () => {
    expect(
      await shell('"$@" 2>err | true; echo "$PIPESTATUS"; cat err', script({ text: "x".repeat(200_000) })),
    ).toEqual({
      stdout: "0\n",
      stderr: "",
      exitCode: 0,
    });
  });

  test("as closed descriptors: stdout, stderr, stdin, all of them", async () => {
    const args = script(bash("echo hi"), { text: "Done" });
    expect(await shell('"$@" >&-; echo $?', args)).toMatchObject({ stdout: "0\n" });
    expect(await shell('"$@" 2>&-; echo $?', args)).toEqual({ stdout: "Done\n0\n", stderr: "", exitCode: 0 });
    expect(await shell('"$@" <&-; echo $?', args)).toMatchObject({ stdout: "Done\n0\n" });
    expect(await shell('"$@" <&- >&- 2>&-; echo $?', args)).toEqual({
      stdout: "0\n",
      stderr: "",
      exitCode: 0,
    });
  });

  test("on a full disk is a reported failure", async () => {
    const { stdout, stderr } = await shell('"$@" >/dev/full; echo $?', script({ text: "Done" }));
    expect([stdout, stderr]).toEqual([
      "1\n",
      expect.stringContaining("diligent: the answer could not be written: "),
    ]);
  });

  test("gets everything if the reader is slow", async () => {
    const text = "0123456789".repeat(50_000);
    const { stdout } = await shell('"$@" | (sleep 0.5; wc -c)', script({ text }));
    expect(stdout.trim()).toBe("500001");
  });
});

test("print mode reports a removed working directory", async () => {
  const child = Bun.spawn(
    ["bash", "-c", 'mkdir gone; cd gone; rmdir ../gone; "$@" </dev/null', "bash", PROGRAM, "-p", "hi"],
    {
      cwd: place.project,
      env: bareEnvironment(place),
      stderr: "pipe",
    },
  );
  const stderr = await child.stderr.text();
  expect(await child.exited).toBe(2);
  expect(stderr.trimEnd().split("\n")).toEqual([expect.stringContaining("not a usable directory")]);
});

describe("a bug", () => {
  for (const [name, code] of [
    ["an error nobody catches", 'throw new Error("boom \\x1b[31m")'],
    ["a promise nobody waits for", 'Promise.reject(new Error("boom \\x1b[31m"))'],
  ] as const) {
    test(`${name} ends the program with 1, its text made safe, and no child`, async () => {
      const main = join(CHECKOUT_PROGRAM, "..", "main.ts");
      // Triggered once the command runs, however long that takes.
      const entry = place.write(
        "entry.ts",
        `const wait = setInterval(() => {
          const { existsSync, readFileSync } = require("node:fs");
          if (!existsSync("child") || readFileSync("child", "utf8") === "") return;
          clearInterval(wait);
          ${code};
        }, 20);
        await (await import(${JSON.stringify(main)})).main();`,
      );
      const args = script(bash("trap '' TERM; sleep 30 & echo $! > child; wait"));
      const running = startDiligent(place, args, { program: [process.execPath, entry] });
      const child = Number(await waitForFile("child"));
      const { stderr, exitCode } = await running.ended;
      expect(exitCode).toBe(1);
      expect(stderr).toContain("diligent: unexpected error: Error: boom \\x1b[31m\n");
      await waitForEnd(child);
    });
  }
});

test("no socket listens while print mode runs", async () => {
  const running = startDiligent(place, script(bash("touch began; sleep 0.3"), { text: "Done" }));
  while (!existsSync(join(place.project, "began"))) await Bun.sleep(5);
  const own = readdirSync(`/proc/${running.process.pid}/fd`).flatMap((descriptor) =>
    socketOf(running.process.pid, descriptor),
  );
  expect(own.filter((inode) => listeningSockets().has(inode))).toEqual([]);
  await running.ended;
});

function socketOf(pid: number, descriptor: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.slice(1) ?? [];
  } catch {
    // Closed meanwhile.
    return [];
  }
}

/** Inodes of the TCP sockets that listen on this machine. */
function listeningSockets(): Set<string> {
  const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "utf8").split("\n"));
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return new Set(fields.filter(([, , , state]) => state === "0A").map((columns) => columns[9] ?? ""));
}

test("a question of the model is refused with the reason, a checklist is on stderr, and the exit code is 0", async () => {
  const questions = [{ question: "Which?", options: [{ label: "a" }] }];
  const todos = [{ content: "Ask", status: "in_progress" }];
  const turns = [
    { toolCalls: [{ name: "ask_user", input: { questions } }] },
    { toolCalls: [{ name: "todo", input: { todos } }] },
    { text: "done" },
  ];
  const { stdout, stderr, exitCode } = await startDiligent(place, script(...turns)).ended;
  expect([stdout, exitCode]).toEqual(["done\n", 0]);
  expect(stderr).toContain("ask_user failed: No user is present to answer.");
  expect(stderr).toContain("todo: 0 of 1 done\n  [>] Ask\n");
});

test("plan mode prints the plan, and the exit code is 0", async () => {
  const plan = "## Plan\n\n1. Change a.txt\n";
  const args = script({ text: plan }).map((arg) => (arg === "auto" ? "plan" : arg));
  const { stdout, exitCode } = await startDiligent(place, args).ended;
  expect([stdout, exitCode]).toEqual([plan, 0]);
});
