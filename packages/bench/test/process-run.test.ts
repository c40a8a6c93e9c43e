import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { runProcess } from "../src/measure/process-run.ts";

const environment = { PATH: process.env.PATH ?? "" };

function run(script: string, timeLimitMs = 10_000) {
  return runProcess({ argv: ["/bin/sh", "-c", script], cwd: tmpdir(), environment, timeLimitMs });
}

describe("runProcess", () => {
  test("measures the whole process, and returns its output", async () => {
    const { wallMs, cpuMs, stdout } = await run("echo out; sleep 0.1");
    expect(stdout).toBe("out\n");
    expect(wallMs).toBeGreaterThan(100);
    expect(cpuMs).toBeLessThan(wallMs);
  });

  test("includes the CPU time of children that the process waited for", async () => {
    const idle = await run("sleep 0.1");
    const busy = await run("sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'");
    expect(busy.cpuMs).toBeGreaterThan(idle.cpuMs + 10);
  });

  test("reports a failure with the end of the process's output", async () => {
    await expect(run("echo because >&2; exit 3")).rejects.toThrow(/ended with exit code 3:\nbecause$/);
  });

  test("kills a process that takes too long with its children", async () => {
    const begin = performance.now();
    await expect(run("sleep 60 & wait", 100)).rejects.toThrow("SIGTERM");
    expect(performance.now() - begin).toBeLessThan(3_000 + BUSY_MS);
  });
});
