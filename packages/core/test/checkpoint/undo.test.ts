import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { testUnless } from "../support/test-unless.ts";
import { describeTree } from "../support/tree-bytes.ts";

let place: CheckpointPlace;
let checkpoints: Checkpoints;
beforeEach(() => {
  place = new CheckpointPlace();
  write("a.txt", "one\n");
  checkpoints = place.open();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");
const clean = { conflicts: [], notKept: [], failures: [], wasCutOff: false, isDryRun: false };

describe("undo", () => {
  test("undoes run by run, and redo restores run by run", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(
      checkpoints,
      () => write("b.txt", "new\n"),
      () => rmSync(place.path("a.txt")),
    );
    expect(await checkpoints.undo()).toEqual({
      move: "undo",
      restored: [
        { path: "a.txt", how: "added" },
        { path: "b.txt", how: "removed" },
      ],
      ...clean,
    });
    expect(read("a.txt")).toBe("two\n");
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "changed" }] });
    expect(read("a.txt")).toBe("one\n");
    expect(await checkpoints.undo()).toBeUndefined();
    await checkpoints.redo();
    expect(read("a.txt")).toBe("two\n");
    await checkpoints.redo();
    expect(describeTree(place.root).map((line) => line.split(" ")[0])).toEqual(["b.txt"]);
    expect(await checkpoints.redo()).toBeUndefined();
  });

  test("skips runs that have changed nothing, or have reverted everything themselves", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await place.run(checkpoints, () => {});
    await place.run(
      checkpoints,
      () => write("a.txt", "three\n"),
      () => write("a.txt", "two\n"),
    );
    await checkpoints.undo();
    expect(read("a.txt")).toBe("one\n");
    expect(await checkpoints.undo()).toBeUndefined();
  });

  test("after a new change nothing can be redone", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await checkpoints.undo();
    await place.run(checkpoints, () => write("c.txt", "c\n"));
    expect(await checkpoints.redo()).toBeUndefined();
    await checkpoints.undo();
    expect(describeTree(place.root)).toHaveLength(1);
  });

  test("only describes what it would do in a dry run", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    const planned = { restored: [{ path: "a.txt", how: "changed" as const }], isDryRun: true };
    expect(await checkpoints.undo({ isDryRun: true })).toMatchObject(planned);
    expect(read("a.txt")).toBe("two\n");
    expect(await checkpoints.undo()).toMatchObject({ isDryRun: false });
    expect(await checkpoints.redo({ isDryRun: true })).toMatchObject(planned);
    expect(read("a.txt")).toBe("one\n");
  });

  test("works in another process, and in a resumed session", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    checkpoints.close();
    const later = place.open();
    await place.run(later, () => write("a.txt", "three\n"));
    later.close();
    const outside = place.open();
    await outside.undo();
    expect(read("a.txt")).toBe("two\n");
    outside.close();
    const last = place.open();
    await last.undo();
    expect(read("a.txt")).toBe("one\n");
    await last.redo();
    await last.redo();
    expect(read("a.txt")).toBe("three\n");
  });

  test("affects only its own session", async () => {
    const other = place.open({ sessionId: "two" });
    await place.run(checkpoints, () => write("a.txt", "by one\n"));
    await place.run(other, () => write("b.txt", "by two\n"));
    await checkpoints.undo();
    expect(read("a.txt")).toBe("one\n");
    expect(read("b.txt")).toBe("by two\n");
    expect(await checkpoints.undo()).toBeUndefined();
  });
});

describe("what the user has changed since", () => {
  test("is kept and reported, and everything else is restored", async () => {
    write("deleted.txt", "d\n");
    write("gone.txt", "g\n");
    mkdirSync(place.path("dir"));
    await place.run(checkpoints, () => {
      write("a.txt", "two\n");
      write("gone.txt", "g2\n");
      write("new.txt", "n\n");
      rmSync(place.path("deleted.txt"));
      write("dir/inner.txt", "i\n");
    });
    write("a.txt", "mine\n");
    write("deleted.txt", "mine too\n");
    rmSync(place.path("gone.txt"));
    expect(await checkpoints.undo()).toEqual({
      move: "undo",
      restored: [
        { path: "dir/inner.txt", how: "removed" },
        { path: "new.txt", how: "removed" },
      ],
      ...clean,
      conflicts: [
        { path: "a.txt", reason: "changed since" },
        { path: "deleted.txt", reason: "created again since" },
        { path: "gone.txt", reason: "removed since" },
      ],
    });
    expect([read("a.txt"), read("deleted.txt")]).toEqual(["mine\n", "mine too\n"]);
  });

  test("in a directory that the run has created keeps that directory", async () => {
    await place.run(checkpoints, () => {
      mkdirSync(place.path("made"));
      write("made/agents.txt", "a\n");
    });
    write("made/mine.txt", "m\n");
    expect(await checkpoints.undo()).toMatchObject({
      restored: [{ path: "made/agents.txt", how: "removed" }],
      conflicts: [{ path: "made", reason: "the directory contains other entries" }],
    });
    expect(read("made/mine.txt")).toBe("m\n");
  });

  test("between two turns of a run is where undo stops", async () => {
    await place.run(checkpoints, () => write("a.txt", "agent 1\n"));
    write("a.txt", "agent 1\nmine\n");
    await place.run(checkpoints, () => write("a.txt", "agent 2\n"));
    await checkpoints.undo();
    expect(read("a.txt")).toBe("agent 1\nmine\n");
    expect(await checkpoints.undo()).toMatchObject({
      restored: [],
      conflicts: [{ path: "a.txt", reason: "changed by someone else in between, and kept as they left it" }],
    });
    expect(read("a.txt")).toBe("agent 1\nmine\n");
  });

  test("is not a conflict if the content is the same", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    write("a.txt", "one\n");
    expect(await checkpoints.undo()).toMatchObject({ restored: [], conflicts: [] });
    expect(read("a.txt")).toBe("one\n");
  });

  test("after an undo is not overwritten by a redo", async () => {
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    await checkpoints.undo();
    write("a.txt", "mine\n");
    expect(await checkpoints.redo()).toMatchObject({ restored: [], conflicts: [{ path: "a.txt" }] });
    expect(read("a.txt")).toBe("mine\n");
  });
});

describe("a place in the conversation", () => {
  let entry = "";
  beforeEach(() => {
    checkpoints = place.open({ entryId: () => entry });
  });

  async function runAs(id: string, call: () => void): Promise<void> {
    entry = id;
    await place.run(checkpoints, call);
  }

  test("can be restored, and from there another branch", async () => {
    await runAs("e1", () => write("a.txt", "1\n"));
    await runAs("e2", () => write("a.txt", "2\n"));
    await checkpoints.jump(new Set(["e1"]));
    expect(read("a.txt")).toBe("1\n");
    await runAs("e3", () => write("a.txt", "3\n"));
    await checkpoints.jump(new Set(["e1", "e2"]));
    expect(read("a.txt")).toBe("2\n");
    await checkpoints.jump(new Set());
    expect(read("a.txt")).toBe("one\n");
    await checkpoints.redo();
    expect(read("a.txt")).toBe("2\n");
  });

  test("needs nothing if the files already match", async () => {
    await runAs("e1", () => write("a.txt", "1\n"));
    expect(await checkpoints.jump(new Set(["e1"]))).toBeUndefined();
  });
});

test("files, links and directories replace each other in both directions", async () => {
  mkdirSync(place.path("dir/deep"), { recursive: true });
  write("dir/deep/x.txt", "x\n");
  symlinkSync("a.txt", place.path("link"));
  chmodSync(place.path("a.txt"), 0o640);
  const before = describeTree(place.root);
  await place.run(checkpoints, () => {
    rmSync(place.path("dir"), { recursive: true });
    write("dir", "a file now\n");
    renameSync(place.path("a.txt"), place.path("tmp"));
    mkdirSync(place.path("a.txt"));
    renameSync(place.path("tmp"), place.path("a.txt/moved.txt"));
    rmSync(place.path("link"));
    mkdirSync(place.path("link"));
  });
  const after = describeTree(place.root);
  expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [] });
  expect(describeTree(place.root)).toEqual(before);
  await checkpoints.redo();
  expect(describeTree(place.root)).toEqual(after);
});

test("the changes of a session are listed with the previous contents", async () => {
  await place.run(checkpoints, () => write("a.txt", "two\n"));
  await place.run(checkpoints, () => write("a.txt", "three\n"));
  write("mine.txt", "mine\n");
  const text = (content: string) => ({
    kind: "file" as const,
    mode: 0o644,
    size: content.length,
    content: Buffer.from(content),
  });
  expect(await checkpoints.changes()).toEqual([
    { path: "a.txt", before: text("one\n"), now: text("three\n") },
  ]);
  await checkpoints.undo();
  await checkpoints.undo();
  expect(await checkpoints.changes()).toEqual([]);
  expect(await place.open({ sessionId: "other" }).changes()).toBeUndefined();
});

describe("what the file system refuses", () => {
  const probe = join(makeTempDir(), "probe");
  writeFileSync(probe, "");
  const change = (sign: "+" | "-", path: string) => Bun.spawnSync(["chattr", `${sign}i`, path]).success;
  // Only root may make a file immutable, and only on some file systems.
  const isPossible = change("+", probe);
  if (isPossible) change("-", probe);

  testUnless(isPossible ? undefined : "no file can be made immutable here")(
    "is reported, everything else is restored, and the next undo continues with it",
    async () => {
      for (const name of ["a.txt", "b.txt", "c.txt"]) write(name, "one\n");
      await place.run(checkpoints, () => write("c.txt", "zero\n"));
      await place.run(checkpoints, () => {
        for (const name of ["a.txt", "b.txt"]) write(name, "two\n");
      });
      change("+", place.path("a.txt"));
      expect(await checkpoints.undo()).toMatchObject({
        restored: [{ path: "b.txt", how: "changed" }],
        failures: [{ path: "a.txt", reason: "the operation is not permitted (EPERM)" }],
      });
      change("-", place.path("a.txt"));
      expect(await checkpoints.undo()).toMatchObject({
        restored: [{ path: "a.txt", how: "changed" }],
        failures: [],
      });
      expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["one\n", "one\n", "zero\n"]);
      await checkpoints.redo();
      expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["two\n", "two\n", "zero\n"]);
    },
  );
});
