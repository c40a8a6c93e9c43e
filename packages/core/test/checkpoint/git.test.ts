import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { sizeOf } from "../../src/checkpoint/store/location.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { commitTo, describeRepository, fillRepository, git } from "../support/git-repository.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** What each session gets: a project with its checkpoints. */
function openCheckpoints(root: string, top: string, sessionId = "one"): Checkpoints {
  const environment = { HOME: join(top, "home"), XDG_STATE_HOME: join(top, "state") };
  return new Checkpoints({ root, environment, sessionId });
}

const NOTHING = { conflicts: [], notKept: [], failures: [] };

type Described = ReturnType<typeof describeRepository>;

/** Everything is as it was; objects that git has stored meanwhile stay. */
function expectAll(root: string, { objects, ...before }: Described): void {
  const { objects: now, ...after } = describeRepository(root);
  expect(after).toEqual(before);
  expect(objects.filter((line) => !now.includes(line))).toEqual([]);
}

async function runKept(checkpoints: Checkpoints, change: () => Promise<unknown> | unknown): Promise<void> {
  await checkpoints.beforeChanges({ isFirst: true, notify() {} });
  await change();
  checkpoints.afterChanges();
  await checkpoints.settled();
}

/** Each makes commits, refs, stashes or reflogs of a repository go away; `$1` is where it was, `.git` as a rule. */
const LOSSES: Readonly<Record<string, string>> = {
  "rm -rf .git": "rm -rf .git",
  "find .git -delete": "find .git -delete",
  "mv .git": "mv .git x",
  "reflog expire and gc": "git reflog expire --expire=now --all && git gc -q --prune=now",
  "branch -D": "git branch -D topic",
  "stash drop": "git stash drop",
  "stash clear": "git stash clear",
  "update-ref -d": "git update-ref -d refs/heads/topic",
  "push of nothing to a branch": "git push -q . :topic",
  "reset --hard": "git reset -q --hard HEAD~1",
  "tag -d": "git tag -d v1",
  "pack-refs and a branch less": "git pack-refs --all && git branch -D topic",
  "a commit that is replaced":
    "git -c core.editor=true commit -q --amend -m other && git update-ref -d ORIG_HEAD",
  "objects cut off in place":
    "find .git -path '*objects*' -type f -exec chmod u+w {} + ; find .git -path '*objects*' -type f -exec truncate -s 0 {} +",
  "a script that was just written":
    "printf 'cd .git\\nfor each in *; do rm -rf $each; done\\n' > go.sh; sh go.sh",
  "a new repository in its place":
    "rm -rf .git/HEAD .git/refs .git/logs .git/objects; git init -q; git commit -q --allow-empty -m new",
};

describe.skipIf(problem !== undefined)("undo restores what a sandboxed command does to .git:", () => {
  for (const [name, command] of Object.entries(LOSSES)) {
    test(name, async () => {
      const place = await makeBoxedProject({ prepare: ({ root }) => fillRepository(root) });
      const { root, top } = place;
      const checkpoints = openCheckpoints(root, top);
      const before = describeRepository(root);
      await runKept(checkpoints, () => place.run(command));
      // What the sandbox does not let happen need not be taken back.
      const restoration = (await checkpoints.undo()) ?? NOTHING;
      expect(restoration).toMatchObject({ conflicts: [], notKept: [], failures: [] });
      expectAll(root, before);
      checkpoints.close();
    });
  }

  test("in a nested repository, moved and removed", async () => {
    const place = await makeBoxedProject({
      prepare: ({ root }) => {
        fillRepository(root);
        mkdirSync(join(root, "deep/inner"), { recursive: true });
        fillRepository(join(root, "deep/inner"));
      },
    });
    const inner = join(place.root, "deep/inner");
    const before = describeRepository(inner);
    for (const command of ["rm -rf deep/inner/.git", "mv deep/inner/.git x", "rm -rf deep", "mv deep y"]) {
      const checkpoints = openCheckpoints(place.root, place.top, command.replaceAll(/\W/g, "-"));
      await runKept(checkpoints, () => place.run(command));
      // What ran in the box is certainly gone then.
      await place.box.close();
      expect(await checkpoints.undo()).toMatchObject({ notKept: [], failures: [] });
      expectAll(inner, before);
      checkpoints.close();
    }
  });

  test("from a worktree, of which the repository lies outside the project", async () => {
    const place = await makeBoxedProject({
      prepare: ({ root, top }) => {
        mkdirSync(join(top, "main"));
        fillRepository(join(top, "main"));
        rmSync(root, { recursive: true });
        git(join(top, "main"), "worktree", "add", "-q", "-b", "side", root);
        commitTo(root, "side.txt", "of the worktree");
      },
    });
    const { root, top } = place;
    const common = join(top, "main/.git");
    const repositories = [root, join(top, "main")];
    const before = repositories.map(describeRepository);
    const commands = [
      `rm -rf ${common}`,
      `find ${common} -delete`,
      "git reset -q --hard HEAD~1",
      "git branch -D topic",
      "git stash clear",
      "git reflog expire --expire=now --all && git gc -q --prune=now",
    ];
    for (const [index, command] of commands.entries()) {
      const checkpoints = openCheckpoints(root, top, `session-${index}`);
      await runKept(checkpoints, () => place.run(command));
      expect(await checkpoints.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
      for (const [index, state] of before.entries()) expectAll(repositories[index] ?? "", state);
      checkpoints.close();
    }
  });

  test("of a submodule, from above and from within", async () => {
    const place = await makeBoxedProject({
      prepare: ({ root, top }) => {
        mkdirSync(join(top, "origin"));
        fillRepository(join(top, "origin"));
        fillRepository(root);
        git(
          root,
          "-c",
          "protocol.file.allow=always",
          "submodule",
          "--quiet",
          "add",
          join(top, "origin"),
          "libs/sub",
        );
        git(root, "commit", "-qm", "with a submodule");
        commitTo(join(root, "libs/sub"), "own.txt", "nowhere else");
      },
    });
    const sub = join(place.root, "libs/sub");
    const repositories = [place.root, sub];
    const before = repositories.map(describeRepository);
    for (const command of [
      "rm -rf .git/modules",
      "rm -rf .git",
      "git -C libs/sub reset -q --hard HEAD~1; git -C libs/sub reflog expire --expire=now --all; git -C libs/sub gc -q --prune=now",
    ]) {
      const checkpoints = openCheckpoints(place.root, place.top, Bun.hash(command).toString(36));
      await runKept(checkpoints, () => place.run(command));
      expect(await checkpoints.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
      for (const [index, state] of before.entries()) expectAll(repositories[index] ?? "", state);
      checkpoints.close();
    }
  });

  test("in a bare repository", async () => {
    const place = await makeBoxedProject({
      prepare: ({ root, top }) => {
        mkdirSync(join(top, "origin"));
        fillRepository(join(top, "origin"));
        git(top, "clone", "-q", "--bare", join(top, "origin"), join(root, "bare.git"));
      },
    });
    const describeBare = () => git(join(place.root, "bare.git"), "for-each-ref");
    const before = describeBare();
    for (const command of [
      "rm -rf bare.git",
      "git -C bare.git branch -D topic",
      "find bare.git/objects -delete",
    ]) {
      const checkpoints = openCheckpoints(place.root, place.top, Bun.hash(command).toString(36));
      await runKept(checkpoints, () => place.run(command));
      expect(await checkpoints.undo()).toMatchObject({ notKept: [], failures: [] });
      expect(describeBare()).toBe(before);
      git(join(place.root, "bare.git"), "fsck", "--full", "--strict");
      checkpoints.close();
    }
  });
});

describe("a recorded repository", () => {
  function prepare() {
    const top = makeTempDir();
    const root = join(top, "project");
    mkdirSync(root);
    fillRepository(root);
    return { top, root, checkpoints: openCheckpoints(root, top) };
  }

  test("has nothing to undo after its state was only read", async () => {
    const { root, checkpoints } = prepare();
    await runKept(checkpoints, () => {
      git(root, "-c", "core.fsmonitor=false", "update-index", "--really-refresh", "-q");
      appendFileSync(join(root, ".git/FETCH_HEAD"), "x\n");
      writeFileSync(join(root, ".git/index.lock"), "");
      rmSync(join(root, ".git/index.lock"));
    });
    expect(await checkpoints.undo()).toBeUndefined();
    checkpoints.close();
  });

  test("loses a commit with undo, restores it with redo, and keeps its objects throughout", async () => {
    const { root, checkpoints } = prepare();
    const before = describeRepository(root);
    await runKept(checkpoints, () => commitTo(root, "new.txt", "of the run"));
    const after = describeRepository(root);
    const made = git(root, "rev-parse", "HEAD");
    await checkpoints.undo();
    expectAll(root, before);
    expect(git(root, "cat-file", "-t", made.trim())).toBe("commit\n");
    await checkpoints.redo();
    expect(describeRepository(root)).toEqual(after);
    checkpoints.close();
  });

  test("keeps what the user has committed since", async () => {
    const { root, checkpoints } = prepare();
    await runKept(checkpoints, () => commitTo(root, "new.txt", "of the run"));
    commitTo(root, "mine.txt", "mine");
    const mine = git(root, "rev-parse", "HEAD");
    const restoration = await checkpoints.undo();
    expect(restoration?.conflicts.map(({ path }) => path)).toContain(".git/refs/heads/main");
    expect(git(root, "rev-parse", "HEAD")).toBe(mine);
    git(root, "fsck", "--full", "--strict");
    checkpoints.close();
  });

  test("keeps what the user has committed and packed since", async () => {
    const { root, checkpoints } = prepare();
    await runKept(checkpoints, () => git(root, "pack-refs", "--all"));
    commitTo(root, "mine.txt", "mine");
    git(root, "pack-refs", "--all");
    const mine = git(root, "rev-parse", "HEAD");
    const restoration = await checkpoints.undo();
    const conflict = restoration?.conflicts.find(({ path }) => path === ".git/refs/heads/main");
    expect(conflict?.reason).toBe("refs were packed since");
    expect(git(root, "rev-parse", "HEAD")).toBe(mine);
    expect(git(root, "rev-parse", "refs/heads/main")).toBe(mine);
    checkpoints.close();
  });

  for (const isPacked of [false, true]) {
    const how = isPacked ? "packed refs" : "refs in files";
    test(`that was replaced by git init is restored, and the hashes of its ${how} are reported`, async () => {
      const { root, checkpoints } = prepare();
      if (isPacked) git(root, "pack-refs", "--all");
      const hashOf = (ref: string) => git(root, "rev-parse", ref).trim();
      const [main, stash] = [hashOf("main"), hashOf("refs/stash")];
      await runKept(checkpoints, () => rmSync(join(root, ".git"), { recursive: true }));
      git(root, "init", "-q");
      commitTo(root, "mine.txt", "mine");
      writeFileSync(join(root, "mine.txt"), "to be stashed\n");
      git(root, "stash", "-q");
      const displacedRefs = [
        { gitDirectory: ".git", ref: "refs/heads/main", hash: main },
        { gitDirectory: ".git", ref: "refs/stash", hash: stash },
      ];
      expect(await checkpoints.undo({ isDryRun: true })).toMatchObject({ displacedRefs });
      expect(await checkpoints.undo()).toMatchObject({ displacedRefs });
      expect(hashOf("main")).not.toBe(main);
      git(root, "branch", "earlier", main);
      expect(git(root, "log", "--format=%s", "earlier")).toBe("third\nsecond\nfirst\n");
      expect(git(root, "cat-file", "-t", stash)).toBe("commit\n");
      git(root, "fsck", "--full", "--strict");
      checkpoints.close();
    });
  }

  test("reports no hash of an unchanged ref", async () => {
    const { root, checkpoints } = prepare();
    await runKept(checkpoints, () => rmSync(join(root, ".git"), { recursive: true }));
    expect(await checkpoints.undo()).not.toHaveProperty("displacedRefs");
    checkpoints.close();
  });

  test("that a command has created is never removed", async () => {
    const top = makeTempDir();
    const root = join(top, "project");
    mkdirSync(root);
    const checkpoints = openCheckpoints(root, top);
    await runKept(checkpoints, () => fillRepository(root));
    const { refs } = describeRepository(root);
    await checkpoints.undo();
    expect(describeRepository(root).refs).toEqual(refs);
    checkpoints.close();
  });

  test("restores objects of the same session, also after its process was killed", async () => {
    const { root, top, checkpoints } = prepare();
    await runKept(checkpoints, () => commitTo(root, "new.txt", "of the run"));
    const before = describeRepository(root);
    await runKept(checkpoints, () => rmSync(join(root, ".git"), { recursive: true }));
    checkpoints.close();
    expect(await openCheckpoints(root, top).undo()).toMatchObject({
      conflicts: [],
      notKept: [],
      failures: [],
    });
    expect(describeRepository(root)).toEqual(before);
  });

  test("with more large Git LFS files than are copied still records everything else", async () => {
    const { root, top } = prepare();
    mkdirSync(join(root, ".git/lfs/objects/aa/bb"), { recursive: true });
    writeFileSync(join(root, ".git/lfs/objects/aa/bb/aabb"), new Uint8Array(200_000));
    const environment = { HOME: join(top, "home"), XDG_STATE_HOME: join(top, "state") };
    const limits = { objectBytes: 100_000, projectBytes: 100_000 };
    const checkpoints = new Checkpoints({ root, environment, sessionId: "two", limits });
    await checkpoints.prepare();
    expect([checkpoints.reason, checkpoints.unrecorded]).toEqual([undefined, [".git/lfs/objects"]]);
    checkpoints.close();
  });

  test("is reported as not recorded if it has too many objects to copy", async () => {
    const { root, top } = prepare();
    const environment = { HOME: join(top, "home"), XDG_STATE_HOME: join(top, "state") };
    const checkpoints = new Checkpoints({ root, environment, sessionId: "two", limits: { objectCount: 10 } });
    await checkpoints.prepare();
    expect(checkpoints.canUndo).toBe(true);
    expect(checkpoints.unrecorded).toEqual([".git/objects"]);
    checkpoints.close();
  });
});

test.skipIf(problem !== undefined)(
  "a pack that is too large to copy cannot be changed or removed in the sandbox",
  async () => {
    const place = await makeBoxedProject({ prepare: ({ root }) => fillRepository(root) });
    const { root, top } = place;
    const noise = new Uint8Array(17 * 1024 * 1024);
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
    writeFileSync(join(root, "noise.bin"), noise);
    git(root, "add", "noise.bin");
    git(root, "commit", "-qm", "large");
    git(root, "repack", "-qad");
    const checkpoints = openCheckpoints(root, top);
    const before = describeRepository(root);
    await checkpoints.prepare();
    expect(checkpoints.unrecorded).toEqual([]);
    for (const command of [
      "rm -rf .git",
      "chmod -R u+w .git; find .git/objects -type f -exec truncate -s 0 {} +",
      "mv .git/objects x",
    ]) {
      await runKept(checkpoints, () => place.run(command));
      await checkpoints.undo();
      expectAll(root, before);
    }
    expect(await place.run("git commit -q --allow-empty -m works")).toMatchObject({ isError: false });
    checkpoints.close();
  },
);

describe("a pack that is too large to be copied", () => {
  /** A repository with such a pack, in which nothing else is. */
  function prepare() {
    const top = makeTempDir();
    const root = join(top, "project");
    mkdirSync(root);
    fillRepository(root);
    const noise = new Uint8Array(17 * 1024 * 1024);
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
    writeFileSync(join(root, "noise.bin"), noise);
    git(root, "add", "noise.bin");
    git(root, "commit", "-qm", "large");
    git(root, "repack", "-qad");
    return { top, root };
  }

  test("is restored after unsandboxed commands, and takes no space", async () => {
    const { top, root } = prepare();
    mkdirSync(join(root, "nested"));
    git(top, "clone", "-q", "--no-hardlinks", root, join(root, "nested"));
    const checkpoints = openCheckpoints(root, top);
    const repositories = [root, join(root, "nested")];
    await checkpoints.prepare();
    const before = repositories.map(describeRepository);
    expect(checkpoints.unrecorded).toEqual([]);
    const store = join(top, "state/diligent/checkpoints");
    expect(sizeOf(store)).toBeLessThan(20 * 1024 * 1024);
    await runKept(checkpoints, () => {
      for (const each of repositories) rmSync(join(each, ".git"), { recursive: true });
    });
    expect(await checkpoints.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
    for (const [index, state] of before.entries()) expectAll(repositories[index] ?? "", state);
    checkpoints.close();
  });

  test("is kept by the next session, and by one that repacks it", async () => {
    const { top, root } = prepare();
    const first = openCheckpoints(root, top, "first");
    await runKept(first, () => commitTo(root, "new.txt", "of the run"));
    first.close();
    const second = openCheckpoints(root, top, "second");
    await second.prepare();
    const before = describeRepository(root);
    await runKept(second, () => {
      git(root, "repack", "-qadf");
      rmSync(join(root, ".git"), { recursive: true });
    });
    expect(await second.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
    expectAll(root, before);
    second.close();
  });

  test("that was changed in place is reported as lost, and never restored damaged", async () => {
    const { top, root } = prepare();
    const checkpoints = openCheckpoints(root, top);
    const [pack = ""] = [...new Bun.Glob(".git/objects/pack/*.pack").scanSync({ cwd: root, dot: true })];
    await runKept(checkpoints, () => {
      chmodSync(join(root, pack), 0o644);
      truncateSync(join(root, pack), 10);
    });
    const restoration = await checkpoints.undo();
    // Where the file system shares blocks, the kept copy is another file.
    const isShared = restoration?.restored.some(({ path }) => path === pack) === true;
    if (isShared) git(root, "fsck", "--full");
    else expect(restoration?.notKept).toEqual([{ path: pack, isCache: false }]);
    checkpoints.close();
  });
});
