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
import { SessionTempDir } from "../../src/infrastructure/fs/state-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("is created on first use, is private, and is removed with the session", () => {
  const parent = makeTempDir();
  const directory = new SessionTempDir(parent);
  const path = directory.path() ?? "";
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(directory.path()).toBe(path);
  const kept = directory.keep("../call/1", "the output") ?? "";
  expect(kept.startsWith(`${path}/`)).toBe(true);
  expect(readFileSync(kept, "utf8")).toBe("the output");
  expect(directory.keep("../call/1", "another")).not.toBe(kept);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  directory.remove();
  expect(existsSync(path)).toBe(false);
});

test("leftovers are removed after a week, and nothing else is", () => {
  const parent = makeTempDir();
  const weekAgo = Date.now() / 1000 - 8 * 24 * 3600;
  const old = "diligent-session-4000000001-AAAAAA";
  const recent = "diligent-session-4000000002-AAAAAA";
  const open = `diligent-session-${process.pid}-AAAAAA`;
  const others = ["diligent-backup", "diligent-demo-AAAAAA", "diligent-session-x", "other"];
  for (const name of [old, recent, open, ...others]) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "file"), "");
    if (name !== recent) utimesSync(join(parent, name), weekAgo, weekAgo);
  }
  symlinkSync(join(parent, "other"), join(parent, "diligent-session-4000000003-AAAAAA"));
  new SessionTempDir(parent).path();
  expect(existsSync(join(parent, old))).toBe(false);
  expect([recent, open, ...others].filter((name) => !existsSync(join(parent, name)))).toEqual([]);
});

test("is undefined if it cannot be created, and saving reports that", () => {
  const directory = new SessionTempDir(join(makeTempDir(), "missing"));
  expect(directory.path()).toBeUndefined();
  expect(directory.keep("a", "b")).toBeUndefined();
  directory.remove();
});
