import { expect, test } from "bun:test";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "../../src/infrastructure/fs/lock.ts";
import { updatePrivateFile } from "../../src/infrastructure/fs/private-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("a lock is removed afterwards, also if the work under it failed", async () => {
  const path = join(makeTempDir(), "state");
  expect(await withFileLock(path, () => existsSync(`${path}.lock`))).toBe(true);
  const failing = withFileLock(path, () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("a held lock is waited for", async () => {
  const path = join(makeTempDir(), "state");
  writeFileSync(`${path}.lock`, "");
  let isHeld = true;
  const waiting = withFileLock(path, () => isHeld);
  setTimeout(() => {
    isHeld = false;
    Bun.file(`${path}.lock`).delete();
  }, 20);
  expect(await waiting).toBe(false);
});

test("a lock of a dead process is taken over", async () => {
  const path = join(makeTempDir(), "state");
  writeFileSync(`${path}.lock`, "");
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(`${path}.lock`, longAgo, longAgo);
  expect(await withFileLock(path, () => "done")).toBe("done");
});

test("a private file keeps its content if the change fails", async () => {
  const path = join(makeTempDir(), "deep", "state");
  const append = (text: string) => (content: Uint8Array | undefined) =>
    Buffer.concat([content ?? new Uint8Array(), Buffer.from(text)]);
  await updatePrivateFile(path, append("a"));
  await updatePrivateFile(path, append("b"));
  const failing = updatePrivateFile(path, () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(readFileSync(path, "utf8")).toBe("ab");
});
