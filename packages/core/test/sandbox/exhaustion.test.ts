import { afterEach, describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { release } from "node:os";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { countLeftRunning, uniqueSleepSeconds } from "../support/process-census.ts";
import { findMountObstacle, testUnless } from "../support/test-unless.ts";

const problem = await findBoxProblem();
const [major = 0, minor = 0] = release().split(".").map(Number);
const unlimited = major > 6 || (major === 6 && minor >= 14) ? undefined : "this kernel limits no processes";
const disks: string[] = [];

afterEach(async () => {
  await endAllProcesses();
  for (const disk of disks.splice(0)) Bun.spawnSync(["umount", disk]);
});

describe("a command that takes all processes", () => {
  testUnless(problem ?? unlimited)(
    "takes only those of its session, ends by its time limit, and the next command works",
    async () => {
      const place = await makeBoxedProject({ maxProcesses: 400 });
      const seconds = uniqueSleepSeconds();
      const { output } = await place.run(`while :; do sleep ${seconds} & done`, { timeout: 5_000 });
      expect(output).toMatch(/Resource temporarily unavailable|Cannot fork|Cannot allocate memory/);
      expect(await countLeftRunning(seconds)).toBe(0);
      expect(await place.run("echo works")).toMatchObject({ output: "works", isError: false });
    },
  );

  testUnless(problem ?? unlimited)(
    "and leaves them in the background has them ended by the next command, which reports it",
    async () => {
      const place = await makeBoxedProject({ maxProcesses: 400 });
      const seconds = uniqueSleepSeconds();
      await place.run(`sh -c 'while :; do sleep ${seconds} & done'`);
      const { output, isError } = await place.run("echo works");
      expect(isError).toBe(false);
      expect(output).toStartWith(
        "works\n[all processes of this session had ended: there was no room for one more",
      );
      expect(await countLeftRunning(seconds)).toBe(0);
      expect((await place.run("echo on")).output).toBe("on");
    },
  );
});

describe("a command that fills the disk of its temporary files", () => {
  testUnless(problem ?? findMountObstacle())(
    "fails, and the next command is equally protected and can free the disk",
    async () => {
      const place = await makeBoxedProject({
        sharedTemporary: ["/tmp", "/var/tmp"],
        prepare({ session }) {
          Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m", "diligent-test", session]);
          disks.push(session);
        },
      });
      const full = await place.run("head -c 10000000 /dev/zero > /tmp/hog");
      expect(full).toMatchObject({ isError: true });
      expect(full.output).toContain("No space left on device");
      const { output } = await place.run(
        "grep Seccomp: /proc/self/status; echo kept > kept; rm /tmp/hog; echo x > /tmp/x",
      );
      expect(output).toBe("Seccomp:\t2");
      expect([place.text("project/kept"), existsSync(place.at("session/tmp/x"))]).toEqual(["kept\n", true]);
    },
  );
});
