import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

describe.skipIf(problem !== undefined)("a sandboxed command", () => {
  test("sees only its own processes, and nothing of others' environment", async () => {
    const stranger = Bun.spawn(["sleep", "60"], { env: { SECRET: "nonce-of-a-stranger" } });
    const { run } = await makeBoxedProject();
    const { output } = await run(
      "cat /proc/*/environ /proc/$PPID/environ | tr '\\0' '\\n'; ps eww 2>&1; ps aux; ls -d /proc/[0-9]* | wc -l",
    );
    stranger.kill();
    expect(output).not.toMatch(/nonce-of-a-stranger|sleep 60|bun test/);
    expect(Number(output.trim().split("\n").at(-1))).toBeLessThan(9);
  });

  test("and cannot affect those outside", async () => {
    const stranger = Bun.spawn(["sleep", "60"]);
    const { run } = await makeBoxedProject();
    // Without a view of its own the command below would end everything of ours: then this fails before it.
    const view = await run("readlink /proc/self/ns/pid");
    expect(view.output).toMatch(/^pid:\[\d+\]$/);
    expect(view.output).not.toBe(readlinkSync("/proc/self/ns/pid"));
    await run(`kill -9 ${process.pid} ${stranger.pid}; kill -9 -1; pkill -9 sleep`);
    const attached = await run(`strace -p ${process.pid}; gdb -p ${process.pid}; ls /proc/${process.pid}`);
    expect([attached.isError, stranger.exitCode]).toEqual([true, null]);
    stranger.kill();
  });

  test("and none gets more privileges than the command has", async () => {
    const { run } = await makeBoxedProject();
    const { output } = await run(
      "grep -E 'NoNewPrivs|Cap(Eff|Bnd)' /proc/self/status; sudo -n true; su -c true",
    );
    expect(output).toContain("CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1");
  });
});

describe.skipIf(problem !== undefined)("the end of a sandboxed command", () => {
  test("is reported with its exit code; a signal has the shell's number for it", async () => {
    const { run } = await makeBoxedProject();
    const results = [await run("echo one; echo two >&2; exit 3"), await run("kill -KILL $$")];
    expect(results.map(({ output }) => output)).toEqual([
      "one\ntwo\n[exit code 3]",
      "(no output)\n[exit code 137]",
    ]);
    expect(results[0]?.metadata).toEqual({ exitCode: 3, durationMs: expect.any(Number), sandboxed: true });
  });

  test("does not wait for background processes, which run until the session ends", async () => {
    const { run, text } = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const begin = performance.now();
    const first = await run(`(while :; do date > alive; sleep 0.05; done) & sleep ${seconds} & echo started`);
    expect(performance.now() - begin).toBeLessThan(1_000 + BUSY_MS);
    expect(first.output).toBe("started\n[a background process it started is still running: job 1]");
    await Bun.sleep(1_200);
    const before = text("project/alive");
    await run("true");
    expect(countProcesses(seconds)).toBeGreaterThan(0);
    await Bun.sleep(1_000);
    expect(text("project/alive")).not.toBe(before);
    await endAllProcesses();
    expect(countProcesses(seconds)).toBe(0);
  });

  for (const [name, command] of Object.entries({
    "one that has its own session": "setsid -f sleep SECONDS",
    "one without an environment": "env -i nohup sleep SECONDS > /dev/null 2>&1 &",
    "one that was left by its parent": "(sleep SECONDS & ) > /dev/null 2>&1; (setsid sleep SECONDS &)",
    "one that ignores everything": "(trap '' TERM INT HUP; sleep SECONDS; sleep SECONDS) &",
  })) {
    test(`leaves background processes that end with the session: ${name}`, async () => {
      const { run } = await makeBoxedProject();
      const seconds = uniqueSleepSeconds();
      await run(command.replaceAll("SECONDS", seconds));
      // In the moment in which it becomes another program a process has no command line.
      while (countProcesses(seconds) === 0) await Bun.sleep(5);
      await endAllProcesses();
      expect(countProcesses(seconds)).toBe(0);
    });
  }

  test("by its time limit leaves nothing, and lets it clean up first", async () => {
    const { run, text } = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const command = `trap 'echo cleaned > cleaned; exit' TERM; sleep ${seconds} & wait`;
    const begin = performance.now();
    const { output } = await run(command, { timeout: 2_000 });
    expect(output).toBe("(no output)\n[timed out after 2000 ms; process group killed]");
    expect(performance.now() - begin).toBeLessThan(2_900 + BUSY_MS);
    expect([text("project/cleaned"), await countLeftRunning(seconds)]).toEqual(["cleaned\n", 0]);
  });

  test("by an interrupt leaves nothing either, also of processes that ignore it", async () => {
    const { run } = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const controller = new AbortController();
    const running = run(`trap '' TERM; sleep ${seconds}; sleep ${seconds}`, { signal: controller.signal });
    await Bun.sleep(150);
    controller.abort();
    expect((await running).output).toContain("[interrupted; ");
    expect(await countLeftRunning(seconds)).toBe(0);
  });

  test("leaves nothing if this program is killed, both in the foreground and in the background", async () => {
    const place = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const script = join(import.meta.dir, "..", "support", "run-boxed.ts");
    const child = Bun.spawn([process.execPath, script, place.top, `sleep ${seconds} & sleep ${seconds}`], {
      stdout: "pipe",
      env: { PATH: process.env.PATH },
    });
    while (countProcesses(`sleep\0${seconds}`) < 2) await Bun.sleep(10);
    child.kill("SIGKILL");
    expect(await countLeftRunning(seconds)).toBe(0);
  });

  test("leaves no mount and no file of the sandbox in the project", async () => {
    const { run, root } = await makeBoxedProject();
    await run("true");
    // Other tests mount file systems in their own projects meanwhile.
    const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    const files = [...new Bun.Glob("**/*").scanSync({ cwd: root, dot: true })];
    expect([mounts.filter((line) => line.includes(root)), files]).toEqual([[], []]);
  });
});
