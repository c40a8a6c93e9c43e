import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { forgetLastLine } from "../support/checkpoint-log.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { describeTree } from "../support/tree-bytes.ts";

const PROCESS = new URL("../support/undo-process.ts", import.meta.url).pathname;

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");

function logOf(sessionId: string): string {
  const [name = ""] = [
    ...new Bun.Glob(`**/sessions/${sessionId}/*.jsonl`).scanSync({ cwd: place.checkpoints }),
  ].sort();
  return join(place.checkpoints, name);
}

async function killIn(word: string, ...words: string[]): Promise<void> {
  const command = [process.execPath, PROCESS, place.root, place.state, "a", word, ...words];
  const busy = Bun.spawn(command, { stdout: "pipe" });
  await busy.stdout.getReader().read();
  busy.kill("SIGKILL");
  await busy.exited;
}

describe("a turn that was interrupted", () => {
  test("is undone without the user's later changes, even on request", async () => {
    write("b", "before\n");
    write("user.txt", "u0\n");
    await killIn("hang", "b");
    await Bun.sleep(50);
    write("user.txt", "mine\n");
    write("new.txt", "new\n");
    mkdirSync(place.path("dir"));
    write("dir/moved.txt", "moved\n");
    const checkpoints = place.open({ sessionId: "a" });
    const left = { leftCutOff: ["b", "dir", "dir/moved.txt", "new.txt", "user.txt"], restored: [] };
    expect(await checkpoints.undo({ isDryRun: true })).toMatchObject(left);
    expect(await checkpoints.undo()).toMatchObject(left);
    expect(await checkpoints.undo({ isCutOff: true })).toMatchObject({
      restored: [{ path: "b", how: "changed" }],
      conflicts: [{ path: "dir" }, { path: "dir/moved.txt" }, { path: "new.txt" }, { path: "user.txt" }],
    });
    expect([read("b"), read("user.txt"), read("new.txt")]).toEqual(["before\n", "mine\n", "new\n"]);
    expect(await checkpoints.redo()).toMatchObject({ restored: [{ path: "b", how: "changed" }] });
    expect([read("b"), read("user.txt")]).toEqual(["half done\n", "mine\n"]);
    expect(await checkpoints.undo({ isCutOff: true })).toMatchObject({ restored: [{ path: "b" }] });
  });

  test("does not claim existing files that are moved into the project", async () => {
    const outside = join(place.top, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "work.txt"), "work\n");
    await Bun.sleep(100);
    await killIn("hang", "b");
    renameSync(outside, place.path("inside"));
    const checkpoints = place.open({ sessionId: "a" });
    await checkpoints.undo({ isCutOff: true });
    expect(describeTree(place.root).map((line) => line.split(" ")[0])).toEqual([
      "inside/",
      "inside/work.txt",
    ]);
  });

  test("is also recognized in a resumed session", async () => {
    write("user.txt", "u0\n");
    await killIn("hang", "b");
    await Bun.sleep(50);
    write("user.txt", "mine\n");
    const checkpoints = place.open({ sessionId: "a" });
    await place.run(checkpoints, () => write("c", "c\n"));
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "c", how: "removed" }] });
    expect(await checkpoints.undo()).toMatchObject({ restored: [], leftCutOff: ["b", "user.txt"] });
    expect(await checkpoints.undo({ isCutOff: true })).toMatchObject({ restored: [{ path: "b" }] });
    expect([read("user.txt"), describeTree(place.root).length]).toEqual(["mine\n", 1]);
  });

  test("leaves a damaged log line that is still read", async () => {
    write("a.txt", "one\n");
    const checkpoints = place.open({ sessionId: "a" });
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(checkpoints, () => write("b.txt", "b\n"));
    checkpoints.close();
    const log = logOf("a");
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    lines[4] = (lines[4] ?? "").replace("b.txt", "c.txt");
    writeFileSync(log, `${lines.join("\n")}\n`);
    write("b.txt", "mine\n");
    write("c.txt", "c\n");
    const outside = place.open({ sessionId: "a" });
    expect(await outside.undo()).toMatchObject({ restored: [{ path: "a.txt" }], damagedLines: 1 });
    await outside.undo({ isCutOff: true });
    expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["one\n", "mine\n", "c\n"]);
  });
});

/** As a process leaves it that was killed when it had just begun to restore: what it has noted down, and no more. */
const forgetLastStep = () => forgetLastLine(place.checkpoints, '"restoring"');

async function openOutside(move: "undo" | "redo", isRemembered = true) {
  const outside = place.open();
  const restoration = await outside[move]();
  outside.close();
  if (!isRemembered) forgetLastStep();
  return restoration;
}

describe("a restore that was interrupted", () => {
  beforeEach(async () => {
    for (const name of ["a", "b", "c"]) write(name, "one\n");
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      for (const name of ["a", "b", "c"]) write(name, "two\n");
    });
    checkpoints.close();
  });
  const all = () => ["a", "b", "c"].map(read);

  test("is reversed file by file: an undo by a redo", async () => {
    await openOutside("undo", false);
    write("c", "two\n");
    expect(await openOutside("redo")).toMatchObject({
      restored: [{ path: "a" }, { path: "b" }],
      conflicts: [],
    });
    expect(all()).toEqual(["two\n", "two\n", "two\n"]);
    await openOutside("undo");
    expect(all()).toEqual(["one\n", "one\n", "one\n"]);
  });

  test("is continued by the same operation", async () => {
    await openOutside("undo", false);
    write("c", "two\n");
    expect(await openOutside("undo")).toMatchObject({ restored: [{ path: "c" }], conflicts: [] });
    await openOutside("redo");
    expect(all()).toEqual(["two\n", "two\n", "two\n"]);
  });

  test("never lets a later one overwrite what the user has written, whatever the file is", async () => {
    linkSync(place.path("a"), join(place.top, "other-name"));
    await openOutside("undo", false);
    write("a", "mine\n");
    expect(await openOutside("undo")).toMatchObject({ restored: [], conflicts: [{ path: "a" }] });
    await openOutside("redo");
    await openOutside("undo");
    expect(all()).toEqual(["mine\n", "one\n", "one\n"]);
  });

  test("is completed for a file with several names that was partly written", async () => {
    linkSync(place.path("a"), join(place.top, "other-name"));
    await openOutside("undo", false);
    // "one" over "two", as far as it had come.
    write("a", "owo\n");
    expect(await openOutside("redo")).toMatchObject({ conflicts: [] });
    expect(all()).toEqual(["two\n", "two\n", "two\n"]);
    await openOutside("undo", false);
    write("a", "oxo\n");
    expect(await openOutside("redo")).toMatchObject({ conflicts: [{ path: "a" }] });
    expect(all()).toEqual(["oxo\n", "two\n", "two\n"]);
  });

  test("does not reset a directory that the user has recreated", async () => {
    mkdirSync(place.path("dir"));
    write("dir/f", "one\n");
    chmodSync(place.path("dir"), 0o555);
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      chmodSync(place.path("dir"), 0o755);
      write("dir/f", "two\n");
      chmodSync(place.path("dir"), 0o555);
    });
    checkpoints.close();
    await openOutside("undo", false);
    chmodSync(place.path("dir"), 0o750);
    await openOutside("redo");
    await openOutside("undo");
    expect(statSync(place.path("dir")).mode & 0o777).toBe(0o750);
  });
});

test("an interrupted redo can be undone", async () => {
  write("a", "one\n");
  const checkpoints = place.open();
  await place.run(checkpoints, () => write("a", "two\n"));
  checkpoints.close();
  await openOutside("undo");
  await openOutside("redo");
  forgetLastLine(place.checkpoints, '"move":"redo"');
  expect(await openOutside("undo")).toMatchObject({ restored: [{ path: "a", how: "changed" }] });
  expect(read("a")).toBe("one\n");
});

test("an interrupted and reversed redo can be repeated as a whole afterwards", async () => {
  const names = ["a", "b", "c"];
  for (const name of names) write(name, "one\n");
  const checkpoints = place.open();
  await place.run(checkpoints, () => {
    for (const name of names) write(name, "two\n");
  });
  checkpoints.close();
  await openOutside("undo");
  await openOutside("redo");
  forgetLastLine(place.checkpoints, '"move":"redo"');
  write("c", "one\n");
  expect(await openOutside("undo")).toMatchObject({
    restored: [{ path: "a" }, { path: "b" }],
    conflicts: [],
  });
  expect(names.map(read)).toEqual(["one\n", "one\n", "one\n"]);
  expect(await openOutside("redo")).toMatchObject({ restored: names.map((path) => ({ path })) });
  expect(names.map(read)).toEqual(["two\n", "two\n", "two\n"]);
});

describe("a restore that was interrupted after its last change", () => {
  beforeEach(async () => {
    const checkpoints = place.open();
    write("a", "one\n");
    await place.run(checkpoints, () => write("a", "two\n"));
    await place.run(checkpoints, () => write("b", "three\n"));
    checkpoints.close();
  });
  const all = () => describeTree(place.root).map((line) => line.split(" ")[0]);

  test("is completed by the same operation, which goes no further back", async () => {
    await openOutside("undo", false);
    expect(await openOutside("undo")).toMatchObject({ restored: [], conflicts: [] });
    expect([all(), read("a")]).toEqual([["a"], "two\n"]);
    expect(await openOutside("redo")).toMatchObject({ restored: [{ path: "b" }] });
    forgetLastLine(place.checkpoints, '"move":"redo"');
    expect(await openOutside("redo")).toMatchObject({ restored: [] });
    expect(all()).toEqual(["a", "b"]);
    expect(await openOutside("undo")).toMatchObject({ restored: [{ path: "b" }] });
    expect(await openOutside("undo")).toMatchObject({ restored: [{ path: "a" }] });
  });

  test("is reversed by the opposite operation", async () => {
    await openOutside("undo", false);
    expect(await openOutside("redo")).toMatchObject({ restored: [{ path: "b" }] });
    expect(all()).toEqual(["a", "b"]);
    await openOutside("undo");
    expect([all(), read("a")]).toEqual([["a"], "two\n"]);
  });

  test("can be reversed if it was a jump", async () => {
    const outside = place.open();
    await outside.jump(new Set());
    outside.close();
    forgetLastLine(place.checkpoints, '"move":"jump"');
    const again = place.open();
    expect(await again.jump(new Set())).toMatchObject({ restored: [] });
    expect([all(), read("a")]).toEqual([["a"], "one\n"]);
    await again.redo();
    expect([all(), read("a")]).toEqual([["a", "b"], "two\n"]);
  });
});

test("a log with foreign lines is still read", async () => {
  write("a", "one\n");
  const checkpoints = place.open();
  await place.run(checkpoints, () => write("a", "two\n"));
  checkpoints.close();
  appendFileSync(logOf("one"), "not a line of ours\n");
  expect(await openOutside("undo")).toMatchObject({ restored: [{ path: "a" }], damagedLines: 1 });
  rmSync(place.path("a"));
});
