import { describe, expect, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { withParentDirectories } from "../../src/infrastructure/fs/private-files.ts";
import { openRegularFile, readWholeFile } from "../../src/infrastructure/fs/read.ts";
import {
  assertOpenedAt,
  DESCRIPTORS,
  HeldDirectory,
  MovedPathError,
} from "../../src/infrastructure/fs/real-path.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const isLinux = process.platform === "linux";

/** A directory `inside` with a file in it, and one outside of everything with a file of the same name. */
function makePlaces() {
  const top = makeTempDir();
  const [inside, outside] = [join(top, "inside"), join(top, "outside")];
  for (const directory of [inside, outside]) {
    mkdirSync(join(directory, "deep"), { recursive: true });
    writeFileSync(join(directory, "deep", "file"), directory);
  }
  const swap = () => {
    renameSync(inside, join(top, "aside"));
    symlinkSync(outside, inside);
  };
  return { top, inside, outside, swap };
}

// The second has no /proc: what other systems are like.
const SYSTEMS = { "with /proc": DESCRIPTORS, "without /proc": "/nonexistent" };

for (const [system, descriptors] of Object.entries(SYSTEMS)) {
  describe(`a held directory ${system}`, () => {
    test("gives access to its entries, and to those of a directory in it", () => {
      const { inside } = makePlaces();
      using directory = HeldDirectory.open(inside, descriptors);
      using deep = directory.openChild("deep");
      expect([readdirSync(directory.at(".")), readFileSync(deep.at("file"), "utf8")]).toEqual([
        ["deep"],
        inside,
      ]);
      expect(deep.realPath).toBe(join(inside, "deep"));
      const { stdout } = Bun.spawnSync(["cat", "deep/file"], { cwd: directory.pathForChildren });
      expect(stdout.toString()).toBe(inside);
    });

    test("cannot be opened if the path contains a link or does not exist", () => {
      const { top, inside } = makePlaces();
      symlinkSync(inside, join(top, "link"));
      for (const path of [join(top, "link"), join(top, "link", "deep"), join(inside, "deep", "file")]) {
        expect(() => HeldDirectory.open(path, descriptors)).toThrow(MovedPathError);
      }
      expect(() => HeldDirectory.open(join(top, "none"), descriptors)).toThrow("ENOENT");
      using directory = HeldDirectory.open(top, descriptors);
      expect(() => directory.openChild("link")).toThrow(MovedPathError);
    });

    test("notices when a file is opened that a link has replaced the directory", () => {
      const { inside, swap } = makePlaces();
      using directory = HeldDirectory.open(inside, descriptors);
      using deep = directory.openChild("deep");
      swap();
      const fd = openSync(deep.at("file"), "r");
      try {
        // Either it was the right file all the same, or it is told that it was not.
        const isOther = readFileSync(fd, "utf8") !== inside;
        const assertHeld = () => deep.assertHolds(fd, "file");
        if (isOther) expect(assertHeld).toThrow(MovedPathError);
        else expect(assertHeld).not.toThrow();
        expect(isOther).toBe(descriptors !== DESCRIPTORS || !isLinux);
      } finally {
        closeSync(fd);
      }
    });
  });

  test(`detects if another path leads to a different file than the open one, ${system}`, () => {
    const { inside, outside, swap } = makePlaces();
    const [own, foreign] = [join(inside, "deep", "file"), join(outside, "deep", "file")];
    const fd = openSync(foreign, "r");
    try {
      expect(() => assertOpenedAt(fd, foreign, descriptors)).not.toThrow();
      expect(() => assertOpenedAt(fd, own, descriptors)).toThrow(MovedPathError);
      swap();
      expect(() => assertOpenedAt(fd, own, descriptors)).toThrow(MovedPathError);
    } finally {
      closeSync(fd);
    }
  });
}

test("a file is not read through a link in its path", async () => {
  const { inside, swap } = makePlaces();
  const path = join(inside, "deep", "file");
  expect(Buffer.from(readWholeFile(path)).toString()).toBe(inside);
  swap();
  expect(() => readWholeFile(path)).toThrow(MovedPathError);
  await expect(openRegularFile(path)).rejects.toThrow(MovedPathError);
});

describe("creating directories for a file", () => {
  test("creates them only at the real path, and removes them again if the file cannot be created", () => {
    const { inside, outside, swap } = makePlaces();
    const path = join(inside, "new", "newer", "file");
    expect(() =>
      withParentDirectories(path, () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(readdirSync(inside)).toEqual(["deep"]);
    swap();
    expect(() => withParentDirectories(path, () => {})).toThrow(MovedPathError);
    expect(readdirSync(outside)).toEqual(["deep"]);
  });

  test("does not remove them if the path has become a link", () => {
    const { top, inside, outside, swap } = makePlaces();
    mkdirSync(join(outside, "new"));
    const failing = () => {
      swap();
      throw new Error("no");
    };
    expect(() => withParentDirectories(join(inside, "new", "file"), failing)).toThrow("no");
    expect(readdirSync(outside).sort()).toEqual(["deep", "new"]);
    expect(readdirSync(join(top, "aside")).sort()).toEqual(["deep", "new"]);
  });

  test("supports very many levels", () => {
    const { inside } = makePlaces();
    const path = join(inside, ...Array.from({ length: 300 }, () => "a"), "file");
    withParentDirectories(path, () => writeFileSync(path, "x"));
    expect(readFileSync(path, "utf8")).toBe("x");
  });
});
