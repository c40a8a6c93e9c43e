import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { readCpuSeconds, readMegabytes, readSleeps } from "../src/measure/process-run.ts";
import { measureEchoes, TerminalRun } from "../src/measure/terminal-run.ts";

function run(script: string, timeLimitMs = 10_000): TerminalRun {
  const environment = { PATH: process.env.PATH ?? "" };
  return new TerminalRun({ argv: ["/bin/sh", "-c", script], cwd: tmpdir(), environment, timeLimitMs });
}

/** True also for an ended process that its parent has not waited for yet. */
function isGone(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return !existsSync(path) || readFileSync(path, "utf8").includes(") Z ");
}

test("the output of a program in the terminal is seen with its arrival time", async () => {
  await using terminal = run("sleep 0.1; printf on; printf e; sleep 5");
  const cameAt = await terminal.nextOutput("one");
  expect(cameAt - terminal.startedAt).toBeGreaterThan(90);
  await terminal.waitForScreen("one");
});

test("each key is timed by its echo", async () => {
  // The terminal echoes by itself.
  await using terminal = run("sleep 5");
  const times = await measureEchoes(terminal, { intervalMs: 1, until: (typed) => typed >= 50 });
  expect(times).toHaveLength(50);
  expect(Math.max(...times)).toBeLessThan(1_000 + BUSY_MS);
});

test("a program that ends before the expected text is reported with its last rows", async () => {
  await using terminal = run("echo because; exit 3");
  await expect(terminal.nextOutput("one")).rejects.toThrow(/ended before it wrote "one".*\nbecause/);
  await expect(terminal.waitForScreen("one")).rejects.toThrow("ended before it showed one");
});

test("the program is killed with its children, even if it ignores TERM", async () => {
  const terminal = run("trap '' TERM HUP; sleep 60 & echo $!; wait; wait");
  await terminal.waitForScreen(/\d+/);
  const child = Number(terminal.screen.screen()[0]);
  await terminal[Symbol.asyncDispose]();
  expect(() => process.kill(terminal.pid, 0)).toThrow();
  while (!isGone(child)) await Bun.sleep(10);
});

test("a program that takes too long is killed", async () => {
  await using terminal = run("sleep 60", 100);
  expect((await terminal.ended) - terminal.startedAt).toBeLessThan(3_000 + BUSY_MS);
});

test("the kernel's figures of a living process are read", async () => {
  await using busy = run("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; sleep 5");
  await busy.waitForScreen("done");
  expect(readCpuSeconds(busy.pid)).toBeGreaterThan(0);
  const { now, peak } = readMegabytes(busy.pid);
  expect(now).toBeGreaterThan(0.1);
  expect(peak).toBeGreaterThanOrEqual(now);
  expect(readSleeps(busy.pid)).toBeGreaterThanOrEqual(0);
});
