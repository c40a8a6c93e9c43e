import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { QuietTimes } from "../../src/sandbox/protected-files/quiet-times.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** Resolves once a command has made a file in the project, and has begun to wait for another one. */
function waitFor(path: string, directory: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(directory, () => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    });
  });
}

/**
 * Resolves once somebody who looks as often as the box does has seen several times that no command was at work, and for
 * longer than the box distrusts what follows the end of a process.
 */
async function untilQuiet(directory: string): Promise<void> {
  const seen = new QuietTimes();
  seen.watch();
  const trustedAtMs = Date.now() + 500;
  for (let number = 0, noticed = 0; noticed < 3; number += 1) {
    const probe = join(directory, `probe-${number}`);
    writeFileSync(probe, "");
    const limitMs = Date.now() + 200;
    while (seen.findSuspects(probe).length > 0 && Date.now() < limitMs) await Bun.sleep(5);
    if (seen.findSuspects(probe).length === 0 && Date.now() > trustedAtMs) noticed += 1;
  }
  seen.stop();
}

// The second line is given by the test, so the command waits without a clock.
const WAIT = "mkfifo wait; touch ready; read line < wait";

describe.skipIf(problem !== undefined)("a protected file that appears while a command runs", () => {
  test("stays where it is when it was made from outside, and is reported", async () => {
    const place = await makeBoxedProject();
    const at = (path: string) => place.at(`project/${path}`);
    const ready = waitFor(at("ready"), place.root);
    const running = place.run(`${WAIT}; echo done`);
    await ready;
    await untilQuiet(place.home);
    writeFileSync(at(".env"), "MINE=1\n");
    for (const directory of [".vscode", ".github", ".github/workflows"]) mkdirSync(at(directory));
    writeFileSync(at(".vscode/settings.json"), "{}\n");
    writeFileSync(at(".github/workflows/ci.yml"), "on: push\n");
    await untilQuiet(place.home);
    writeFileSync(at("wait"), "go\n");
    const { output } = await running;
    expect(
      [".env", ".vscode/settings.json", ".github/workflows/ci.yml"].map((path) => existsSync(at(path))),
    ).toEqual([true, true, true]);
    expect(output).not.toContain("was moved to");
    expect(place.told.join("\n")).toContain(".env");
    expect(place.told.join("\n")).toContain("appeared while a command ran");
  });

  test("is moved away when the command made it, also between waiting", async () => {
    const place = await makeBoxedProject();
    const ready = waitFor(place.at("project/ready"), place.root);
    const running = place.run(
      `${WAIT}; echo X=1 > .env; mkdir .vscode; echo {} > .vscode/settings.json; sleep 0.3`,
    );
    await ready;
    writeFileSync(place.at("project/wait"), "go\n");
    const { output } = await running;
    expect(output).toContain(".env was moved to");
    expect([".env", ".vscode"].map((path) => existsSync(place.at(`project/${path}`)))).toEqual([
      false,
      false,
    ]);
  });
});

describe("the times when no command was at work", () => {
  const directory = makeTempDir();
  /** A file, and the moment from which the clock of files is beyond it. */
  async function make(name: string): Promise<string> {
    const path = join(directory, name);
    writeFileSync(path, "");
    const { ctimeMs } = lstatSync(path);
    while (Date.now() < ctimeMs + 20) await Bun.sleep(1);
    return path;
  }
  /** From a moment that is behind the clock of files. */
  async function looking(...states: (string | undefined)[]) {
    const times = new QuietTimes(() => states.shift());
    times.sample();
    await make("before");
    const path = await make(`${Bun.randomUUIDv7()}`);
    times.sample();
    return times.findSuspects(path).length === 0;
  }

  test("are those between two looks at which every process slept as often as before", async () => {
    expect(await looking("7 1", "7 1")).toBe(true);
    expect(await looking("7 1", "7 2")).toBe(false);
    expect(await looking("7 1", "7 1\n8 0")).toBe(false);
    expect(await looking(undefined, undefined)).toBe(false);
  });

  test("hold no process that began and ended between two looks", async () => {
    const times = new QuietTimes();
    const limitMs = Date.now() + 5_000;
    let isQuiet = false;
    while (!isQuiet && Date.now() < limitMs) {
      times.sample();
      const path = await make(`${Bun.randomUUIDv7()}`);
      times.sample();
      isQuiet = times.findSuspects(path).length === 0;
    }
    expect(isQuiet).toBe(true);
    const path = join(directory, "made-in-between");
    // Blocks until the process has ended, so nothing is sampled meanwhile.
    expect(Bun.spawnSync(["touch", path]).exitCode).toBe(0);
    await make("after");
    times.sample();
    expect(times.findSuspects(path)).toEqual([path]);
  });

  test("begin a moment after the last process has ended", async () => {
    expect(await looking("", "")).toBe(false);
  });

  // A box that is killed leaves processes for a moment, which are no children of this one.
  test("begin a moment after any process has ended, also while others go on", async () => {
    let ended = "0";
    const times = new QuietTimes(
      () => "7 1",
      () => ended,
    );
    times.sample();
    ended = "1";
    times.sample();
    const early = await make("while-ending");
    times.sample();
    expect(times.findSuspects(early)).toEqual([early]);
    await Bun.sleep(300);
    times.sample();
    await make("before-late");
    const late = await make("after-ending");
    times.sample();
    expect(times.findSuspects(late)).toEqual([]);
    expect(times.findSuspects(early)).toEqual([early]);
  });
});
