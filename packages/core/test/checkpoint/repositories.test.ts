import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listCheckpointSessions } from "../../src/checkpoint/load.ts";
import type { CheckpointOptions } from "../../src/checkpoint/types.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { commitTo, describeRepository, fillRepository, git } from "../support/git-repository.ts";

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
  fillRepository(place.root);
});
afterEach(() => place.close());

const REPOSITORIES: Partial<CheckpointOptions> = { scope: "repositories" };
const TEMPORARY: Partial<CheckpointOptions> = { ...REPOSITORIES, isTemporary: true };

const write = (path: string, content: string) => {
  mkdirSync(dirname(place.path(path)), { recursive: true });
  writeFileSync(place.path(path), content);
};
const removeGit = (directory = "") => rmSync(place.path(join(directory, ".git")), { recursive: true });
const filesOfState = () =>
  existsSync(place.state) ? [...new Bun.Glob("**/*").scanSync({ cwd: place.state, dot: true })] : [];

/** Everything is as it was; objects that git has stored meanwhile stay. */
function expectAll(root: string, { objects, ...before }: ReturnType<typeof describeRepository>): void {
  const { objects: now, ...after } = describeRepository(root);
  expect(after).toEqual(before);
  expect(objects.filter((line) => !now.includes(line))).toEqual([]);
}

describe("a session of which only repositories are recorded", () => {
  test("brings them back, nested ones and their directories too, and no other file", async () => {
    for (const inner of ["deep/down/inner", "other"]) {
      mkdirSync(place.path(inner), { recursive: true });
      fillRepository(place.path(inner));
    }
    git(place.top, "clone", "-q", "--bare", place.root, place.path("bare.git"));
    git(place.top, "clone", "-q", "--bare", place.root, place.path("mirror"));
    write("notes.txt", "before\n");
    const roots = ["", "deep/down/inner", "other"].map((path) => place.path(path));
    const before = describeRepository(place.root);
    const inner = roots.slice(1).map((root) => git(root, "for-each-ref") + git(root, "reflog", "--all"));
    const refs = ["bare.git", "mirror"].map((path) => git(place.path(path), "for-each-ref"));
    const session = place.open(REPOSITORIES);
    await place.run(session, () => {
      removeGit();
      removeGit("other");
      for (const path of ["deep", "bare.git", "mirror"]) rmSync(place.path(path), { recursive: true });
      write("notes.txt", "after\n");
      write("new.txt", "new\n");
    });
    expect(await session.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
    expectAll(place.root, { ...before, state: describeRepository(place.root).state });
    expect(roots.slice(1).map((root) => git(root, "for-each-ref") + git(root, "reflog", "--all"))).toEqual(
      inner,
    );
    for (const root of roots) git(root, "fsck", "--full");
    expect(["bare.git", "mirror"].map((path) => git(place.path(path), "for-each-ref"))).toEqual(refs);
    for (const path of ["bare.git", "mirror"]) git(place.path(path), "fsck", "--full");
    expect(readFileSync(place.path("notes.txt"), "utf8")).toBe("after\n");
    expect(existsSync(place.path("new.txt"))).toBe(true);
  });

  test("stores no file of the project", async () => {
    write("secret.env", "PASSWORD=nonce-of-the-project\n".repeat(100));
    const session = place.open(REPOSITORIES);
    await place.run(session, () => removeGit());
    const [log = ""] = filesOfState().filter((path) => path.endsWith(".jsonl") && path.includes("sessions"));
    expect(log).not.toBe("");
    expect(readFileSync(join(place.state, log), "utf8")).not.toContain("secret.env");
    await session.undo();
    session.close();
    expect(
      await listCheckpointSessions({ root: place.root, environment: { XDG_STATE_HOME: place.state } }),
    ).toEqual([expect.objectContaining({ sessionId: "one", scope: "repositories", canRedo: true })]);
  });

  test("never removes files of the project when it was killed in the midst of a command", async () => {
    write("mine.txt", "mine\n");
    const script = join(import.meta.dir, "..", "support", "undo-process.ts");
    const busy = Bun.spawn(
      [process.execPath, script, place.root, place.state, "one", "hang", "half.txt", "repositories"],
      { stdout: "pipe" },
    );
    await busy.stdout.getReader().read();
    busy.kill("SIGKILL");
    await busy.exited;
    const session = place.open();
    await session.undo({ isCutOff: true });
    expect(readdirSync(place.root).sort()).toEqual(
      [".git", "half.txt", "kept.txt", "mine.txt", "src", "staged.txt"].sort(),
    );
  });
});

describe("a temporary session", () => {
  test("leaves nothing when it ends without a loss, whatever was committed", async () => {
    const session = place.open(TEMPORARY);
    await place.run(session, () => commitTo(place.root, "new.txt", "of the run"));
    expect(filesOfState().length).toBeGreaterThan(0);
    session.close();
    expect(filesOfState()).toEqual([]);
    expect(git(place.root, "log", "-1", "--format=%s")).toBe("of the run\n");
  });

  test("leaves nothing when what it had taken away is back", async () => {
    const session = place.open(TEMPORARY);
    await place.run(session, () => removeGit());
    expect(session.hasLosses).toBe(true);
    await session.undo();
    session.close();
    expect(filesOfState().filter((path) => !path.endsWith("lost-history.jsonl"))).toEqual([]);
  });

  test("is undone from outside as long as something is missing", async () => {
    const before = describeRepository(place.root);
    const session = place.open(TEMPORARY);
    await place.run(session, () => removeGit());
    session.close();
    expect(place.notices).toEqual([expect.stringMatching(/^history_lost: A command removed HEAD, /)]);
    expect(await place.open().undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
    expectAll(place.root, before);
  });

  test("says nothing about files that it does not record", async () => {
    const session = place.open({
      ...TEMPORARY,
      environment: { HOME: place.root, XDG_STATE_HOME: place.state },
    });
    await place.run(session, () => write("a.txt", "a\n"));
    expect([place.notices, session.canRestoreHistory]).toEqual([[], false]);
  });
});

describe("a project that is too large", () => {
  // A repository has fewer files besides its objects.
  const LIMITS = { limits: { projectEntries: 100 } };

  test("has its repositories recorded, which is said", async () => {
    for (let index = 0; index < 120; index++) write(`file${index}`, "x\n");
    const before = describeRepository(place.root);
    const session = place.open(LIMITS);
    await session.prepare();
    expect([session.canUndo, session.canRestoreHistory]).toEqual([false, true]);
    await place.run(session, () => {
      removeGit();
      write("file1", "y\n");
    });
    expect(place.notices).toEqual([
      "no_undo: Changes from now on cannot be undone, except those of commits and refs: the project has more than 100 files.",
      expect.stringMatching(/^history_lost: /),
    ]);
    expect(await session.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
    expectAll(place.root, { ...before, state: describeRepository(place.root).state });
    expect(readFileSync(place.path("file1"), "utf8")).toBe("y\n");
  });

  test("is recorded in both ways when it became so on the way, and undone in order", async () => {
    rmSync(place.path("src"), { recursive: true });
    const session = place.open({ limits: { projectEntries: 40 } });
    const before = git(place.root, "rev-parse", "HEAD");
    await place.run(session, () => write("kept.txt", "first change\n"));
    await place.run(session, () => {
      for (let index = 0; index < 60; index++) write(`file${index}`, "x\n");
    });
    await place.run(session, () => removeGit());
    expect(await session.undo()).toMatchObject({ notKept: [], failures: [] });
    expect(git(place.root, "rev-parse", "HEAD")).toBe(before);
  });
});

test("nothing can be restored where objects are not recorded, or nothing is", async () => {
  const some = place.open({ sessionId: "some", limits: { objectCount: 10 } });
  await some.prepare();
  const none = place.open({ sessionId: "none", environment: { HOME: place.root } });
  await none.prepare();
  const all = place.open({ sessionId: "all" });
  await all.prepare();
  expect([some, none, all].map(({ canRestoreHistory }) => canRestoreHistory)).toEqual([false, false, true]);
});
