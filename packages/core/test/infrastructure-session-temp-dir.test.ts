import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SessionTempDir } from "../src/infrastructure/session-temp-dir.ts";
import { makeTempDir } from "./support/temp-dir.ts";

test("is made on first use, is private, and is gone with the session", () => {
  const parent = makeTempDir();
  const directory = new SessionTempDir(parent);
  const path = directory.path() ?? "";
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(directory.path()).toBe(path);
  const kept = directory.keep("../call/1", "the output") ?? "";
  expect(kept.startsWith(`${path}/`)).toBe(true);
  expect(readFileSync(kept, "utf8")).toBe("the output");
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  directory.remove();
  expect(existsSync(path)).toBe(false);
});

test("leftovers are removed after a week, and nothing else is", () => {
  const parent = makeTempDir();
  const weekAgo = Date.now() / 1000 - 8 * 24 * 3600;
  for (const name of ["diligent-AAAAAA", "diligent-BBBBBB", "diligent-demo-AAAAAA", "other"]) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "file"), "");
    if (name !== "diligent-BBBBBB") utimesSync(join(parent, name), weekAgo, weekAgo);
  }
  mkdirSync(join(parent, "precious"));
  symlinkSync(join(parent, "precious"), join(parent, "diligent-CCCCCC"));
  new SessionTempDir(parent).path();
  const remaining = ["diligent-AAAAAA", "diligent-BBBBBB", "diligent-demo-AAAAAA", "other", "precious"];
  expect(remaining.map((name) => existsSync(join(parent, name)))).toEqual([false, true, true, true, true]);
});

test("where no directory can be made there is none, and keeping says so", () => {
  const directory = new SessionTempDir(join(makeTempDir(), "missing"));
  expect(directory.path()).toBeUndefined();
  expect(directory.keep("a", "b")).toBeUndefined();
  directory.remove();
});
