import { afterAll, expect } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeferredWriter, readSessionFile } from "../../src/session/persistence.ts";
import { chain, header } from "../support/session-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { findMountObstacle, testUnless } from "../support/test-unless.ts";

afterAll(() => {
  if (obstacle === undefined) Bun.spawnSync(["umount", disk]);
});
const disk = join(makeTempDir(), "disk");
mkdirSync(disk);
const obstacle = findMountObstacle();
if (obstacle === undefined) Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k", "diligent-test", disk]);

testUnless(obstacle)(
  "a full disk is reported once, damages no line, and loses nothing once there is space",
  () => {
    const errors: string[] = [];
    const writer = new DeferredWriter(disk, "/work", {
      header: header(),
      onFailure: ({ message }) => errors.push(message),
    });
    const entries = chain(200);
    const path = join(disk, `${header().id}.jsonl`);
    for (const entry of entries.slice(0, 20)) writer.write(entry);
    const before = readFileSync(path, "utf8");
    writeFileSync(join(disk, "hog"), "x".repeat(40 * 1024));
    for (const entry of entries.slice(20)) writer.write(entry);
    expect(errors).toEqual([`${path}: no space is left on the disk (ENOSPC), on the file system at ${disk}`]);
    expect(writer.path).toBeNull();
    expect(readFileSync(path, "utf8")).toStartWith(before);
    const saved = readSessionFile(path).entries;
    expect(saved).toEqual(entries.slice(0, saved.length));
    rmSync(join(disk, "hog"));
    expect(writer.flush()).toBe(path);
    writer.close();
    expect(readSessionFile(path)).toMatchObject({ entries, skippedLines: 0 });
  },
);
