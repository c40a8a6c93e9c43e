import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { findMountObstacle, testUnless } from "../support/test-unless.ts";
import { describeTree } from "../support/tree-bytes.ts";

const PROCESS = new URL("../support/undo-process.ts", import.meta.url).pathname;
const KB = 1024;

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");
const noise = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex().slice(0, bytes);

function stored(pattern: string): string[] {
  if (!existsSync(place.checkpoints)) return [];
  return [...new Bun.Glob(pattern).scanSync({ cwd: place.checkpoints, dot: true })].sort();
}

function spawn(...words: string[]) {
  return Bun.spawn([process.execPath, PROCESS, place.root, place.state, ...words], { stdout: "pipe" });
}

describe("the store", () => {
  test("is readable by its user only", async () => {
    write("a.txt", "secret\n");
    const checkpoints = place.open();
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    const modes = stored("**/*").map((name) => statSync(join(place.checkpoints, name)).mode & 0o077);
    expect(new Set(modes)).toEqual(new Set([0]));
    expect(statSync(place.checkpoints).mode & 0o777).toBe(0o700);
  });

  test("has nothing about a session in which nothing was changed", async () => {
    write("a.txt", "one\n");
    const checkpoints = place.open();
    await checkpoints.prepare();
    expect(stored("**/*.pack")).toHaveLength(1);
    checkpoints.close();
    expect(stored("**/*")).toEqual([]);
    const early = place.open();
    const prepared = early.prepare();
    early.close();
    await prepared;
    expect(stored("**/*")).toEqual([]);
  });

  test("stores a content once for all sessions", async () => {
    write("large.txt", noise(300 * KB));
    for (const sessionId of ["one", "two", "three"]) {
      const checkpoints = place.open({ sessionId });
      await place.run(checkpoints, () => write("small.txt", sessionId));
      checkpoints.close();
    }
    const size = stored("**/*.pack").reduce(
      (sum, name) => sum + statSync(join(place.checkpoints, name)).size,
      0,
    );
    expect(size).toBeGreaterThan(150 * KB);
    expect(size).toBeLessThan(400 * KB);
  });

  test("has one list of the project's files, not one for each session", async () => {
    for (const sessionId of ["one", "two", "three"]) {
      const checkpoints = place.open({ sessionId });
      await place.run(checkpoints, () => write("a.txt", sessionId));
      checkpoints.close();
    }
    expect(stored("**/*.base")).toHaveLength(1);
    expect(stored("**/*.jsonl")).toHaveLength(3);
  });

  test("reads a log truncated by a crash; a damaged content is reported and not restored", async () => {
    write("a.txt", "one\n");
    const checkpoints = place.open();
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(checkpoints, () => write("b.txt", "b\n"));
    checkpoints.close();
    const [log = "", index = "", pack = ""] = ["jsonl", "idx", "pack"].map((end) => {
      const [name = ""] = stored(`**/*.${end}`);
      return join(place.checkpoints, name);
    });
    appendFileSync(log, '{"type":"step","step":{"id":"x","at":99999');
    appendFileSync(index, "torn");
    expect(await place.open().undo()).toMatchObject({ restored: [{ path: "b.txt", how: "removed" }] });
    truncateSync(pack, 3);
    expect(await place.open().undo()).toMatchObject({
      restored: [],
      notKept: [{ path: "a.txt", isCache: false }],
    });
    expect(read("a.txt")).toBe("two\n");
  });

  test("removes the oldest sessions first when it becomes too large, and reports it", async () => {
    const limits = { storeBytes: 400 * KB, generationBytes: 100 * KB };
    for (const sessionId of ["one", "two", "three", "four"]) {
      const checkpoints = place.open({ sessionId, limits });
      await place.run(checkpoints, () => write(`${sessionId}.txt`, noise(300 * KB)));
      checkpoints.close();
      // The time of a directory tells which is older.
      await Bun.sleep(15);
    }
    expect(place.notices.at(-1)).toMatch(
      /^checkpoints_dropped: The checkpoints of .*earlier session.* deleted, the oldest first, to make room for new ones\.$/,
    );
    expect(await place.open({ sessionId: "one", limits }).undo()).toBeUndefined();
    expect(await place.open({ sessionId: "four", limits }).undo()).toMatchObject({
      restored: [{ path: "four.txt", how: "removed" }],
    });
  });

  test("is not cleaned while a process uses it", async () => {
    const limits = { storeBytes: 200 * KB, generationBytes: 10 * KB };
    write("first.txt", noise(150 * KB));
    const first = place.open({ sessionId: "first", limits });
    await place.run(first, () => write("a.txt", "a\n"));
    write("second.txt", noise(150 * KB));
    const second = place.open({ sessionId: "second", limits });
    await place.run(second, () => write("b.txt", "b\n"));
    expect(await first.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "removed" }] });
  });
});

describe("a file or project that cannot be recorded", () => {
  const cases = [
    {
      name: "a project of too many files",
      limits: { projectEntries: 3 },
      reason: "the project has more than 3 files",
    },
    {
      name: "a project that is too large",
      limits: { projectBytes: 1024 * KB },
      reason: "the project has more than 1 MB in it",
    },
  ];
  for (const { name, limits, reason } of cases) {
    test(`is reported once: ${name}`, async () => {
      for (const file of ["a", "b", "c", "d"]) write(file, noise(300 * KB));
      const checkpoints = place.open({ limits });
      await place.run(checkpoints, () => write("some", "some"));
      await place.run(checkpoints, () => write("more", "more"));
      const text = `no_undo: Changes from now on cannot be undone: ${reason}.`;
      expect([checkpoints.canUndo, checkpoints.reason, place.notices]).toEqual([false, reason, [text]]);
      expect(stored("**/*.pack")).toEqual([]);
      expect(read("more")).toBe("more");
    });
  }

  test("is the home directory, and each directory that contains it", async () => {
    const home = place.root;
    const environment = { HOME: home, XDG_STATE_HOME: place.state };
    const checkpoints = place.open({ environment });
    await place.run(checkpoints, () => write("a", "changed"));
    expect([checkpoints.canUndo, checkpoints.reason]).toEqual([false, "the project is your home directory"]);
    const above = place.open({ environment, root: place.top });
    expect(above.reason).toBe("your home directory is in the project");
  });

  test("is reported if no place is writable, and is recorded again once one is", async () => {
    mkdirSync(place.state);
    writeFileSync(join(place.state, "diligent"), "in the way");
    const checkpoints = place.open();
    await place.run(checkpoints, () => write("a", "one"));
    expect(checkpoints.canUndo).toBe(false);
    rmSync(join(place.state, "diligent"));
    await place.run(checkpoints, () => write("a", "two"));
    expect(checkpoints.canUndo).toBe(true);
    await checkpoints.undo();
    expect(read("a")).toBe("one");
  });
});

describe("a full disk", () => {
  afterAll(() => {
    if (obstacle === undefined) Bun.spawnSync(["umount", disk]);
  });
  const disk = join(makeTempDir(), "disk");
  mkdirSync(disk);
  const obstacle = findMountObstacle();
  if (obstacle === undefined)
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=256k", "diligent-test", disk]);

  testUnless(obstacle)("stops no run, and earlier records can still be undone", async () => {
    write("a.txt", "one\n");
    const environment = { HOME: join(place.top, "home"), XDG_STATE_HOME: disk };
    const checkpoints = place.open({ environment });
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(checkpoints, () => write("hog", noise(600 * KB)));
    expect(checkpoints.canUndo).toBe(false);
    expect(checkpoints.reason).toContain("no space is left on the disk (ENOSPC)");
    // It could not be kept, so it is not taken away.
    expect(await checkpoints.undo()).toMatchObject({
      restored: [],
      notKept: [{ path: "hog", isCache: false }],
    });
    await checkpoints.undo();
    expect([read("a.txt"), read("hog").length]).toEqual(["one\n", 600 * KB]);
  });
});

describe("processes", () => {
  test("work in parallel, each in its own session, and each undoes its own changes", async () => {
    const names = ["a", "b", "c"];
    expect(await Promise.all(names.map((name) => spawn(name, "work", name).exited))).toEqual([0, 0, 0]);
    for (const name of names) expect(read(name)).toBe(`${name} 10\n`);
    for (const name of names) await spawn(name, "undo").exited;
    for (const name of names) expect(read(name)).toBe(`${name} 9\n`);
  });

  test("that work in a session prevent others from undoing changes in it", async () => {
    await spawn("a", "work", "a").exited;
    const busy = spawn("a", "hang", "b");
    await readLine(busy.stdout);
    await expect(place.open({ sessionId: "a" }).undo()).rejects.toThrow(
      `Another process (${busy.pid}) is working`,
    );
    busy.kill("SIGKILL");
    await busy.exited;
  });

  test("that are killed in the middle of a change leave something that can be undone", async () => {
    write("b", "before\n");
    const busy = spawn("a", "hang", "b");
    await readLine(busy.stdout);
    busy.kill("SIGKILL");
    await busy.exited;
    const checkpoints = place.open({ sessionId: "a" });
    expect(await checkpoints.undo()).toMatchObject({ restored: [], leftCutOff: ["b"], wasCutOff: false });
    expect(await checkpoints.undo({ isCutOff: true })).toMatchObject({
      restored: [{ path: "b", how: "changed" }],
      wasCutOff: true,
    });
    expect(read("b")).toBe("before\n");
    await checkpoints.redo();
    expect(read("b")).toBe("half done\n");
  });

  test("that are killed in the middle of an undo are completed by the next", async () => {
    mkdirSync(place.path("dir"));
    for (let count = 0; count < 120; count++) write(`dir/${count}`, `${count}\n`.repeat(200));
    const before = describeTree(place.root);
    const checkpoints = place.open({ sessionId: "a" });
    await place.run(checkpoints, () => {
      rmSync(place.path("dir"), { recursive: true });
      write("dir", "a file\n");
    });
    checkpoints.close();
    const isDirectory = () => lstatSync(place.path("dir"), { throwIfNoEntry: false })?.isDirectory() ?? false;
    const countRestored = () => (isDirectory() ? readdirSync(place.path("dir")).length : 0);
    let cutOff = 0;
    for (const restored of [0, 1, 30, 60, 90]) {
      const undoing = spawn("a", "undo");
      await readLine(undoing.stdout);
      while (countRestored() < restored) await Bun.sleep(0);
      undoing.kill("SIGKILL");
      await undoing.exited;
      if (describeTree(place.root).length < before.length) cutOff++;
      const outside = place.open({ sessionId: "a" });
      await outside.undo();
      expect(describeTree(place.root)).toEqual(before);
      expect(await outside.redo()).toMatchObject({ conflicts: [], failures: [] });
      expect(read("dir")).toBe("a file\n");
      outside.close();
    }
    expect(cutOff).toBeGreaterThan(0);
    expect(readdirSync(place.root)).toEqual(["dir"]);
  });
});

async function readLine(stream: ReadableStream<Uint8Array>): Promise<void> {
  await stream.getReader().read();
}
