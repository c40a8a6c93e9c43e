import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { type BoxedProject, findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** Runs git beside the box, as the user does. */
function git(place: Pick<BoxedProject, "root" | "home">, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: place.home, GIT_CONFIG_NOSYSTEM: "1" };
  const run = Bun.spawnSync(["git", ...words], { cwd: place.root, env });
  if (!run.success) throw new Error(run.stderr.toString());
  return run.stdout.toString().trim();
}

async function makeRepository(prepare?: (place: Pick<BoxedProject, "top" | "root" | "home">) => void) {
  const place = await makeBoxedProject({
    prepare(made) {
      git(made, "init", "-q");
      writeFileSync(join(made.root, "first.txt"), "first\n");
      git(made, "add", "-A");
      git(made, "commit", "-qm", "first");
      prepare?.(made);
    },
  });
  return { ...place, git: (...words: string[]) => git(place, ...words) };
}

describe.skipIf(problem !== undefined)("git in the sandbox", () => {
  test("adds, commits, branches, stashes, resets and cleans up", async () => {
    const place = await makeRepository();
    const lines = [
      "echo second > second.txt && git add -A && git commit -qm second && git status --short",
      "git checkout -qb side && echo third > third.txt && git add . && git commit -qm third",
      "git checkout -q main && git merge -q --no-edit side && git tag v1 && git gc -q",
      "echo more >> first.txt && git stash -q && git stash pop -q && git reset -q --hard",
      "git rebase -q HEAD~1 && git worktree list && git log --oneline | wc -l",
    ];
    for (const line of lines) expect([line, await place.run(line)]).toMatchObject([line, { isError: false }]);
    expect(place.git("log", "--format=%s").split("\n")).toEqual(["third", "second", "first"]);
    expect(place.git("fsck", "--no-dangling")).toBe("");
    expect(existsSync(place.quarantine)).toBe(false);
  });

  test("reports which files of a branch it could not write, and which were moved away", async () => {
    const place = await makeRepository(({ root, home }) => {
      const here = { root, home };
      writeFileSync(join(root, "CLAUDE.md"), "one\n");
      git(here, "add", "-A");
      git(here, "commit", "-qm", "ours");
      git(here, "checkout", "-qb", "feat");
      mkdirSync(join(root, ".github/workflows"), { recursive: true });
      writeFileSync(join(root, ".github/workflows/ci.yml"), "on: push\n");
      git(here, "add", "-A");
      git(here, "commit", "-qm", "ci");
      git(here, "checkout", "-q", "main");
      git(here, "checkout", "-qb", "text");
      writeFileSync(join(root, "CLAUDE.md"), "two\n");
      git(here, "commit", "-qam", "text");
      git(here, "checkout", "-q", "main");
    });
    const tracked =
      "[git tracks .github/workflows, which git status now shows as deleted: do not commit that. Undo this, and run it with outside_sandbox and a reason; that needs approval]";
    expect((await place.run("git checkout -q feat")).output).toContain(tracked);
    await place.run("git checkout -q -f main", { outside: true });
    const unwritten =
      "[git could not write CLAUDE.md in the sandbox, so the working tree may differ from the commit";
    expect((await place.run("git checkout text || true")).output).toContain(unwritten);
    expect((await place.run("git log --oneline; git status --short")).output).not.toMatch(/^\[/m);
  });

  test("reports nothing about git if it did nothing and the shell created a protected file", async () => {
    const place = await makeRepository();
    const { output } = await place.run("git nonsense; git checkout nope; echo hi > .env");
    const notes = output.split("\n").filter((line) => line.startsWith("["));
    expect(notes).toEqual([expect.stringContaining("[.env was moved to ")]);
  });

  for (const command of ["git add -A", "git add -A 2>&1 | tail -3", "git stash -u || true"]) {
    test(`names a secret file that git cannot store, and the alternative: ${command}`, async () => {
      const place = await makeRepository(({ root }) => writeFileSync(join(root, ".env"), "KEY=1\n"));
      place.put("project/new.txt");
      const { output } = await place.run(command);
      expect(output).toContain(
        `[it ran in a sandbox: no command in it can read ${place.root}/.env, which may hold keys or passwords. ` +
          "git cannot store it either: list it in .gitignore, or leave it out of the command with the path ':(top,exclude).env'.",
      );
      const without = "git add -A -- ':(top,exclude).env' && git status --short";
      expect((await place.run(without)).output).toBe("A  new.txt\n?? .env");
      const ignored =
        "git reset -q; echo .env > .gitignore; git add -A && git stash -u && git status --short";
      expect((await place.run(ignored)).isError).toBe(false);
    });
  }

  test("runs the project's hooks, in the sandbox", async () => {
    const place = await makeRepository(({ root }) => {
      const hook = "#!/bin/sh\necho ran > hook-ran\necho x > ~/canary\nexit 0\n";
      writeFileSync(join(root, ".git", "hooks", "pre-commit"), hook, { mode: 0o755 });
    });
    await place.run("echo 2 > two && git add two && git commit -qm two");
    expect([place.text("project/hook-ran"), place.text("home/canary")]).toEqual(["ran\n", undefined]);
  });

  test("commits in a worktree whose repository is elsewhere", async () => {
    const main = await makeRepository(({ root }) =>
      git({ root, home: "/" }, "worktree", "add", "-q", "../tree"),
    );
    const place = await makeBoxedProject({
      prepare({ root, home }) {
        rmSync(root, { recursive: true });
        git({ root: main.root, home }, "worktree", "move", "../tree", root);
      },
    });
    const { isError, output } = await place.run("echo 2 > two && git add two && git commit -qm two");
    expect([isError, output]).toEqual([false, "(no output)"]);
    expect(main.git("log", "--all", "--format=%s").split("\n").sort()).toEqual(["first", "two"]);
    await place.run(`echo x > ${main.root}/canary; git config core.fsmonitor x; echo x > .git`);
    expect(main.text("project/canary")).toBeUndefined();
    expect(main.text("project/.git/config")).not.toContain("fsmonitor");
  });

  test("cannot write to a repository that a planted .git file names", async () => {
    const other = await makeRepository();
    const place = await makeBoxedProject({
      prepare: ({ root }) => writeFileSync(join(root, ".git"), `gitdir: ${other.root}/.git\n`),
    });
    expect((await place.run("git add -A && git commit -qm x --allow-empty")).isError).toBe(true);
    expect(other.git("log", "--format=%s")).toBe("first");
  });

  test("cannot write to a repository that a link called .git leads to", async () => {
    const other = await makeRepository();
    const place = await makeBoxedProject({
      prepare: ({ root }) => symlinkSync(join(other.root, ".git"), join(root, ".git")),
    });
    expect((await place.run("git commit -qm x --allow-empty")).isError).toBe(true);
    expect(other.git("log", "--format=%s")).toBe("first");
  });
});

/** In every way of which a repository's settings and hooks can come from beside `.git`. */
function addHooksElsewhere({ root, home }: Pick<BoxedProject, "root" | "home">): void {
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  for (const path of ["sub/tools/hooks", "worktree-hooks", "inner/included-hooks", "inner/linked-hooks"])
    put(`${path}/README`, "");
  const module = '[core]\n\tworktree = ../../../sub\n[core] hooksPath = "tools/hooks" # ours\n';
  writeFileSync(join(root, ".git/modules/sub/config"), module, { flag: "a" });
  put(".git/config.worktree", "[core]\n\thooksPath = worktree-hooks ; ours\n");
  put("scripts/linked.sh", "");
  symlinkSync("../../scripts/linked.sh", join(root, ".git/hooks/pre-push"));
  put("inner/linked-config", "[include]\n\tpath = ../inner.inc\n");
  put("inner/inner.inc", "[core]\n\thooksPath = included-hooks\n");
  for (const [name, target] of [
    ["hooks", "../linked-hooks"],
    ["config", "../linked-config"],
  ] as const) {
    rmSync(join(root, "inner/.git", name), { recursive: true });
    symlinkSync(target, join(root, "inner/.git", name));
  }
  git({ root, home }, "init", "-q", "--bare", "bare");
}

describe.skipIf(problem !== undefined)("a file that decides which programs git runs", () => {
  const ATTEMPTS: Readonly<Record<string, string>> = {
    "a setting": "git config core.fsmonitor CANARY",
    "an alias": "git config alias.st '!CANARY'",
    "the settings' file": "echo CANARY >> .git/config",
    "the settings by a rename": "echo CANARY > c && mv c .git/config",
    "the settings by a link": "ln -sf $PWD/c .git/config",
    "the settings by a hard link": "ln .git/config c && echo CANARY >> c",
    "a hook": "echo CANARY > .git/hooks/pre-commit",
    "the hooks' directory": "rm -rf .git/hooks && mkdir .git/hooks && echo CANARY > .git/hooks/pre-commit",
    "the repository by a rename": "mv .git g && mkdir .git && echo CANARY > .git/config",
    "the repository by exchange": "cp -r .git g && echo CANARY >> g/config && rm -rf .git && mv g .git",
    "settings of the worktree": "echo CANARY > .git/config.worktree",
    "a common directory elsewhere":
      "mkdir e && cp -r .git/. e && echo CANARY >> e/config && echo ../e > .git/commondir",
    "an attributes file": "echo '* filter=CANARY' > .gitattributes",
    "settings of a submodule": "echo CANARY >> .git/modules/sub/config",
    "a submodule by a rename":
      "mv .git/modules .git/m && mkdir -p .git/modules/sub && echo CANARY > .git/modules/sub/config",
    "a repository inside": "echo CANARY >> inner/.git/config",
    "a repository inside by a rename": "mv inner i && mkdir -p inner/.git && echo CANARY > inner/.git/config",
    "hooks that are kept elsewhere": "echo CANARY > scripts/hooks/pre-commit",
    "settings that are included": "echo CANARY > more.config",
    "hooks that are kept elsewhere, as a submodule sees it": "echo CANARY > sub/tools/hooks/pre-commit",
    "hooks that settings of the worktree name": "echo CANARY > worktree-hooks/pre-commit",
    "hooks that included settings name": "echo CANARY > inner/included-hooks/pre-commit",
    "a hook that is a link": "echo CANARY > scripts/linked.sh",
    "a hook that is a link, by a rename": "rm scripts/linked.sh; echo CANARY > scripts/linked.sh",
    "hooks whose directory is a link": "echo CANARY > inner/linked-hooks/pre-commit",
    "settings that are a link": "echo CANARY >> inner/linked-config",
    "a repository without a tree": "echo CANARY >> bare/config; echo CANARY > bare/hooks/pre-commit",
    "a new repository without a tree":
      "mkdir -p new/objects new/refs && echo ref: refs/heads/CANARY > new/HEAD && echo '[core]' > new/config",
    "a new repository": "git init -q fresh && git -C fresh config alias.x '!CANARY'",
    "through /proc": "echo CANARY >> /proc/self/cwd/.git/config",
    "through the parent": "echo CANARY >> ../project/.git/config",
  };
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    test(`stays unchanged: ${name}`, async () => {
      const place = await makeRepository(({ root, home }) => {
        const inner = { root: join(root, "inner"), home };
        for (const directory of ["inner", "scripts/hooks"]) {
          mkdirSync(join(root, directory), { recursive: true });
        }
        git(inner, "init", "-q");
        git({ root, home }, "config", "core.hooksPath", "scripts/hooks");
        git({ root, home }, "config", "include.path", "../more.config");
        mkdirSync(join(root, ".git", "modules"), { recursive: true });
        git({ root: join(root, ".git", "modules"), home }, "init", "-q", "--bare", "sub");
        addHooksElsewhere({ root, home });
      });
      await place.run(attempt);
      const left = Bun.spawnSync(
        [
          "grep",
          "-rlI",
          "CANARY",
          "--exclude-dir=e",
          "--exclude-dir=g",
          "--exclude-dir=m",
          "--exclude-dir=i",
          ".",
        ],
        { cwd: place.root },
      );
      const found = left.stdout.toString().trim().split("\n");
      // What lies about under a name that means nothing decides nothing.
      expect(found.filter((path) => path !== "" && path !== "./c")).toEqual([]);
    });
  }

  test("what was created is stored outside the project, and both are told about it", async () => {
    const place = await makeRepository();
    const { output } = await place.run("echo CANARY > .git/config.worktree");
    const [directory = ""] = readdirSync(place.quarantine);
    const target = join(place.quarantine, directory, ".git", "config.worktree");
    expect(place.text(target.slice(place.top.length + 1))).toBe("CANARY\n");
    expect(output).toContain(`.git/config.worktree was moved to ${target}`);
    expect(place.told).toEqual([expect.stringContaining(target)]);
  });
});
