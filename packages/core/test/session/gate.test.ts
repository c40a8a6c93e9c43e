import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import { SessionLock, sessionLockPath } from "../../src/infrastructure/fs/lock.ts";
import { acquireCompactionLock } from "../../src/session/compaction-lock.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const LONG = "the lexer knows numbers; ".repeat(100);

async function open(state: string) {
  const project = await createSessionProject({ text: LONG }, { text: LONG });
  const lockPlace = { XDG_STATE_HOME: state };
  const resume = async () => {
    const manager = project.manager({ lockLocation: lockPlace });
    await manager.resume({ mostRecent: true });
    return manager;
  };
  const manager = project.manager({ lockLocation: lockPlace });
  for (const prompt of ["one", "two"]) await manager.run(user(prompt)).result();
  return { project, lockPlace, manager, resume };
}

async function noticesOf(manager: SessionManager, prompt: string): Promise<string[]> {
  const codes: string[] = [];
  await manager.run(user(prompt)).consume((event) => {
    if (event.type === "notice") codes.push(event.code);
  });
  return codes;
}

const messages = (length: number): string[] => Array.from({ length }, () => "message");

const pathTypes = (manager: SessionManager): string[] => manager.branches.path.map(({ type }) => type);

describe("a session that is open while another process compacts it", () => {
  test("continues from the compaction, without mentioning branches", async () => {
    const { project, manager, resume } = await open(makeTempDir());
    const other = await resume();
    project.play({ text: GOOD_SUMMARY }, { text: "three" }, { text: "four" }, { text: "five" });
    expect((await other.compact()).kind).toBe("compacted");
    expect(await noticesOf(manager, "three")).toEqual([]);
    expect(await noticesOf(manager, "four")).toEqual([]);
    expect(pathTypes(manager)).toEqual([...messages(4), "compaction", ...messages(4)]);
    expect((await resume()).branches.path).toEqual(manager.branches.path);
  });

  test("does not compact what was compacted already", async () => {
    const { project, manager, resume } = await open(makeTempDir());
    const other = await resume();
    project.play({ text: GOOD_SUMMARY }, { text: GOOD_SUMMARY });
    await other.compact();
    expect(await manager.compact()).toEqual({ kind: "nothing" });
    expect(pathTypes(manager)).toEqual([...messages(4), "compaction"]);
    expect(project.requests).toHaveLength(3);
  });

  test("compacts behind what the other has said", async () => {
    const { project, manager, resume } = await open(makeTempDir());
    const other = await resume();
    project.play({ text: "three" }, { text: GOOD_SUMMARY });
    await other.run(user("three")).result();
    expect((await manager.compact()).kind).toBe("compacted");
    expect(pathTypes(manager)).toEqual([...messages(6), "compaction"]);
  });

  test("stays a branch of its own where it has gone on already", async () => {
    const { project, manager, resume } = await open(makeTempDir());
    const other = await resume();
    project.play({ text: "three" }, { text: GOOD_SUMMARY }, { text: "four" });
    await manager.run(user("three")).result();
    const [first] = manager.branches.path;
    other.branch(String(first?.id));
    await other.compact();
    await manager.run(user("four")).result();
    expect(pathTypes(manager)).toEqual(messages(8));
  });
});

test("a prompt sent while a compaction of this process waits joins behind it", async () => {
  const { project, lockPlace, manager } = await open(makeTempDir());
  const lock = new SessionLock(sessionLockPath(lockPlace, manager.sessionPath ?? "") ?? "");
  await lock.take();
  project.play({ text: GOOD_SUMMARY }, { text: "three" });
  const compacting = manager.compact();
  const running = manager.run(user("three")).result();
  lock.release();
  expect((await compacting).kind).toBe("compacted");
  await running;
  expect(pathTypes(manager)).toContain("compaction");
  expect(manager.context.messages.map(({ role }) => role).slice(-2)).toEqual(["user", "assistant"]);
});

test("an automatic compaction holds the lock and gives it back", async () => {
  const state = makeTempDir();
  const { project, lockPlace } = await open(state);
  const seen: string[][] = [];
  const locks = join(state, "diligent", "locks");
  const manager = project.manager({
    lockLocation: lockPlace,
    model: { contextWindow: 6_000, maxOutputTokens: 400 },
    context: {
      async buildSystemPrompt() {
        seen.push(readdirSync(locks));
        return "Test.";
      },
    },
  });
  await manager.resume({ mostRecent: true });
  project.play(...Array.from({ length: 8 }, () => ({ text: GOOD_SUMMARY })));
  await manager.run(user(LONG.repeat(6))).result();
  expect(pathTypes(manager)).toContain("compaction");
  expect(seen[0]).toHaveLength(1);
  expect(readdirSync(locks)).toEqual([]);
});

test("a new session touches no lock until it compacts", async () => {
  const state = makeTempDir();
  await open(state);
  expect(existsSync(join(state, "diligent"))).toBe(false);
});

test("where no lock can be kept, a session compacts without one", async () => {
  const state = makeTempDir();
  mkdirSync(join(state, "diligent"));
  writeFileSync(join(state, "diligent", "locks"), "");
  const { project, manager } = await open(state);
  project.play({ text: GOOD_SUMMARY }, { text: "three" });
  expect((await manager.compact()).kind).toBe("compacted");
  expect(await noticesOf(manager, "three")).toEqual([]);
});

test("the waiting ends after a while, with a warning", async () => {
  const lockPath = join(makeTempDir(), "lock");
  const holder = new SessionLock(lockPath);
  await holder.take();
  const told: AgentEvent[] = [];
  const turn = await acquireCompactionLock({ lockPath, limitMs: 50, emit: (event) => told.push(event) });
  turn.end();
  expect(told).toMatchObject([{ code: "still_compacting_elsewhere", level: "warning" }]);
  expect(holder.isHeld()).toBe(true);
  holder.release();
});
