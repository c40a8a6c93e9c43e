import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { setAttribute } from "../support/extended-attribute.ts";
import { findAttributeObstacle, testUnless } from "../support/test-unless.ts";
import { describeTree } from "../support/tree-bytes.ts";

const SWAPPER = new URL("../support/swap-directory.ts", import.meta.url).pathname;

let place: CheckpointPlace;
let checkpoints: Checkpoints;
beforeEach(() => {
  place = new CheckpointPlace();
  checkpoints = place.open();
});
afterEach(() => place.close());

const write = (name: string, content: string) => writeFileSync(place.path(name), content);
const read = (name: string) => readFileSync(place.path(name), "utf8");

describe("a directory that was replaced by a link", () => {
  let outside: string;
  beforeEach(() => {
    outside = join(place.top, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "file.txt"), "theirs\n");
    mkdirSync(place.path("dir"));
    write("dir/file.txt", "one\n");
    write("dir/deleted.txt", "d\n");
  });

  test("is not followed: nothing outside the project is written or removed", async () => {
    await place.run(checkpoints, () => {
      write("dir/file.txt", "two\n");
      write("dir/new.txt", "n\n");
      rmSync(place.path("dir/deleted.txt"));
    });
    renameSync(place.path("dir"), place.path("elsewhere"));
    symlinkSync(outside, place.path("dir"));
    writeFileSync(join(outside, "new.txt"), "n\n");
    const before = describeTree(outside);
    const restoration = await checkpoints.undo();
    expect(restoration?.restored).toEqual([]);
    expect(describeTree(outside)).toEqual(before);
    expect(lstatSync(place.path("dir")).isSymbolicLink()).toBe(true);
  });

  test("repeatedly during a restore never redirects it outside the project", async () => {
    for (let count = 0; count < 40; count++) write(`dir/${count}.txt`, "one\n");
    await place.run(checkpoints, () => {
      for (let count = 0; count < 40; count++) write(`dir/${count}.txt`, "two\n");
      write("dir/new.txt", "n\n");
    });
    for (let count = 0; count < 40; count++) writeFileSync(join(outside, `${count}.txt`), "two\n");
    writeFileSync(join(outside, "new.txt"), "n\n");
    const before = describeTree(outside);
    symlinkSync(outside, place.path("link"));
    const swapper = Bun.spawn([process.execPath, SWAPPER, place.path("dir"), place.path("link")], {
      stdout: "pipe",
    });
    await swapper.stdout.getReader().read();
    for (let round = 0; round < 10; round++) {
      await checkpoints.undo();
      await checkpoints.redo();
    }
    swapper.kill();
    await swapper.exited;
    expect(describeTree(outside)).toEqual(before);
  });

  test("during the run is replaced by the directory again", async () => {
    await place.run(checkpoints, () => {
      rmSync(place.path("dir"), { recursive: true });
      symlinkSync(outside, place.path("dir"));
    });
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [] });
    expect(read("dir/file.txt")).toBe("one\n");
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe("theirs\n");
    expect(readdirSync(outside)).toEqual(["file.txt"]);
  });
});

describe("files that are not regular", () => {
  test("are skipped: pipes, sockets and devices are neither waited for nor removed", async () => {
    Bun.spawnSync(["mkfifo", place.path("pipe")]);
    using server = Bun.listen({ unix: place.path("socket"), socket: { data() {} } });
    await place.run(checkpoints, () => write("a.txt", "a\n"));
    await checkpoints.undo();
    expect(describeTree(place.root)).toEqual(["pipe special", "socket special"]);
    server.stop();
  });

  test("are never overwritten, even to restore a file", async () => {
    write("a.txt", "one\n");
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    rmSync(place.path("a.txt"));
    Bun.spawnSync(["mkfifo", place.path("a.txt")]);
    expect(await checkpoints.undo()).toMatchObject({ restored: [], conflicts: [{ path: "a.txt" }] });
    expect(lstatSync(place.path("a.txt")).isFIFO()).toBe(true);
  });
});

describe("a file with several names", () => {
  test("keeps its other names", async () => {
    write("a.txt", "one\n");
    linkSync(place.path("a.txt"), place.path("b.txt"));
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [] });
    expect([read("a.txt"), read("b.txt")]).toEqual(["one\n", "one\n"]);
    expect(statSync(place.path("a.txt")).ino).toBe(statSync(place.path("b.txt")).ino);
  });

  testUnless(findAttributeObstacle())("keeps its attributes", async () => {
    write("a.txt", "one\n");
    expect(setAttribute(place.path("a.txt"), "user.note", "kept")).toBe(true);
    await place.run(checkpoints, () => write("a.txt", "two\n"));
    const { ino } = statSync(place.path("a.txt"));
    await checkpoints.undo();
    expect([read("a.txt"), statSync(place.path("a.txt")).ino]).toEqual(["one\n", ino]);
  });
});

describe("contents that are not recorded", () => {
  test("are only noticed: caches, by name or by their tag, whatever they are called later", async () => {
    mkdirSync(place.path("node_modules/pkg"), { recursive: true });
    write("node_modules/pkg/index.js", "1\n");
    mkdirSync(place.path("target"));
    write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n");
    write("target/out", "1\n");
    await place.run(checkpoints, () => {
      rmSync(place.path("node_modules"), { recursive: true });
      rmSync(place.path("target/CACHEDIR.TAG"));
      write("a.txt", "a\n");
    });
    expect(await checkpoints.undo()).toMatchObject({
      restored: [{ path: "a.txt", how: "removed" }],
      notKept: [
        { path: "node_modules", isCache: true },
        { path: "target", isCache: true },
      ],
    });
    expect(read("target/out")).toBe("1\n");
  });

  test("a recorded directory does not become a cache by a tag", async () => {
    mkdirSync(place.path("src"));
    write("src/main.c", "int main;\n");
    await place.run(
      checkpoints,
      () => write("src/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
      () => rmSync(place.path("src"), { recursive: true }),
    );
    await checkpoints.undo();
    expect(read("src/main.c")).toBe("int main;\n");
  });

  test("are never removed: a large file that the run has created stays", async () => {
    checkpoints = place.open({ limits: { fileBytes: 1000 } });
    write("large.bin", "x".repeat(2000));
    await place.run(checkpoints, () => {
      write("made.bin", "y".repeat(2000));
      write("large.bin", "z");
      chmodSync(place.path("made.bin"), 0o600);
    });
    expect(await checkpoints.undo()).toMatchObject({
      restored: [],
      notKept: [
        { path: "large.bin", isCache: false },
        { path: "made.bin", isCache: false },
      ],
    });
    expect(read("made.bin")).toHaveLength(2000);
  });

  test("get their permissions restored nevertheless", async () => {
    checkpoints = place.open({ limits: { fileBytes: 1000 } });
    write("large.bin", "x".repeat(2000));
    await place.run(checkpoints, () => chmodSync(place.path("large.bin"), 0o600));
    expect(await checkpoints.undo()).toMatchObject({ notKept: [], failures: [] });
    expect(statSync(place.path("large.bin")).mode & 0o777).toBe(0o644);
  });

  test("are diligent's own files and new repositories, at any depth", async () => {
    for (const directory of [".diligent", "sub"]) mkdirSync(place.path(directory));
    await place.run(checkpoints, () => {
      mkdirSync(place.path(".git"));
      write(".git/HEAD", "ref\n");
      write(".diligent/x", "x\n");
      mkdirSync(place.path("sub/.git"));
      write("sub/file", "f\n");
    });
    expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "sub/file", how: "removed" }] });
    expect([read(".git/HEAD"), read(".diligent/x"), existsSync(place.path("sub/.git"))]).toEqual([
      "ref\n",
      "x\n",
      true,
    ]);
  });
});

describe("names", () => {
  test("that are long, unusual or not valid text are restored unchanged", async () => {
    const names = ["\n", " ", "a\\b", "-", "ünïcödé", "\u{1f600}", "x".repeat(255), "\u001b[31m", "\ufffd"];
    for (const name of names) write(name, `${name}\n`);
    const bytes = Buffer.concat([Buffer.from(`${place.root}/`), Buffer.from([0xff, 0xed, 0xb2, 0x80, 0x41])]);
    mkdirSync(bytes);
    writeFileSync(Buffer.concat([bytes, Buffer.from("/"), Buffer.from([0xc3])]), "bytes\n");
    const before = describeTree(place.root);
    await place.run(checkpoints, () => {
      for (const name of readdirSync(place.root)) if (!name.includes("\ufffd")) rmSync(place.path(name));
      rmSync(bytes, { recursive: true });
    });
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [], notKept: [] });
    expect(describeTree(place.root)).toEqual(before);
  });

  test("of a deep tree are restored, even if its path is longer than one system call accepts", async () => {
    let deep = place.root;
    for (let depth = 0; depth < 14; depth++) deep += `/${"d".repeat(250)}`;
    mkdirSync(deep, { recursive: true });
    writeFileSync(`${deep}/leaf`, "leaf\n");
    const before = describeTree(place.root);
    await place.run(checkpoints, () => rmSync(`${place.root}/${"d".repeat(250)}`, { recursive: true }));
    expect(readdirSync(place.root)).toEqual([]);
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [] });
    expect(describeTree(place.root)).toEqual(before);
  });
});

test("a change that keeps size and times is noticed", async () => {
  write("a.txt", "one\n");
  const { mtime, atime } = statSync(place.path("a.txt"));
  await place.run(checkpoints, () => {
    write("a.txt", "two\n");
    utimesSync(place.path("a.txt"), atime, mtime);
  });
  await checkpoints.undo();
  expect(read("a.txt")).toBe("one\n");
});

test("a sparse file with an enormous size is not read", async () => {
  write("sparse", "");
  truncateSync(place.path("sparse"), 1024 ** 4);
  await place.run(checkpoints, () => write("a.txt", "a\n"));
  expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "removed" }] });
  expect(checkpoints.canUndo).toBe(true);
});

describe("the project directory", () => {
  test("is restored if a run has removed it", async () => {
    mkdirSync(place.path("dir"));
    write("dir/a.txt", "one\n");
    await place.run(checkpoints, () => rmSync(place.root, { recursive: true }));
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], failures: [] });
    expect(read("dir/a.txt")).toBe("one\n");
  });

  test("is not searched behind a link that has replaced it", async () => {
    write("a.txt", "one\n");
    const outside = join(place.top, "outside");
    mkdirSync(outside);
    await place.run(checkpoints, () => {
      renameSync(place.root, join(place.top, "moved"));
      symlinkSync(outside, place.root);
    });
    expect(await checkpoints.undo()).toMatchObject({ restored: [], conflicts: [{ path: "a.txt" }] });
    expect(readdirSync(outside)).toEqual([]);
  });
});

test("diligent's data about the user is not recorded in a project that contains it", async () => {
  checkpoints = place.open({ environment: { HOME: "/nonexistent", XDG_STATE_HOME: place.path("state") } });
  await place.run(
    checkpoints,
    () => write("a.txt", "a\n"),
    () => write("state/diligent/trust", "t\n"),
  );
  expect(await checkpoints.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "removed" }] });
  expect(read("state/diligent/trust")).toBe("t\n");
});
