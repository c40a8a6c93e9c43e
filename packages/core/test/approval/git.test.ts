import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const top = realpathSync(makeTempDir());
const home = join(top, "home");
const project = join(home, "project");
const CANARY = join(top, "canary");
const environment = { HOME: home, PATH: process.env.PATH ?? "" };

afterAll(() => rmSync(top, { recursive: true, force: true }));

function git(directory: string, ...words: string[]): void {
  const identity = [
    "-c",
    "user.name=A",
    "-c",
    "user.email=a@example.org",
    "-c",
    "protocol.file.allow=always",
  ];
  execFileSync("git", ["-C", directory, ...identity, ...words], { env: environment, stdio: "ignore" });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A program that leaves a trace when it is run. */
function plantProgram(path: string): string {
  write(path, `#!/bin/sh\ntouch ${CANARY}\n`);
  chmodSync(path, 0o755);
  return path;
}

beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  rmSync(CANARY, { force: true });
  mkdirSync(project, { recursive: true });
  git(project, "init", "-q", "-b", "main");
  write(join(project, "src/a.ts"), "one\n");
  write(join(project, ".env.example"), "KEY=\n");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
  git(project, "remote", "add", "origin", "https://example.org/a.git");
  write(join(project, "src/a.ts"), "two\n");
});

async function decide(
  command: string,
  more: { cwd?: string; mode?: "ask" | "accept-edits"; environment?: Record<string, string> } = {},
) {
  const request = {
    permission: "execute",
    toolName: "bash",
    description: command,
    details: { command },
  } as const;
  const { action, reason } = await decideApproval(request, {
    root: project,
    cwd: project,
    home,
    environment,
    ...more,
  });
  return action === "ask" ? reason : action;
}

/** Runs a command that was allowed, as the tool would. */
function run(command: string): void {
  Bun.spawnSync(["bash", "-c", command], {
    cwd: project,
    env: environment,
    stdin: "ignore",
    timeout: 50_000,
  });
}

const READING = [
  "git status",
  "git status --short --branch",
  "git status --porcelain=v1 -uno",
  "git --no-pager diff",
  "git diff --stat",
  "git diff --cached --name-only",
  "git diff HEAD~1 -- src/a.ts",
  "git diff main...feature/x",
  "git diff src/a.ts | head -20",
  "git log --oneline -5",
  "git log -n 3 --format='%h %an %s' --since=2.weeks",
  "git log --graph --all --decorate",
  "git log -p -2 src",
  "git show",
  "git show HEAD:src/a.ts",
  "git show --stat HEAD",
  "git blame -L 1,5 src/a.ts",
  "git branch",
  "git branch -a",
  "git branch --show-current",
  "git branch --list 'feature/*'",
  "git tag",
  "git tag -l 'v1*'",
  "git remote -v",
  "git rev-parse --abbrev-ref HEAD",
  "git rev-parse --show-toplevel",
  "git rev-list --count HEAD",
  "git ls-files | wc -l",
  "git ls-files --others --exclude-standard",
  "git ls-tree -r --name-only HEAD",
  "git merge-base main HEAD",
  "git stash list",
  "git stash show -p",
  "git worktree list",
  "git reflog -5",
  "git describe --tags --always",
  "git shortlog -sn HEAD",
  "git grep -n one",
  "git cat-file -t HEAD",
  "git config user.name",
  "git config --get core.autocrlf",
  "git -C src status",
  "cd src && git log --oneline",
  "git check-ignore -v src/a.ts",
];

test.each(READING)("%s runs without a question", async (command) => {
  expect(await decide(command)).toBe("allow");
});

const CHANGING = [
  "git commit -m x",
  "git add -A",
  "git branch new",
  "git branch -D main",
  "git branch -v new",
  "git branch --list -d main",
  "git tag v1",
  "git tag -d v1",
  "git stash",
  "git stash drop",
  "git reflog expire --expire=now --all",
  "git reflog delete HEAD@{0}",
  "git config user.name Me",
  "git config --list",
  "git config --get remote.origin.url",
  "git remote add other https://example.org/b.git",
  "git remote show origin",
  "git fetch",
  "git pull",
  "git push",
  "git checkout main",
  "git symbolic-ref HEAD refs/heads/x",
  "git worktree add ../x",
  "git submodule update",
  "git diff --output=out.txt",
  "git diff --outp=out.txt",
  "git diff --ext-diff",
  "git diff --no-index a b",
  "git diff /etc/passwd /etc/hosts",
  "git diff ../../etc/passwd src/a.ts",
  "git -C / status",
  "git -C .. status",
  "git --git-dir=/tmp/x status",
  "git --work-tree=/ status",
  "git --exec-path=. status",
  "git -c core.pager=./evil status",
  "git -c core.fsmonitor=./evil status",
  "git --config-env=core.fsmonitor=X status",
  "git -p log",
  "git grep -O./evil one",
  "git grep --open-files-in-pager=./evil one",
  "git log --show-signature",
  "git log --format=%G?",
  "git log --pretty='%GS'",
  "git log --format='%<(1000000)%h'",
  "git show HEAD:.env",
  "git show HEAD:keys/id_rsa",
  "git cat-file -p HEAD:config/server.pem",
  "git cat-file --textconv HEAD:src/a.ts",
  "git blame --contents /etc/passwd src/a.ts",
  "git log --output=x",
  "git status; touch x",
  "GIT_EXTERNAL_DIFF=./evil git diff",
  "git status $(touch x)",
  "git stat*",
  "git",
  "git bisect run ./evil",
  "git evil",
];

test.each(CHANGING)("%s asks", async (command) => {
  expect(await decide(command)).not.toBe("allow");
});

describe("git asks where the repository could make it run a program:", () => {
  const evil = () => plantProgram(join(project, "evil"));
  const SETTINGS = [
    ["core.fsmonitor", "git status"],
    ["core.hooksPath", "git status"],
    ["core.sshCommand", "git status"],
    ["core.pager", "git log"],
    ["core.alternateRefsCommand", "git log"],
    ["core.attributesFile", "git diff"],
    ["diff.external", "git diff"],
    ["diff.x.command", "git diff"],
    ["diff.x.textconv", "git diff"],
    ["filter.x.clean", "git status"],
    ["filter.x.process", "git diff"],
    ["gpg.program", "git log"],
    ["gpg.ssh.program", "git log"],
    ["log.showSignature", "git log"],
    ["pretty.x", "git log"],
    ["format.pretty", "git log"],
    ["include.path", "git status"],
    ["includeIf.gitdir:/.path", "git status"],
    ["extensions.partialClone", "git show"],
    ["remote.origin.uploadpack", "git show"],
    ["remote.origin.promisor", "git show"],
    ["core.worktree", "git status"],
    ["status.submoduleSummary", "git status"],
    ["diff.submodule", "git diff"],
    ["credential.helper", "git status"],
    ["trace2.eventTarget", "git status"],
  ] as const;

  test.each(SETTINGS)("the setting %s", async (key, command) => {
    git(project, "config", key, evil());
    expect(await decide(command)).toContain("may do more than read, because of the setting");
  });

  test("the same settings in the file of a worktree", async () => {
    write(join(project, ".git/config.worktree"), `[core]\n\tfsmonitor = ${evil()}\n`);
    expect(await decide("git status")).toContain("core.fsmonitor");
  });

  test.each([
    "[core]\n\tfsmonitor\n",
    "[core]\n\tbare = false \\\n",
    "[core] fsmonitor = ./evil\n",
    "[core.x]\n\tfsmonitor = ./evil\n",
    "[CORE]\n\tFSMonitor = ./evil\n",
    '[core ""]\n\tfsmonitor = ./evil\n',
    "\ufeff[core]\n\tfsmonitor = ./evil\n",
    "garbage\n",
  ])("settings that are written as %j", async (text) => {
    write(join(project, ".git/config"), text);
    expect(await decide("git status")).not.toBe("allow");
  });

  test("the hook that runs when the index was refreshed", async () => {
    plantProgram(join(project, ".git/hooks/post-index-change"));
    expect(await decide("git status")).toContain("post-index-change");
  });

  test("a directory that is taken for a repository, with settings of its own", async () => {
    const bare = join(project, "fixture");
    git(project, "init", "-q", "--bare", bare);
    git(bare, "config", "core.fsmonitor", evil());
    expect(await decide("git log", { cwd: bare })).toContain("looks like a repository");
    expect(await decide("cd fixture && git log")).not.toBe("allow");
    expect(await decide("git -C fixture log")).not.toBe("allow");
  });

  test("a submodule with such a setting", async () => {
    const other = join(home, "other");
    mkdirSync(other);
    git(other, "init", "-q");
    git(other, "commit", "-q", "--allow-empty", "-m", "x");
    git(project, "submodule", "add", "-q", other, "sub");
    expect(await decide("git status")).toBe("allow");
    git(join(project, "sub"), "config", "core.fsmonitor", evil());
    expect(await decide("git status")).toContain("in the submodule");
  });

  test("a .git that is a link, or a file that names any other place", async () => {
    const other = join(home, "other");
    mkdirSync(other);
    git(other, "init", "-q");
    rmSync(join(project, ".git"), { recursive: true });
    symlinkSync(join(other, ".git"), join(project, ".git"));
    expect(await decide("git status")).toContain("leads to an unknown place");
    rmSync(join(project, ".git"));
    write(join(project, ".git"), `gitdir: ${join(other, ".git")}\n`);
    expect(await decide("git status")).toContain("leads to an unknown place");
  });

  test("no repository in the project, or one that shares another's settings", async () => {
    write(join(project, ".git/commondir"), "../../other/.git\n");
    expect(await decide("git status")).not.toBe("allow");
    rmSync(join(project, ".git"), { recursive: true });
    expect(await decide("git status")).toContain("a repository that is not in the project");
  });

  test("your own hooks or files of settings that lie in the project", async () => {
    write(join(home, ".gitconfig"), "[core]\n\thooksPath = .githooks\n");
    expect(await decide("git status")).toContain("hookspath");
    write(join(home, ".gitconfig"), `[include]\n\tpath = ${project}/settings\n`);
    expect(await decide("git status")).toContain("your setting path");
    write(join(home, ".gitconfig"), "[core]\n\tfsmonitor = .git/monitor\n");
    expect(await decide("git status")).toContain("fsmonitor");
    write(
      join(home, ".gitconfig"),
      "[user]\n\tname = A\n[core]\n\tpager = less\n\teditor = vi\n\tfsmonitor = true\n",
    );
    expect(await decide("git status")).toBe("allow");
  });

  test("variables that change where it looks", async () => {
    for (const name of [
      "GIT_DIR",
      "GIT_CONFIG_COUNT",
      "GIT_CONFIG_GLOBAL",
      "GIT_EXTERNAL_DIFF",
      "GIT_EXEC_PATH",
    ])
      expect(await decide("git diff", { environment: { ...environment, [name]: "1" } })).toContain(name);
    expect(await decide("git diff", { environment: { ...environment, GIT_AUTHOR_NAME: "A" } })).toBe("allow");
  });

  test("files that the same line edits before", async () => {
    const mode = "accept-edits";
    expect(await decide("mkdir x && cd x && git status", { mode })).not.toBe("allow");
    expect(await decide("cp src/a.ts .gitattributes && git diff", { mode })).not.toBe("allow");
    expect(await decide("git status && mkdir x", { mode })).toBe("allow");
  });
});

test("contents are not shown where a file with secrets is tracked; an example is none", async () => {
  expect(await decide("git diff")).toBe("allow");
  write(join(project, ".env"), "KEY=1\n");
  git(project, "add", "-f", ".env");
  for (const command of ["git diff", "git show", "git log -p", "git grep KEY", "git stash show -p"])
    expect(await decide(command)).toContain(".env");
  for (const command of ["git status", "git log --oneline", "git diff --stat .env"].slice(0, 2))
    expect(await decide(command)).toBe("allow");
});

test("an address with a password is not shown", async () => {
  git(project, "remote", "set-url", "origin", "https://me:secret@example.org/a.git");
  expect(await decide("git remote -v")).not.toBe("allow");
});

test("nothing of the repository runs in the commands that are allowed, whatever its attributes say", async () => {
  plantProgram(join(project, "evil"));
  write(join(project, ".gitattributes"), "* filter=x diff=x merge=x\n");
  for (const name of [
    "pre-commit",
    "post-checkout",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc",
  ])
    plantProgram(join(project, ".git/hooks", name));
  for (const command of READING) {
    expect([command, await decide(command)]).toEqual([command, "allow"]);
    run(command);
  }
  expect(existsSync(CANARY)).toBe(false);
  // The trace shows that such programs would run.
  git(project, "config", "core.fsmonitor", join(project, "evil"));
  run("git status");
  expect(existsSync(CANARY)).toBe(true);
});
