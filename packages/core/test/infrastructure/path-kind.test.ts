import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSmallText } from "../../src/infrastructure/fs/read.ts";
import { isEnterableDirectory, pathKind } from "../../src/infrastructure/fs/stat.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makePlace(): string {
  const top = makeTempDir();
  mkdirSync(join(top, "directory"));
  writeFileSync(join(top, "file"), "text");
  symlinkSync("directory", join(top, "link"));
  symlinkSync("missing", join(top, "dangling"));
  Bun.spawnSync(["mkfifo", join(top, "pipe")]);
  return top;
}

test("the kind of a path is reported, and a link is not followed", () => {
  const top = makePlace();
  const kinds = ["directory", "file", "link", "dangling", "pipe", "missing", "file/x", "link/x"].map(
    (name) => [name, pathKind(join(top, name))],
  );
  expect(kinds).toEqual([
    ["directory", "directory"],
    ["file", "file"],
    ["link", "link"],
    ["dangling", "link"],
    ["pipe", "special"],
    ["missing", "missing"],
    ["file/x", "missing"],
    ["link/x", "missing"],
  ]);
  expect(pathKind("/dev/null")).toBe("special");
});

test("only a directory itself can certainly be entered", () => {
  const top = makePlace();
  const names = ["directory", "link", "file", "missing", "pipe"];
  expect(names.filter((name) => isEnterableDirectory(join(top, name)))).toEqual(["directory"]);
});

test("a small text is read only from a regular file of at most that size, without blocking", () => {
  const top = makePlace();
  expect(readSmallText(join(top, "file"), 4)).toBe("text");
  expect(readSmallText(join(top, "file"), 3)).toBeUndefined();
  symlinkSync("file", join(top, "to-file"));
  for (const name of ["to-file", "directory", "pipe", "missing"]) {
    expect([name, readSmallText(join(top, name), 100)]).toEqual([name, undefined]);
  }
  chmodSync(join(top, "file"), 0o000);
  expect([undefined, "text"]).toContain(readSmallText(join(top, "file"), 4));
});
