import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, renameSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { SandboxActivity } from "../../src/infrastructure/process/sandbox-activity.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeKeptProject } from "../support/kept-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** Resolves once a command has made a file in the project. */
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
 * Resolves once somebody who samples as the sandbox does has several times found all commands asleep, and has done so for a
 * third of the time since the command began: by then the sandbox has sampled, too, however rarely it does so.
 */
async function untilAsleep(directory: string, sinceMs: number): Promise<void> {
  const activity = new SandboxActivity();
  activity.beginCommand();
  const beginMs = performance.now();
  const isLongEnough = () => performance.now() - beginMs > (performance.now() - sinceMs) / 3;
  for (let found = 0, number = 0; found < 3 || !isLongEnough(); number += 1) {
    const probe = join(directory, `probe-${number}`);
    writeFileSync(probe, "");
    const limitMs = Date.now() + 500;
    while (activity.findSuspects(probe).length > 0 && Date.now() < limitMs) await Bun.sleep(5);
    if (activity.findSuspects(probe).length === 0) found += 1;
  }
  activity.stop();
}

// The second line is given by the test, so the command waits without a clock.
const WAIT = "mkfifo wait; touch ready; read line < wait";

const MINE = [".env", ".vscode/settings.json", ".github/workflows/ci.yml", "AGENTS.md", ".husky/pre-commit"];

describe.skipIf(problem !== undefined)("a protected file that appears while a command runs", () => {
  test("stays in place if it was created from outside, and is reported", async () => {
    const place = await makeBoxedProject();
    const ready = waitFor(place.at("project/ready"), place.root);
    const beginMs = performance.now();
    const running = place.run(`${WAIT}; echo done`);
    await ready;
    await untilAsleep(place.home, beginMs);
    for (const path of MINE) place.put(`project/${path}`, "mine\n");
    await untilAsleep(place.home, beginMs);
    writeFileSync(place.at("project/wait"), "go\n");
    const { output } = await running;
    expect(MINE.map((path) => place.text(`project/${path}`))).toEqual(MINE.map(() => "mine\n"));
    expect(output).not.toContain("was moved to");
    expect(place.told.join("\n")).toContain("appeared while a command ran. No command created it");
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

  test("is moved away when a command made it in the moment between two looks at processes", async () => {
    const place = await makeBoxedProject();
    for (let round = 0; round < 5; round += 1) {
      await place.run("echo CANARY > AGENTS.md");
      expect(place.text("project/AGENTS.md")).toBeUndefined();
    }
  });
});

const directory = makeTempDir();

/** A file, and the moment from which the clock of files is beyond it. */
async function make(path: string): Promise<string> {
  writeFileSync(path, "");
  const { ctimeMs } = lstatSync(path);
  while (Date.now() < ctimeMs + 20) await Bun.sleep(1);
  return path;
}

describe("what was created while sandboxed processes slept", () => {
  /** Whether a file counts as somebody else's that is made between two samples. */
  async function isOthers(...states: (string | undefined)[]) {
    const activity = new SandboxActivity(
      () => states.shift(),
      () => "",
    );
    activity.sample();
    await make(join(directory, "before"));
    const path = await make(join(directory, Bun.randomUUIDv7()));
    activity.sample();
    return activity.findSuspects(path).length === 0;
  }

  test("is what came between two samples at which every thread had slept as often", async () => {
    expect(await isOthers("7 1", "7 1")).toBe(true);
    expect(await isOthers("7 1", "7 2")).toBe(false);
    expect(await isOthers("7 1", "7 1\n8 0")).toBe(false);
    expect(await isOthers(undefined, undefined)).toBe(false);
  });

  test("is sampled the more rarely the longer they have slept", async () => {
    let samples = 0;
    let state = "7 1";
    const activity = new SandboxActivity(
      () => {
        samples += 1;
        return state;
      },
      () => "",
    );
    activity.beginCommand();
    await Bun.sleep(2_000);
    // Every 25 ms it would be 80.
    expect(samples).toBeLessThan(40);
    const path = await make(join(directory, "after-long-sleep"));
    activity.sample();
    expect(activity.findSuspects(path)).toEqual([]);
    state = "7 2";
    const late = await make(join(directory, "at-work"));
    activity.sample();
    expect(activity.findSuspects(late)).toEqual([late]);
    activity.stop();
  });

  test("is nothing that a process made which began and ended between two samples", async () => {
    const activity = new SandboxActivity();
    activity.sample();
    await make(join(directory, "before"));
    const path = join(directory, "made-in-between");
    // Blocks until the process has ended, so nothing is sampled meanwhile.
    expect(Bun.spawnSync(["touch", path]).exitCode).toBe(0);
    await make(join(directory, "after"));
    activity.sample();
    expect(activity.findSuspects(path)).toEqual([path]);
  });

  test("is not what was moved in from elsewhere, however old it is", async () => {
    const [aside, place] = [join(directory, "aside"), join(directory, "place")];
    for (const path of [aside, place]) mkdirSync(join(path, "inner"), { recursive: true });
    await make(join(aside, "inner/old"));
    let state = "7 1";
    const activity = new SandboxActivity(
      () => state,
      () => "",
    );
    activity.beginCommand();
    activity.sample();
    renameSync(join(aside, "inner"), join(place, "moved"));
    state = "7 2";
    activity.sample();
    await make(join(directory, "later"));
    activity.sample();
    activity.stop();
    expect(activity.findSuspects(join(place, "moved"))).toEqual([join(place, "moved")]);
  });

  test("is told apart within one directory", async () => {
    let state = "7 1";
    const activity = new SandboxActivity(
      () => state,
      () => "",
    );
    activity.beginCommand();
    activity.sample();
    await make(join(directory, "before"));
    const inner = join(directory, "mixed");
    mkdirSync(inner);
    await make(join(inner, "mine"));
    activity.sample();
    writeFileSync(join(inner, "theirs"), "");
    state = "7 2";
    activity.sample();
    activity.stop();
    expect(activity.findSuspects(inner)).toEqual([join(inner, "theirs")]);
  });
});

describe("what appears while a command works, so that its author is unknown", () => {
  /** A project in which a command has worked all the time, since that many milliseconds. */
  function work(sinceMs: number) {
    const activity = new SandboxActivity(
      () => undefined,
      () => "",
    );
    const place = makeKeptProject({ activity });
    setSystemTime(Date.now() - sinceMs);
    place.begin();
    setSystemTime();
    return place;
  }

  test("stays where nothing reads it before a person does something, and is reported with its reason", () => {
    const place = work(3_000);
    const paths = [".env", ".github/workflows/ci.yml", "docs/.env.local"];
    for (const path of paths) place.put(path);
    const notes = place.keeper.finish(new Promise(() => {}));
    expect([place.moved(), paths.map((path) => existsSync(place.at(path)))]).toEqual([
      [],
      [true, true, true],
    ]);
    const unknown = "appeared while commands were at work, and it is unknown whether one of them created it";
    expect(place.told.toSorted()).toEqual([
      expect.stringMatching(new RegExp(`^\\.env, docs/\\.env\\.local ${unknown}.*: programs take settings`)),
      expect.stringMatching(new RegExp(`^\\.github/workflows ${unknown}.*: it is run once it is pushed`)),
    ]);
    expect(notes.toSorted()).toEqual(place.told.toSorted());
    // It is the user's now, and reported once.
    expect(place.keeper.finish(new Promise(() => {}))).toEqual([]);
    expect(place.held()).toContain(".env");
  });

  test("is moved away where it would run or be followed at once", () => {
    const place = work(3_000);
    const paths = [".envrc", ".git/hooks/pre-commit", ".husky/pre-commit", ".npmrc", "AGENTS.md", "x/HEAD"];
    place.put("x/commondir");
    for (const path of [...paths, ".vscode/tasks.json"]) place.put(path);
    place.keeper.finish(new Promise(() => {}));
    expect(place.moved()).toEqual([...paths, ".vscode/tasks.json"].toSorted());
  });

  test("is the command's own where that took so short a time that nobody else creates a file in it", () => {
    const place = work(0);
    for (const path of [".env", ".github/workflows/ci.yml"]) place.put(path);
    place.keeper.finish(new Promise(() => {}));
    expect(place.moved()).toEqual([".env", ".github/workflows/ci.yml"]);
  });
});
