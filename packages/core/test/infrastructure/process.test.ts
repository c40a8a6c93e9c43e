import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { startProcess } from "../../src/infrastructure/process/process.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { testUnless } from "../support/test-unless.ts";

afterEach(endAllProcesses);

const start = (script: string, environment: Record<string, string> = {}) =>
  startProcess({
    argv: ["/bin/sh", "-c", script],
    cwd: "/",
    environment: { PATH: process.env.PATH ?? "", ...environment },
  });

/** The letter that the kernel has for what a process does: `T` is stopped. */
function stateOf(pid: number): string | undefined {
  return Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString()[0];
}

async function textOf(outputs: readonly ReadableStream<Uint8Array>[]): Promise<string> {
  return (await Promise.all(outputs.map((output) => new Response(output).text()))).join("");
}

describe("a started process", () => {
  test("has both outputs in one pipe, no terminal and its own process session", async () => {
    const child = await start("echo a; echo b >&2; cat; ps -o sid= -p $$; echo $$");
    const [a, b, session, pid] = (await textOf(child.outputs)).split("\n");
    child.closeOutputs();
    expect([a, b, session?.trim(), pid]).toEqual(["a", "b", String(child.pid), String(child.pid)]);
    expect(await child.exited).toEqual({ exitCode: 0, signal: null });
    expect(child.hasSurvivors()).toBe(false);
  });

  test("inherits nothing of our environment except a mark, after the mark of an outer diligent", async () => {
    const child = await start("env | grep -v -e ^PWD -e ^SHLVL -e ^_ -e ^PATH -e ^OLDPWD", {
      DILIGENT_PROCESS: "/outer/1/",
    });
    expect(await textOf(child.outputs)).toMatch(
      /^DILIGENT_PROCESS=\/outer\/1\/\/\d+-[0-9a-f-]{36}\/\d+\/\n$/,
    );
    child.closeOutputs();
  });

  test("has its outputs in two streams if no pipe can be created", async () => {
    const child = await startProcess({
      argv: ["/bin/sh", "-c", "echo a; echo b >&2"],
      cwd: "/",
      environment: {},
      openPipe: async () => undefined,
    });
    expect(await Promise.all(child.outputs.map((output) => new Response(output).text()))).toEqual([
      "a\n",
      "b\n",
    ]);
    child.closeOutputs();
  });

  test("that cannot be started is named", async () => {
    const starting = startProcess({ argv: ["/nonexistent/bash"], cwd: "/", environment: {} });
    await expect(starting).rejects.toThrow(
      "/nonexistent/bash could not be started: it does not exist (ENOENT).",
    );
  });
});

describe("a process that reports the mount namespace of its command", () => {
  testUnless(process.platform === "linux" ? undefined : "needs Linux")(
    "is not gone while somebody runs in it, also if its exit is noticed before the report",
    async () => {
      // This test itself runs in that one.
      const used = /\d+/.exec(readlinkSync("/proc/self/ns/mnt"))?.[0];
      const script = `echo '{ "child-pid": 1, "mnt-namespace": ${used} }' >&3; echo '{ "exit-code": 0 }' >&3`;
      for (let round = 0; round < 20; round++) {
        const child = await startProcess({
          argv: ["/bin/sh", "-c", script],
          cwd: "/",
          environment: { PATH: "/usr/bin:/bin" },
          report: "bubblewrap",
          processTable: "/proc",
        });
        await child.exited;
        // Whatever can be known has been noticed by now.
        await new Promise((resolve) => setImmediate(resolve));
        expect([child.hasSurvivors(), Bun.peek.status(child.gone)]).toEqual([true, "pending"]);
      }
    },
  );
});

describe("end", () => {
  test("ends all descendants of the process, wherever they moved", async () => {
    const seconds = uniqueSleepSeconds();
    const child = await start(
      `sleep ${seconds} & setsid sleep ${seconds} & (setsid sh -c 'sleep ${seconds}; :' &); env -i setsid sleep ${seconds} & sleep ${seconds}`,
    );
    while (countProcesses(seconds) < 5) await Bun.sleep(5);
    expect(await child.end()).toBe(true);
    expect(countProcesses(seconds)).toBe(0);
    expect(await child.exited).toEqual({ exitCode: null, signal: "SIGTERM" });
  });

  test("gives a process the time to clean up, and kills it if it takes too long", async () => {
    const place = makeTempDir();
    const isUp = async (name: string) => {
      while (!existsSync(join(place, name))) await Bun.sleep(5);
    };
    const tidy = await start(
      `trap 'echo tidied; exit 5' TERM; echo up; touch ${place}/tidy; while :; do :; done`,
    );
    await isUp("tidy");
    await tidy.end();
    expect(await textOf(tidy.outputs)).toBe("up\ntidied\n");
    expect(await tidy.exited).toEqual({ exitCode: 5, signal: null });
    const stubborn = await start(`trap '' TERM; touch ${place}/stubborn; while :; do sleep 0.1; done`);
    await isUp("stubborn");
    const begin = performance.now();
    expect(await stubborn.end()).toBe(true);
    expect(performance.now() - begin).toBeWithin(950, 2_000 + BUSY_MS);
    expect(await stubborn.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
  });

  test("does not affect our other processes", async () => {
    const seconds = uniqueSleepSeconds();
    const other = await start(`sleep ${seconds}; :`);
    const child = await start("sleep 30");
    await child.end();
    expect(countProcesses(`sleep\0${seconds}`)).toBe(1);
    await other.end();
  });

  test("resumes a stopped process so that it can exit", async () => {
    const child = await start("kill -STOP $$");
    while (stateOf(child.pid) !== "T") await Bun.sleep(5);
    const begin = performance.now();
    expect(await child.end()).toBe(true);
    expect(performance.now() - begin).toBeLessThan(500 + BUSY_MS);
  });
});

describe("when diligent ends", () => {
  const program = join(import.meta.dir, "..", "support", "leave-children.ts");

  test.each(["exit", "throw", "tidy"])(
    "by %s, none of its descendants is left two seconds later",
    async (ending) => {
      const seconds = uniqueSleepSeconds();
      const child = Bun.spawn([process.execPath, program, seconds, ending], {
        stdout: "pipe",
        stderr: "ignore",
      });
      expect(await new Response(child.stdout).text()).toBe("ready\n");
      await child.exited;
      expect(await countLeftRunning(seconds)).toBe(0);
    },
  );
});
