import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { forgetLastLine } from "../support/checkpoint-log.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { describeTree } from "../support/tree-bytes.ts";

let place: CheckpointPlace;
let states: string[][];
beforeEach(async () => {
  place = new CheckpointPlace();
  states = [];
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const tree = () => describeTree(place.root);

function plantTree(): void {
  for (const name of ["full", "swap", "closed"]) mkdirSync(place.path(name));
  for (let index = 0; index < 8; index++) write(`full/${index}`, `one ${index}\n`);
  write("swap/in", "in\n");
  write("file", "becomes a directory\n");
  symlinkSync("file", place.path("link"));
  write("closed/f", "one\n");
  chmodSync(place.path("closed"), 0o555);
  write("named", "one\n");
  linkSync(place.path("named"), join(place.top, "other-name"));
}

function changeTree(): void {
  for (const name of ["full", "swap", "file", "link"]) rmSync(place.path(name), { recursive: true });
  for (const name of ["file", "made"]) mkdirSync(place.path(name));
  for (let index = 0; index < 8; index++) write(`made/${index}`, `two ${index}\n`);
  write("swap", "was a directory\n");
  write("link", "was a link\n");
  chmodSync(place.path("closed"), 0o755);
  write("closed/f", "two\n");
  chmodSync(place.path("closed"), 0o511);
  write("named", "two, and longer\n");
}

/** A signal that is aborted when it is looked at for the time after that many. */
function stopAfter(looks: number): AbortSignal {
  const { signal } = new AbortController();
  let left = looks;
  return Object.defineProperty(signal, "aborted", { get: () => left-- <= 0 });
}

async function begin(): Promise<Checkpoints> {
  const checkpoints = place.open();
  plantTree();
  states.push(tree());
  await place.run(checkpoints, () => write("first", "1\n"));
  states.push(tree());
  await place.run(checkpoints, changeTree);
  states.push(tree());
  return checkpoints;
}

const STOPPED = { restored: [], conflicts: [], failures: [], isStopped: true };

describe("a restore that is stopped at any point rolls everything back", () => {
  test("an undo", async () => {
    const checkpoints = await begin();
    let stops = 0;
    for (; ; stops++) {
      const result = await checkpoints.undo({ signal: stopAfter(stops) });
      if (!result?.isStopped) break;
      expect(result).toMatchObject({ move: "undo", ...STOPPED });
      expect(tree()).toEqual(states[2] ?? []);
    }
    expect(stops).toBeGreaterThan(25);
    expect(tree()).toEqual(states[1] ?? []);
    await checkpoints.undo();
    expect(tree()).toEqual(states[0] ?? []);
    await checkpoints.redo();
    await checkpoints.redo();
    expect(tree()).toEqual(states[2] ?? []);
  });

  test("a redo, and earlier redos are still possible", async () => {
    const checkpoints = await begin();
    await checkpoints.undo();
    await checkpoints.undo();
    await checkpoints.redo();
    for (let stops = 0; ; stops++) {
      const result = await checkpoints.redo({ signal: stopAfter(stops) });
      if (!result?.isStopped) break;
      expect(result).toMatchObject({ move: "redo", ...STOPPED });
      expect(tree()).toEqual(states[1] ?? []);
    }
    expect(tree()).toEqual(states[2] ?? []);
    expect(await checkpoints.redo()).toBeUndefined();
    await checkpoints.undo();
    expect(tree()).toEqual(states[1] ?? []);
  });

  test("a jump", async () => {
    const checkpoints = await begin();
    await checkpoints.jump(new Set(), { signal: stopAfter(10) });
    expect(tree()).toEqual(states[2] ?? []);
    await checkpoints.jump(new Set());
    expect(tree()).toEqual(states[0] ?? []);
    await checkpoints.redo({ signal: stopAfter(10) });
    expect(tree()).toEqual(states[0] ?? []);
    await checkpoints.redo();
    expect(tree()).toEqual(states[2] ?? []);
  });
});

test("a restore that continues an interrupted one rolls that back too when it is stopped", async () => {
  const checkpoints = await begin();
  await checkpoints.undo();
  checkpoints.close();
  forgetLastLine(place.checkpoints, '"restoring"');
  for (const name of ["4", "5"]) rmSync(place.path(`full/${name}`));
  const outside = place.open();
  await outside.undo({ signal: stopAfter(1) });
  expect(tree()).toEqual(states[2] ?? []);
  await outside.undo();
  expect(tree()).toEqual(states[1] ?? []);
});

test("nothing is scanned or recorded if it is stopped before it begins", async () => {
  const checkpoints = await begin();
  expect(await checkpoints.undo({ signal: AbortSignal.abort() })).toMatchObject(STOPPED);
  expect(await checkpoints.undo({ isDryRun: true })).toMatchObject({ isDryRun: true });
  expect(tree()).toEqual(states[2] ?? []);
});

describe("a restore that is incomplete because a file could not be restored", () => {
  const names = ["a", "b"];
  const read = () => names.map((name) => readFileSync(place.path(name), "utf8").slice(0, 3));

  /** Fails with `b`: when that is to be restored, what was kept of it cannot be read. */
  async function doByHalves(checkpoints: Checkpoints, move: "undo" | "redo"): Promise<void> {
    const [pack = ""] = new Bun.Glob("**/*.pack").scanSync({ cwd: place.checkpoints });
    const path = join(place.checkpoints, pack);
    const { signal } = new AbortController();
    Object.defineProperty(signal, "aborted", {
      get() {
        if (readFileSync(place.path("a"), "utf8") === wanted) renameSync(path, `${path}.away`);
        return false;
      },
    });
    const wanted = move === "undo" ? "one" : "two";
    const half = await checkpoints[move]({ signal });
    renameSync(`${path}.away`, path);
    expect(half).toMatchObject({ restored: [{ path: "a" }], failures: [{ path: "b" }] });
  }

  async function beginLarge(): Promise<Checkpoints> {
    const checkpoints = place.open();
    const large = "x".repeat(2_000_000);
    write("a", "one");
    write("b", `one${large}`);
    await place.run(checkpoints, () => write("first", "1"));
    await place.run(checkpoints, () => {
      write("a", "two");
      write("b", `two${large}`);
    });
    return checkpoints;
  }

  test("is reversed completely by the opposite operation", async () => {
    const checkpoints = await beginLarge();
    await doByHalves(checkpoints, "undo");
    expect(await checkpoints.redo()).toMatchObject({ restored: [{ path: "a" }], failures: [] });
    expect(read()).toEqual(["two", "two"]);
    await checkpoints.undo();
    expect(read()).toEqual(["one", "one"]);
    await doByHalves(checkpoints, "redo");
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a" }], failures: [] });
    expect([read(), await Bun.file(place.path("first")).exists()]).toEqual([["one", "one"], true]);
    await checkpoints.redo();
    expect(read()).toEqual(["two", "two"]);
  });

  test("is continued by the same operation", async () => {
    const checkpoints = await beginLarge();
    await doByHalves(checkpoints, "undo");
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "b" }], failures: [] });
    await doByHalves(checkpoints, "redo");
    expect(await checkpoints.redo()).toMatchObject({ restored: [{ path: "b" }], failures: [] });
    expect(read()).toEqual(["two", "two"]);
  });
});

test.each([
  ["An undo", "undo continues it, and redo reverts it"],
  ["A redo", "redo continues it, and undo reverts it"],
  ["A jump to another point of the conversation", "the same jump continues it, and redo reverts it"],
])("a session in which it was interrupted reports it before it changes anything: %s", async (name, way) => {
  (await begin()).close();
  const outside = place.open();
  if (name.includes("jump")) await outside.jump(new Set());
  else await outside.undo();
  if (name.includes("redo")) await outside.redo();
  outside.close();
  forgetLastLine(place.checkpoints, '"restoring"');
  const again = place.open();
  await place.run(again, () => write("more", "more"));
  expect(place.notices).toEqual([
    `undo_cut_off: ${name} was interrupted: some files are as before it, others as after it. Until the session changes something again, ${way}.`,
  ]);
});

describe("a rollback whose process was killed", () => {
  async function killInRollBack(move: "undo" | "redo"): Promise<void> {
    const outside = place.open();
    await outside[move]({ signal: stopAfter(12) });
    outside.close();
    forgetLastLine(place.checkpoints, '"isRollBack":true');
    // As far as it had come.
    if (move === "undo") rmSync(place.path("made/3"), { force: true });
  }

  for (const then of ["undo", "redo"] as const)
    test(`is completed by the next operation: an undo by ${then}`, async () => {
      (await begin()).close();
      await killInRollBack("undo");
      const checkpoints = place.open();
      await checkpoints[then]();
      expect(tree()).toEqual(states[then === "undo" ? 1 : 2] ?? []);
      await checkpoints.undo();
      expect(tree()).toEqual(states[then === "undo" ? 0 : 1] ?? []);
    });

  test("leaves a redo that can be repeated", async () => {
    const checkpoints = await begin();
    await checkpoints.undo();
    checkpoints.close();
    await killInRollBack("redo");
    const outside = place.open();
    await outside.redo();
    expect(tree()).toEqual(states[2] ?? []);
    await outside.undo();
    expect(tree()).toEqual(states[1] ?? []);
  });
});

test("does not overwrite what somebody else has changed in the meantime, and names it", async () => {
  const checkpoints = await begin();
  const stopped = await checkpoints.undo({
    // When it is stopped, somebody has just written to a file that is to go away again.
    signal: Object.defineProperty(new AbortController().signal, "aborted", {
      get: () => {
        if (!tree().some((line) => line.startsWith("full/7 "))) return false;
        write("full/0", "mine\n");
        return true;
      },
    }),
  });
  expect(stopped).toMatchObject({ isStopped: true, conflicts: [{ path: "full" }, { path: "full/0" }] });
  expect(await Bun.file(place.path("full/0")).text()).toBe("mine\n");
});

test("progress reports say what has been done so far", async () => {
  const checkpoints = place.open();
  for (let index = 0; index < 600; index++) write(`f${index}`, `one ${index}\n`);
  await place.run(checkpoints, () => {
    for (let index = 0; index < 600; index++) write(`f${index}`, `two ${index}\n`);
  });
  const told: string[] = [];
  const abort = new AbortController();
  const result = await checkpoints.undo({
    signal: abort.signal,
    onProgress({ doing, done, total }) {
      expect(done).toBeLessThan(total);
      if (told.at(-1) !== doing) told.push(doing);
      if (doing === "restore") abort.abort();
    },
  });
  expect(result?.isStopped).toBe(true);
  // What takes no time is not told.
  expect(told).toContain("restore");
  expect(told).toEqual(["look", "restore", "rollBack"].filter((doing) => told.includes(doing)));
  expect(await Bun.file(place.path("f0")).text()).toBe("two 0\n");
});
