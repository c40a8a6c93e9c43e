import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { describeTree } from "../support/tree-bytes.ts";

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");

describe("a directory that was replaced by a file", () => {
  test("with diligent's own files inside still lets everything else be restored", async () => {
    mkdirSync(place.path("sub/.diligent"), { recursive: true });
    write("sub/.diligent/x", "x\n");
    write("sub/a.txt", "one\n");
    write("b.txt", "one\n");
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      rmSync(place.path("sub"), { recursive: true });
      write("sub", "\n");
      write("b.txt", "two\n");
    });
    expect(await checkpoints.undo()).toMatchObject({
      restored: [{ path: "b.txt" }, { path: "sub" }, { path: "sub/a.txt" }],
      notKept: [{ path: "sub/.diligent", isControl: true }],
      conflicts: [],
      failures: [],
    });
    expect([read("sub/a.txt"), read("b.txt")]).toEqual(["one\n", "one\n"]);
  });

  test("above the project itself is reported as missing, and nothing is restored elsewhere", async () => {
    const root = place.path("inner/project");
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "a.txt"), "one\n");
    const checkpoints = place.open({ root });
    await place.run(checkpoints, () => {
      rmSync(place.path("inner"), { recursive: true });
      write("inner", "a file\n");
    });
    expect(await checkpoints.undo({ isDryRun: true })).toMatchObject({ restored: [{ path: "a.txt" }] });
    await expect(checkpoints.undo()).rejects.toThrow();
    expect(read("inner")).toBe("a file\n");
    rmSync(place.path("inner"));
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt" }] });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
  });
});

// Only where the system refuses to write to a program that runs.
describe.skipIf(process.platform !== "linux")("a running program with two names", () => {
  test("keeps its permissions if it cannot be rewritten, and is restored once it has ended", async () => {
    write("sleep", "one\n");
    linkSync(place.path("sleep"), place.path("other-name"));
    const checkpoints = place.open();
    await place.run(checkpoints, () => {
      copyFileSync("/bin/sleep", place.path("sleep"));
      chmodSync(place.path("sleep"), 0o555);
    });
    await using program = Bun.spawn([place.path("sleep"), "60"]);
    const { failures } = (await checkpoints.undo()) ?? {};
    const names = ["other-name", "sleep"];
    expect(failures?.map(({ path }) => path)).toEqual(names);
    expect(statSync(place.path("sleep")).mode & 0o7777).toBe(0o555);
    program.kill();
    await program.exited;
    expect(await checkpoints.undo()).toMatchObject({
      restored: names.map((path) => ({ path })),
      conflicts: [],
    });
    expect(names.map(read)).toEqual(["one\n", "one\n"]);
  });
});

describe("a project that a run has removed together with its parent directory,", () => {
  /** A signal that is aborted when `path` has come. */
  function stopAt(path: string): AbortSignal {
    return Object.defineProperty(new AbortController().signal, "aborted", { get: () => existsSync(path) });
  }

  async function removeProject() {
    const root = place.path("outer/project");
    mkdirSync(root, { recursive: true });
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(root, name), "one\n");
    const checkpoints = place.open({ root });
    await place.run(checkpoints, () => rmSync(place.path("outer"), { recursive: true }));
    return { checkpoints, root };
  }

  test("is removed again if the undo is stopped, and can be restored afterwards", async () => {
    const { checkpoints, root } = await removeProject();
    const stopped = await checkpoints.undo({ signal: stopAt(join(root, "a.txt")) });
    expect(stopped).toMatchObject({ restored: [], conflicts: [], failures: [], isStopped: true });
    expect(describeTree(place.root)).toEqual([]);
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt" }, { path: "b.txt" }] });
    expect(readdirSync(root).sort()).toEqual(["a.txt", "b.txt"]);
    expect(await checkpoints.redo()).toMatchObject({ restored: [{ path: "a.txt" }, { path: "b.txt" }] });
  });

  test("stays if somebody has put something into it in the meantime", async () => {
    const { checkpoints, root } = await removeProject();
    const signal = Object.defineProperty(new AbortController().signal, "aborted", {
      get: () => {
        if (!existsSync(join(root, "a.txt"))) return false;
        writeFileSync(join(root, "mine.txt"), "mine\n");
        return true;
      },
    });
    expect(await checkpoints.undo({ signal })).toMatchObject({ isStopped: true });
    expect(readdirSync(root)).toEqual(["mine.txt"]);
  });
});
