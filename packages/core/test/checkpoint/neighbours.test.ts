import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { forgetCheckpoints } from "../../src/checkpoint/load.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
  write("a.txt", "one\n");
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");
const notify = (_: string, code: string, message: string) => void place.notices.push(`${code}: ${message}`);
const begin = (checkpoints: Checkpoints, written?: string) =>
  checkpoints.beforeChanges({ isFirst: true, notify, ...(written && { written }) });

async function end(checkpoints: Checkpoints): Promise<void> {
  checkpoints.afterChanges();
  await checkpoints.settled();
}

describe("two sessions in one project at the same time", () => {
  test("each record what the other may need, even if they have changed nothing when they end", async () => {
    const [one, two] = [place.open(), place.open({ sessionId: "two" })];
    await one.prepare();
    await two.prepare();
    one.close();
    await place.run(two, () => write("a.txt", "by two\n"));
    expect(await two.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "changed" }] });
    expect(read("a.txt")).toBe("one\n");
  });

  test("do not undo what may be the other's changes, and report it", async () => {
    const [one, two] = [place.open(), place.open({ sessionId: "two" })];
    await begin(one);
    write("a.txt", "by one\n");
    await Bun.sleep(60);
    await begin(two);
    write("b.txt", "by two\n");
    await end(two);
    await end(one);
    const reason = "changed while another session was active too";
    expect(await one.undo()).toMatchObject({
      restored: [{ path: "a.txt", how: "changed" }],
      conflicts: [{ path: "b.txt", reason }],
    });
    expect(await two.undo()).toBeUndefined();
    expect([read("a.txt"), read("b.txt")]).toEqual(["one\n", "by two\n"]);
  });

  test("still undo what their file tools have written", async () => {
    const [one, two] = [place.open(), place.open({ sessionId: "two" })];
    await begin(one);
    await begin(two, "dir/b.txt");
    mkdirSync(place.path("dir"));
    write("dir/b.txt", "by two\n");
    write("c.txt", "by one\n");
    await end(two);
    await end(one);
    expect(await two.undo()).toMatchObject({
      restored: [{ path: "dir" }, { path: "dir/b.txt" }],
      conflicts: [],
    });
    expect(await one.undo()).toMatchObject({ restored: [{ path: "c.txt", how: "removed" }] });
  });

  test("do not treat an undo of the other as their own changes", async () => {
    const [one, two] = [place.open(), place.open({ sessionId: "two" })];
    await place.run(two, () => write("b.txt", "by two\n"));
    await begin(one);
    write("a.txt", "by one\n");
    expect(await two.undo()).toMatchObject({ restored: [{ path: "b.txt", how: "removed" }] });
    await end(one);
    expect(await one.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "changed" }] });
    expect(readdirSync(place.root)).toEqual(["a.txt"]);
  });
});

test("run one undo at a time: the second is refused with the reason", async () => {
  const names = Array.from({ length: 400 }, (_, index) => `${index}`);
  const [one, other] = [place.open(), place.open()];
  for (const text of ["1\n", "2\n"])
    await place.run(one, () => {
      for (const name of names) write(name, text);
    });
  const ends = await Promise.allSettled([one.undo(), other.undo()]);
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(new Set(names.map(read))).toEqual(new Set(["1\n"]));
});

test("a call begins only after an undo in the project is done, and the undo is not part of its changes", async () => {
  const [one, two] = [place.open(), place.open({ sessionId: "two" })];
  await place.run(one, () => write("a.txt", "two\n"));
  const undoing = one.undo();
  await begin(two);
  expect(read("a.txt")).toBe("one\n");
  await undoing;
  write("b.txt", "b\n");
  await end(two);
  expect(await two.undo()).toMatchObject({ restored: [{ path: "b.txt" }], conflicts: [] });
});

test("a different directory at the project's path is not changed", async () => {
  const checkpoints = place.open();
  await place.run(checkpoints, () => write("a.txt", "two\n"));
  renameSync(place.root, join(place.top, "elsewhere"));
  mkdirSync(place.root);
  write("a.txt", "two\n");
  await expect(place.open().undo()).rejects.toThrow(
    "is no longer the directory in which this session worked",
  );
  rmSync(place.root, { recursive: true });
  renameSync(join(place.top, "elsewhere"), place.root);
  expect(await place.open().undo()).toMatchObject({ restored: [{ path: "a.txt" }] });
});

test("the changes of a deleted session can no longer be undone", async () => {
  const checkpoints = place.open();
  await place.run(checkpoints, () => write("a.txt", "two\n"));
  checkpoints.close();
  const environment = { HOME: join(place.top, "home"), XDG_STATE_HOME: place.state };
  await forgetCheckpoints({ root: place.root, environment, sessionId: "one" });
  expect(await place.open().undo()).toBeUndefined();
  expect(read("a.txt")).toBe("two\n");
});

describe("a call that creates more than can be recorded", () => {
  test("is reported immediately, and earlier changes can still be undone", async () => {
    const checkpoints = place.open({ limits: { projectBytes: 100_000 } });
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(checkpoints, () => {
      write("big", "x".repeat(200_000));
      rmSync(place.path("a.txt"));
    });
    expect(place.notices).toEqual([
      "no_undo: The last call's changes cannot be undone, or not completely: the project has more than 0 MB in it.",
    ]);
    expect(await checkpoints.undo()).toMatchObject({
      restored: [
        { path: "a.txt", how: "added" },
        { path: "big", how: "removed" },
      ],
      isTooLarge: true,
    });
    write("mine.txt", "mine\n");
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "changed" }] });
    expect([read("a.txt"), read("mine.txt")]).toEqual(["one\n", "mine\n"]);
  });
});

describe("changes that undo does not restore", () => {
  test("are named if something is missing: diligent's own files, pipes", async () => {
    for (const directory of [".diligent/skills"]) mkdirSync(place.path(directory), { recursive: true });
    Bun.spawnSync(["mkfifo", place.path("pipe")]);
    await place.run(place.open(), () => {
      for (const each of [".diligent/skills", "pipe"]) rmSync(place.path(each), { recursive: true });
      mkdirSync(place.path("other/.diligent"), { recursive: true });
    });
    const gone = [".diligent", "pipe"];
    expect(await place.open().undo()).toMatchObject({
      notKept: gone.map((path) => ({ path, isCache: false, isControl: true })),
    });
  });

  test("are named: the permissions of the project directory", async () => {
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      write("a.txt", "two\n");
      chmodSync(place.root, 0o700);
    });
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt" }], isRootChanged: true });
    expect(statSync(place.root).mode & 0o777).toBe(0o700);
  });

  test("are named in unscanned directories: caches, for every call that could have changed them", async () => {
    mkdirSync(place.path("node_modules"));
    const checkpoints = place.open();
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    expect(await checkpoints.undo()).toMatchObject({ unseen: ["node_modules"] });
    await begin(checkpoints, "a.txt");
    write("a.txt", "three\n");
    await end(checkpoints);
    expect((await checkpoints.undo())?.unseen).toBeUndefined();
  });
});

test("an undo that cannot restore anything is not used up; another one goes further back", async () => {
  const checkpoints = place.open();
  await place.run(checkpoints, () => write("b.txt", "b\n"));
  await place.run(checkpoints, () => write("a.txt", "two\n"));
  write("a.txt", "one\n");
  expect(await checkpoints.undo()).toMatchObject({ restored: [] });
  write("a.txt", "two\n");
  expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt" }] });
  await checkpoints.redo();
  write("a.txt", "mine\n");
  expect(await checkpoints.undo()).toMatchObject({ conflicts: [{ path: "a.txt" }], restored: [] });
  expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "b.txt" }] });
  expect(read("a.txt")).toBe("mine\n");
});

test("files whose content is not recorded are known", async () => {
  write("large.bin", "x".repeat(2000));
  const checkpoints = place.open({ limits: { fileBytes: 1000 } });
  await place.run(checkpoints, () => write("a.txt", "two\n"));
  expect(checkpoints.unrecorded).toEqual(["large.bin"]);
});
