import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { ONLY_ROOT_CAN, testUnless } from "../support/test-unless.ts";
import { describeTree } from "../support/tree-bytes.ts";

const OTHER_USER = 4321;

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const stat = (name: string) => statSync(place.path(name));

describe("a file with several names", () => {
  beforeEach(() => {
    write("a", "one\n");
    linkSync(place.path("a"), place.path("b"));
  });

  test("has all of them again if all were removed", async () => {
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      rmSync(place.path("a"));
      rmSync(place.path("b"));
    });
    expect((await checkpoints.undo())?.unlike).toBeUndefined();
    expect([stat("a").ino, stat("a").nlink, readFileSync(place.path("b"), "utf8")]).toEqual([
      stat("b").ino,
      2,
      "one\n",
    ]);
    await checkpoints.redo();
    expect(describeTree(place.root)).toEqual([]);
  });

  test("has them again if each was replaced by a separate file", async () => {
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      for (const name of ["a", "b"]) {
        write("new", `two ${name}\n`);
        renameSync(place.path("new"), place.path(name));
      }
    });
    expect((await checkpoints.undo())?.unlike).toBeUndefined();
    expect([stat("a").ino, readFileSync(place.path("a"), "utf8")]).toEqual([stat("b").ino, "one\n"]);
    expect(describeTree(place.root)).toHaveLength(2);
  });

  test("is reported if one was removed: it is no longer the same file as the other", async () => {
    const checkpoints = place.open();
    await place.run(checkpoints, () => rmSync(place.path("a")));
    expect(await checkpoints.undo()).toMatchObject({
      restored: [{ path: "a", how: "added" }],
      unlike: [{ path: "a", isLinkLost: true }],
    });
    expect([stat("a").ino === stat("b").ino, readFileSync(place.path("a"), "utf8")]).toEqual([
      false,
      "one\n",
    ]);
  });
});

testUnless(ONLY_ROOT_CAN)("files that an administrator restores keep their owner", async () => {
  mkdirSync(place.path("dir"));
  for (const name of ["a", "dir/b"]) write(name, "one\n");
  for (const name of ["a", "dir", "dir/b"]) chownSync(place.path(name), OTHER_USER, OTHER_USER);
  const checkpoints = place.open();
  await place.run(checkpoints, () => {
    rmSync(place.path("dir"), { recursive: true });
    rmSync(place.path("a"));
    write("a", "two\n");
  });
  const restoration = await checkpoints.undo();
  expect([restoration?.restored.length, restoration?.unlike]).toEqual([3, undefined]);
  const owners = ["a", "dir", "dir/b"].map((name) => [stat(name).uid, stat(name).gid]);
  expect(owners).toEqual([1, 2, 3].map(() => [OTHER_USER, OTHER_USER]));
});

describe("a path that is never changed", () => {
  beforeEach(() => {
    for (const name of [".diligent", ".diligent/sessions", ".diligent/knowledge"])
      mkdirSync(place.path(name));
    write("a", "one\n");
  });

  async function undoAfter(...changes: (() => void)[]) {
    const checkpoints = place.open();
    await place.run(checkpoints, ...changes);
    return checkpoints.undo();
  }

  test("is named once if something was edited in it beside files that are restored", async () => {
    const restoration = await undoAfter(
      () => write("a", "two\n"),
      () => write(".diligent/knowledge/k.md", "known\n"),
    );
    expect(restoration).toMatchObject({ restored: [{ path: "a" }], touched: [".diligent"] });
    expect(readFileSync(place.path(".diligent/knowledge/k.md"), "utf8")).toBe("known\n");
  });

  test("is named too if a later run has changed nothing else", async () => {
    const checkpoints = place.open();
    await place.run(checkpoints, () => write("a", "two\n"));
    await place.run(checkpoints, () => write(".diligent/knowledge/k.md", "known\n"));
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a" }], touched: [".diligent"] });
  });

  test("is not named for what diligent writes itself", async () => {
    const restoration = await undoAfter(() => {
      write("a", "two\n");
      write(".diligent/sessions/s.jsonl", "{}\n");
      write(".diligent/k.lock", "");
    });
    expect([restoration?.restored.length, restoration?.touched]).toEqual([1, undefined]);
  });

  test("is named if a pipe was created there", async () => {
    const restoration = await undoAfter(() => {
      write("a", "two\n");
      Bun.spawnSync(["mkfifo", place.path("pipe")]);
    });
    expect(restoration).toMatchObject({ restored: [{ path: "a" }], touched: ["pipe"] });
  });
});

test("what a person edits while a command runs is listed, and a redo restores it byte for byte", async () => {
  write("mine.bin", "\0before\n");
  const checkpoints = place.open();
  await place.run(checkpoints, () => {
    write("agent", "done\n");
    write("mine.bin", "\0\u00ff edited by hand \r\n");
    write("mine too", "new\n");
  });
  const edited = describeTree(place.root);
  expect((await checkpoints.undo())?.restored).toEqual([
    { path: "agent", how: "removed" },
    { path: "mine too", how: "removed" },
    { path: "mine.bin", how: "changed" },
  ]);
  expect(readFileSync(place.path("mine.bin"), "utf8")).toBe("\0before\n");
  await checkpoints.redo();
  expect(describeTree(place.root)).toEqual(edited);
});

test("a session that is closed while the project is recorded leaves nothing behind", async () => {
  for (let index = 0; index < 40; index++) write(`${index}.bin`, crypto.randomUUID().repeat(3_000));
  const files = () => [...new Bun.Glob("**/*").scanSync({ cwd: place.checkpoints })];
  const checkpoints = place.open();
  const prepared = checkpoints.prepare();
  while (!files().some((name) => name.endsWith(".pack"))) await Bun.sleep(0);
  checkpoints.close();
  // At once: the process may end here.
  expect(files()).toEqual([]);
  await prepared;
  expect(files()).toEqual([]);
});
