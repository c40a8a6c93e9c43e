import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRealPath, followPath, isInside, splitPath } from "../../src/infrastructure/fs/real-path.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "real-path-")));
mkdirSync(join(top, "a", "b"), { recursive: true });
writeFileSync(join(top, "a", "file"), "");
symlinkSync(join(top, "a", "b"), join(top, "to-b"));
symlinkSync("a", join(top, "relative"));
symlinkSync("to-b", join(top, "chain"));
symlinkSync("../missing/x", join(top, "a", "dangling"));
symlinkSync("self", join(top, "self"));

afterAll(() => rmSync(top, { recursive: true, force: true }));

describe("findRealPath", () => {
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    ["a plain path", "a/file", "a/file"],
    ["an absolute link", "to-b", "a/b"],
    ["a relative link in the middle", "relative/b/new", "a/b/new"],
    ["a chain of links", "chain/x", "a/b/x"],
    ["a dangling link", "a/dangling", "missing/x"],
    ["a missing tail", "a/new/deep/er", "a/new/deep/er"],
    [".. behind a link", "to-b/../file", "a/file"],
    [".. behind something missing", "a/new/../file", "a/file"],
    ["a path through a file", "a/file/x", "a/file/x"],
    ["a link to itself", "self", undefined],
  ];
  for (const [name, path, expected] of cases) {
    test(`${name} resolves as in the file system`, () => {
      const absolute = expected === undefined ? undefined : join(top, expected);
      expect([findRealPath(path, top), findRealPath(`${join(top, "a")}/../${path}`, "/")]).toEqual([
        absolute,
        absolute,
      ]);
    });
  }

  test("an existing path resolves as in the operating system", () => {
    for (const path of ["a", "to-b", "relative/b", "chain", "/", "/proc/self/cwd", "/dev/fd"]) {
      expect(findRealPath(path, top)).toBe(realpathSync(path.startsWith("/") ? path : join(top, path)));
    }
  });

  test("the root's parent is the root", () => {
    expect(findRealPath("/../../etc", top)).toBe("/etc");
  });
});

describe("isInside", () => {
  test("compares component by component", () => {
    expect(isInside("/w/app", "/w/app")).toBe(true);
    expect(isInside("/w/app/x", "/w/app/")).toBe(true);
    expect(isInside("/w/app-secret", "/w/app")).toBe(false);
    expect(isInside("/w", "/w/app")).toBe(false);
    expect(isInside("/anything", "/")).toBe(true);
  });
});

test("splitPath removes empty components and dots", () => {
  expect(splitPath("/a//b/./c/")).toEqual(["a", "b", "c"]);
});

describe("followPath", () => {
  const isPerProcess = (path: string) => followPath(path, top)?.isPerProcess;

  test("reports a path through entries that differ between processes", () => {
    symlinkSync("/proc/self/cwd", join(top, "here"));
    symlinkSync("/dev/fd", join(top, "descriptors"));
    const through = [
      "/proc/self",
      "/proc/1/x",
      "/dev/stdin",
      "/dev/null",
      "here/x",
      "here/../x",
      "descriptors",
    ];
    expect(through.map(isPerProcess)).toEqual(through.map(() => true));
    const others = ["a/file", "to-b/x", "/", "/dev", "/dev/shm/x", "a/proc/x", "dev/x", "/processes/x"];
    expect(others.map(isPerProcess)).toEqual(others.map(() => false));
  });

  test("does not follow a link to a name that is not valid Unicode", () => {
    symlinkSync(Buffer.from([0x61, 0xff]), join(top, "to-invalid"));
    expect(followPath("to-invalid", top)).toBeUndefined();
    expect(findRealPath("to-invalid/x", top)).toBeUndefined();
  });
});
