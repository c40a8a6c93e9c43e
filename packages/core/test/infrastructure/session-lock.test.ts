import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionLock, sessionLockPath } from "../../src/infrastructure/fs/lock.ts";
import { ownIdentity } from "../../src/infrastructure/process/tree.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const LONG_AGO = new Date(Date.now() - 60_000);

function makeLock(content?: string): SessionLock {
  const path = join(makeTempDir(), "locks", "a");
  if (content !== undefined) {
    mkdirSync(dirname(path));
    writeFileSync(path, content);
    utimesSync(path, LONG_AGO, LONG_AGO);
  }
  return new SessionLock(path);
}

const names = ({ path }: SessionLock) => readdirSync(dirname(path));

test("one process at a time holds it, and nothing stays behind", async () => {
  const lock = makeLock();
  const other = new SessionLock(lock.path);
  expect(await Promise.all([lock.take(), other.take()])).toEqual([true, false]);
  expect([lock.isHeld(), other.isHeld(), JSON.parse(readFileSync(lock.path, "utf8"))]).toEqual([
    true,
    true,
    ownIdentity(),
  ]);
  lock.release();
  expect([other.isHeld(), names(lock)]).toEqual([false, []]);
  expect(await other.take()).toBe(true);
  other.release();
  other.release();
  expect(names(lock)).toEqual([]);
});

test("a running process keeps it", async () => {
  const parent = process.ppid;
  const lock = makeLock(JSON.stringify({ pid: parent }));
  expect([lock.isHeld(), await lock.take(), names(lock)]).toEqual([true, false, ["a"]]);
});

const DEAD: Record<string, string> = {
  "a process that is gone": JSON.stringify({ pid: 2 ** 22 + 5, startTime: "5" }),
  "a process that is gone and has no start time": JSON.stringify({ pid: 2 ** 22 + 5 }),
  "an earlier process with our number": JSON.stringify({ pid: process.pid, startTime: "5" }),
  "a process that died while it wrote": "",
  "a line that was cut off": '{"pid":1,"st',
  "a group of processes": JSON.stringify({ pid: -1 }),
  "every process": JSON.stringify({ pid: 0 }),
  "no number": JSON.stringify({ pid: "1" }),
};
if (process.platform === "linux")
  DEAD["an earlier process with a living one's number"] = JSON.stringify({
    pid: process.ppid,
    startTime: "5",
  });

test.each(Object.entries(DEAD))(
  "a lock of %s is taken over immediately, by one process",
  async (_, content) => {
    const lock = makeLock(content);
    expect(lock.isHeld()).toBe(false);
    const all = Array.from({ length: 5 }, () => new SessionLock(lock.path));
    const taken = await Promise.all(all.map((each) => each.take()));
    expect(taken.filter(Boolean)).toHaveLength(1);
    for (const each of all) each.release();
    expect(names(lock)).toEqual([]);
  },
);

test("a lock that is being written counts as held", () => {
  const lock = makeLock("");
  writeFileSync(lock.path, "");
  expect(lock.isHeld()).toBe(true);
});

test("a session has one lock for all paths to it", () => {
  const project = makeTempDir();
  const link = join(makeTempDir(), "link");
  symlinkSync(project, link);
  const environment = { XDG_STATE_HOME: "/state" };
  const path = sessionLockPath(environment, join(project, "a.jsonl"));
  expect(path).toMatch(/^\/state\/diligent\/locks\/[0-9a-f]{16}$/);
  expect(sessionLockPath(environment, join(link, "a.jsonl"))).toBe(path);
  expect(sessionLockPath(environment, join(project, "b.jsonl"))).not.toBe(path);
});
