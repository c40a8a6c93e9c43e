import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SpoolFile } from "../../src/infrastructure/process/output-file.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("output beyond the limit is dropped, and the file says why it ends", () => {
  const spool = SpoolFile.create(makeTempDir(), "call_1", 2 * 1024 * 1024);
  spool?.write(Buffer.alloc(1_500_000, "a"));
  expect(spool?.failure).toBeUndefined();
  spool?.write(Buffer.alloc(1_500_000, "b"));
  spool?.write(Buffer.alloc(10, "c"));
  spool?.close();
  expect(spool?.failure).toBe("only its first 2 MB");
  expect(readFileSync(spool?.path ?? "", "utf8")).toBe("a".repeat(1_500_000) + "b".repeat(597_152));
});

test("an invalid file name is replaced, and two files never have the same name", () => {
  const directory = makeTempDir();
  for (const name of ["../../etc/x", "../../etc/x"]) SpoolFile.create(directory, name)?.close();
  expect(readdirSync(directory).length).toBe(2);
  for (const name of readdirSync(directory)) expect(name).toMatch(/^______etc_x-[0-9a-f]{8}\.txt$/);
});

test("is undefined if no file can be created", () => {
  expect(SpoolFile.create(join(makeTempDir(), "gone"), "call_1")).toBeUndefined();
});
