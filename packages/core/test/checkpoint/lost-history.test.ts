import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { findMissingHistory } from "../../src/checkpoint/load.ts";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { commitTo, fillRepository, git } from "../support/git-repository.ts";

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
  fillRepository(place.root);
});
afterEach(() => place.close());

const shell = (command: string) => {
  const { success, stderr } = Bun.spawnSync(["sh", "-c", command], {
    cwd: place.root,
    env: {
      ...{ PATH: process.env.PATH, HOME: place.top, GIT_CONFIG_NOSYSTEM: "1" },
      ...{ GIT_AUTHOR_NAME: "Me", GIT_AUTHOR_EMAIL: "me@example.org" },
      ...{ GIT_COMMITTER_NAME: "Me", GIT_COMMITTER_EMAIL: "me@example.org" },
    },
  });
  if (!success) throw new Error(stderr.toString());
};

/** What is said after each of these commands of one session. */
async function run(...commands: string[]): Promise<string[]> {
  const session = place.open();
  for (const command of commands) await place.run(session, () => shell(command));
  return place.notices;
}

const missing = (sessionId: string) =>
  findMissingHistory({ root: place.root, environment: { XDG_STATE_HOME: place.state }, sessionId });

const told = (what: string) => [
  `history_lost: A command removed ${what}: diligent undo restores what it removed.`,
];

describe("a command that removes history is reported in one line:", () => {
  test.each<[string, RegExp]>([
    ["rm -rf .git", /^HEAD, 4 refs \(main, topic, stash, tags\/v1\) and \d+ objects from \.git$/],
    ["find .git -delete", /^HEAD, 4 refs \(main, topic, stash, tags\/v1\) and \d+ objects from \.git$/],
    ["mv .git elsewhere", /^HEAD, 4 refs \(main, topic, stash, tags\/v1\) and \d+ objects from \.git$/],
    ["rm .git/HEAD", /^HEAD from \.git$/],
    ["git branch -D topic", /^1 ref \(topic\) from \.git$/],
    ["git tag -d v1; git stash clear", /^2 refs \(stash, tags\/v1\) from \.git$/],
    ["git pack-refs --all && git branch -D topic", /^1 ref \(topic\) from \.git$/],
    ["rm -rf .git/objects", /^\d+ objects from \.git$/],
    ["rm .git/objects/pack/*.pack", /^\d+ objects from \.git$/],
    ["git reflog expire --expire=now --all && git gc -q --prune=now", /^\d+ objects from \.git$/],
  ])("%s", async (command, expected) => {
    const [notice = "", ...others] = await run(command);
    const [, what = ""] = /^history_lost: A command removed (.*): diligent undo/.exec(notice) ?? [];
    expect([what, others]).toEqual([expect.stringMatching(expected), []]);
  });

  test("objects that were truncated in place", async () => {
    const session = place.open();
    const [object = ""] = [...new Bun.Glob(".git/objects/??/*").scanSync({ cwd: place.root, dot: true })];
    await place.run(session, () => {
      chmodSync(place.path(object), 0o644);
      truncateSync(place.path(object), 0);
    });
    expect(place.notices).toEqual(told("1 object from .git"));
  });

  test("several repositories, the first one in detail", async () => {
    mkdirSync(place.path("deep/inner"), { recursive: true });
    git(place.path("deep/inner"), "init", "-q");
    commitTo(place.path("deep/inner"), "a.txt", "first");
    const [notice] = await run("rm -rf deep/inner/.git; git branch -D topic");
    expect(notice).toContain("(and from ");
  });
});

describe("git's own maintenance, and history that the session itself made, are not reported:", () => {
  test.each([
    "git commit -q --allow-empty -m more && git commit -q --amend -m other",
    "git checkout -q -b side && git commit -q --allow-empty -m side && git checkout -q main",
    "git pack-refs --all",
    "git gc -q",
    "git repack -qad",
    "git stash -q && git stash pop -q",
    "git branch made && git branch -D made",
    "git commit -qm staged && git checkout -q topic && git rebase -q main && git checkout -q main",
    "git merge -q --no-edit topic; git reset -q --hard HEAD",
    "echo x > .git/FETCH_HEAD; rm .git/FETCH_HEAD",
    "git reset -q --hard HEAD~1",
  ])("%s", async (command) => {
    expect(await run("true", command)).toEqual([]);
  });

  test("a stash and a branch of an earlier prompt", async () => {
    shell("git stash clear");
    const made = "echo x >> kept.txt && git stash -q && git branch made";
    expect(await run(made, "git stash pop -q && git branch -D made")).toEqual([]);
  });
});

describe("history that is still missing is reported when a session begins", () => {
  const WHAT = "still missing: diligent undo restores what it removed.";

  test("by the session that removed it and by others, until it is undone", async () => {
    await run("rm -rf .git");
    place.close();
    expect(await missing("one")).toMatch(
      /^A command of this session removed HEAD, .* from \.git, still missing/,
    );
    expect(await missing("two")).toMatch(/^A command of an earlier session removed HEAD, .*, still missing/);
    expect(await missing("one")).toEndWith(WHAT);
    await place.open().undo();
    expect([await missing("one"), await missing("two")]).toEqual([undefined, undefined]);
    expect([...new Bun.Glob("**/lost-history*").scanSync(place.state)]).toEqual([]);
  });

  test("not if the user has restored it", async () => {
    const copy = join(place.top, "copy");
    shell(`cp -a .git ${copy}`);
    await run("rm -rf .git");
    shell(`cp -a ${copy} .git`);
    expect(await missing("one")).toBeUndefined();
    expect([...new Bun.Glob("**/lost-history*").scanSync(place.state)]).toEqual([]);
  });

  test("also if another repository without its objects has replaced it", async () => {
    await run("rm -rf .git");
    shell("git init -q && git commit -q --allow-empty -m new");
    expect(await missing("two")).toEndWith(WHAT);
  });

  test("for a branch only by the session that removed it", async () => {
    await run("git branch -D topic");
    expect(await missing("one")).toBe(`A command of this session removed 1 ref (topic) from .git, ${WHAT}`);
    expect(await missing("two")).toBeUndefined();
  });

  test("not for a damaged line, or without any line", async () => {
    expect(await missing("one")).toBeUndefined();
    await run("git branch -D topic");
    const [file = ""] = [
      ...new Bun.Glob("**/lost-history.jsonl").scanSync({ cwd: place.state, absolute: true }),
    ];
    writeFileSync(file, '{"sessionId":"one","lost":[{"gitDirectory":1}]}\n{"sess');
    expect(await missing("one")).toBeUndefined();
    appendFileSync(file, "null\n");
    expect([await missing("one"), existsSync(file)]).toEqual([undefined, false]);
    rmSync(file, { force: true });
  });
});
