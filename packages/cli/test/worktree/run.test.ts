import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../core/test/support/git-repository.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  git(place.project, "init", "-q");
  git(place.project, "config", "user.name", "Me");
  git(place.project, "config", "user.email", "me@example.org");
  place.write("a.txt", "one\n");
  place.write("sub/b.txt", "two\n");
  git(place.project, "add", "-A");
  git(place.project, "commit", "-qm", "first");
});

afterEach(() => place.remove());

const WRITE = { toolCalls: [{ name: "write", input: { file_path: "made.txt", content: "made\n" } }] };
const DONE = { text: "Done." };

function script(turns: readonly object[], name = "script"): string {
  return `scripted/${place.write(`../${name}.json`, { version: 1, turns })}`;
}

const play = (turns: readonly object[], args: readonly string[], cwd = place.project) =>
  runDiligent(place, ["-m", script(turns), ...args, "-p", "go"], { cwd });

const worktrees = () => join(place.project, ".diligent", "worktrees");
const names = () => readdirSync(worktrees()).filter((name) => name !== ".gitignore");
const branches = () => git(place.project, "branch", "--format=%(refname:short)").split("\n").filter(Boolean);

async function untilExists(path: string): Promise<void> {
  while (!existsSync(path)) await Bun.sleep(5);
}

describe("--worktree NAME", () => {
  test("keeps what was changed, says how to merge it, and git in the project sees nothing of it", async () => {
    const { stdout, stderr, exitCode } = await play([WRITE, DONE], ["--worktree", "fix"]);
    const path = join(worktrees(), "fix");
    expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
    expect(stderr).toContain(`Working in the worktree fix on branch fix: ${path}\n`);
    expect(stderr).toContain("Worktree fix kept, with 1 uncommitted file on branch fix.\n");
    expect(readFileSync(join(path, "made.txt"), "utf8")).toBe("made\n");
    expect(existsSync(join(place.project, "made.txt"))).toBe(false);
    expect(git(place.project, "status", "--porcelain")).toBe("");
    expect(existsSync(join(path, ".diligent"))).toBe(false);
    const [, merge = ""] = /merge: +(.*)/.exec(stderr) ?? [];
    const commit = merge.replace(
      " commit, then ",
      " -c user.name=Me -c user.email=me@example.org commit -qm made && ",
    );
    const merged = Bun.spawnSync(["sh", "-c", commit], { env: { PATH: process.env.PATH, HOME: place.home } });
    expect([merged.exitCode, readFileSync(join(place.project, "made.txt"), "utf8")]).toEqual([0, "made\n"]);
  });

  test("removes the worktree and its branch when nothing was changed, also after a failed run", async () => {
    const read = { toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] };
    const quiet = await play([read, DONE], ["--worktree", "look"]);
    expect(quiet.stderr).toContain("Worktree look removed: nothing was changed in it.\n");
    const failed = await play([{ text: "No.", stopReason: "refusal" }], ["--worktree", "look"]);
    expect(failed.exitCode).toBe(1);
    const unusable = await runDiligent(place, ["-m", "no-such-model", "--worktree", "look", "-p", "go"]);
    expect(unusable.exitCode).toBe(2);
    expect([names(), branches()]).toEqual([[], ["main"]]);
    expect(git(place.project, "worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  test("stores its sessions in the project, from where they are listed and continued", async () => {
    await play([WRITE, DONE], ["--worktree", "fix"]);
    const listed = await runDiligent(place, ["--list", "--json"]);
    const inside = await runDiligent(place, ["--list", "--json"], { cwd: join(worktrees(), "fix") });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    expect(inside.stdout).toBe(listed.stdout);
    const { stderr, exitCode } = await play([WRITE, DONE, DONE], ["--continue", "--worktree", "fix"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("Continuing in the worktree fix on branch fix");
    expect(stderr).toContain("Resuming session");
    expect(JSON.parse((await runDiligent(place, ["--list", "--json"])).stdout)).toHaveLength(1);
  });

  test("finds its files although git ignores the worktree, in the same subdirectory as in the project", async () => {
    place.write(".gitignore", "ignored.txt\n");
    git(place.project, "add", "-A");
    git(place.project, "commit", "-qm", "ignore");
    const search = {
      toolCalls: [
        { name: "glob", input: { pattern: "*.txt" } },
        { name: "grep", input: { pattern: "t" } },
      ],
    };
    const ignored = { toolCalls: [{ name: "write", input: { file_path: "ignored.txt", content: "t" } }] };
    const { stdout } = await play(
      [ignored, search, DONE],
      ["--worktree", "fix", "--output-format", "stream-json"],
      join(place.project, "sub"),
    );
    const outputs = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === "tool_end")
      .map(({ output }) => output);
    expect(outputs.slice(1)).toEqual(["b.txt", "b.txt"]);
  });

  test("begins with the last commit and says that uncommitted changes are not in it", async () => {
    place.write("a.txt", "changed\n");
    const { stderr } = await play([WRITE, DONE], ["--worktree", "fix"]);
    expect(stderr).toContain("Uncommitted changes of the project are not in it");
    expect(readFileSync(join(worktrees(), "fix", "a.txt"), "utf8")).toBe("one\n");
  });

  test("without a name makes a new one each time", async () => {
    const runs = await Promise.all([play([WRITE, DONE], ["--worktree"]), play([WRITE, DONE], ["-w"])]);
    expect(runs.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? false : stderr])).toEqual([
      [0, false],
      [0, false],
    ]);
    expect(names()).toHaveLength(2);
    expect(branches().sort()).toEqual([...names(), "main"].sort());
  });

  test("runs no hook and no filter of the repository", async () => {
    const canary = join(place.home, "canary");
    mkdirSync(join(place.project, ".git", "hooks"), { recursive: true });
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change"])
      writeFileSync(join(place.project, ".git", "hooks", hook), `#!/bin/sh\ntouch ${canary}\n`, {
        mode: 0o755,
      });
    place.write(".gitattributes", "*.txt filter=evil\n");
    git(place.project, "-c", "core.hooksPath=/dev/null", "add", "-A");
    git(place.project, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "evil");
    git(place.project, "config", "filter.evil.smudge", `touch ${canary}; cat`);
    git(place.project, "config", "filter.evil.clean", `touch ${canary}; cat`);
    git(place.project, "config", "core.fsmonitor", `touch ${canary}; true`);
    const { exitCode } = await play([WRITE, DONE], ["--worktree", "fix"]);
    expect([exitCode, existsSync(canary)]).toEqual([0, false]);
  });

  test.each([
    ["a/b", "cannot name a worktree"],
    ["..", "cannot name a worktree"],
    ["a..b", "cannot name a worktree"],
    ["x.lock", "cannot name a worktree"],
    ["$(touch made)", "the prompt"],
    ["main", "there is a branch main already"],
  ])("refuses the name %s with 2 and leaves nothing behind", async (name, reason) => {
    const args = name.includes(" ") ? [`--worktree=${name}`] : ["--worktree", name];
    const { stderr, exitCode } = await play([DONE], args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(name.includes(" ") ? "cannot name a worktree" : reason);
    expect([existsSync(worktrees()) ? names() : [], branches()]).toEqual([[], ["main"]]);
  });

  test.each([
    ["no repository", () => place.temporary, "is not a git repository"],
    [
      "no commit",
      () => {
        const empty = join(place.top, "empty");
        mkdirSync(empty);
        git(empty, "init", "-q");
        return empty;
      },
      "has no commit yet",
    ],
    [
      "a bare repository",
      () => {
        git(place.top, "clone", "-q", "--bare", place.project, "bare.git");
        return join(place.top, "bare.git");
      },
      "is not a git repository with a working tree",
    ],
  ])("refuses %s with 2", async (_, find, reason) => {
    const { stderr, exitCode } = await play([DONE], ["--worktree", "fix"], find());
    expect(exitCode).toBe(2);
    expect(stderr.replace("not a git repository (or any", "is not a git repository (or any")).toContain(
      reason,
    );
  });

  test("is used by one session at a time; after a session was killed, the next start says so and continues", async () => {
    const slow = script([{ ...WRITE }, { text: "Late.", delayMs: 60_000 }], "slow");
    const first = startDiligent(place, ["-m", slow, "--worktree", "fix", "-p", "go"]);
    await untilExists(join(worktrees(), "fix", "made.txt"));
    const second = await play([DONE], ["--worktree", "fix"]);
    expect([second.exitCode, second.stderr]).toEqual([
      2,
      "diligent: --worktree: the worktree fix is in use by another session\n",
    ]);
    first.process.kill("SIGKILL");
    await first.ended;
    const next = await play([DONE], []);
    expect(next.stderr).toContain("The session in the worktree fix was killed.");
    const continued = await play([DONE], ["--worktree", "fix"]);
    expect(continued.stderr).toContain("Continuing in the worktree fix");
    expect(continued.stderr).toContain("Worktree fix kept, with 1 uncommitted file");
    expect((await play([DONE], [])).stderr).not.toContain("was killed");
  });

  test("has what was trusted in the project, as long as it is the same", async () => {
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "make *", action: "allow" }],
    });
    git(place.project, "add", "-A");
    git(place.project, "commit", "-qm", "configure");
    await runDiligent(place, ["trust", "--yes"]);
    const trusted = await play([WRITE, DONE], ["--worktree", "fix"]);
    expect(trusted.stderr).not.toContain("diligent trust");
    writeFileSync(
      join(worktrees(), "fix", "diligent.jsonc"),
      JSON.stringify({ permissions: [{ permission: "execute", pattern: "*", action: "allow" }] }),
    );
    const changed = await play([DONE], ["--worktree", "fix"]);
    expect(changed.stderr).toContain("diligent trust");
  });

  test("works on the screen, too", async () => {
    const args = ["--worktree", "fix", "-m", script([WRITE, DONE])];
    await using session = new ScreenSession({ place, args });
    await session.shows("0% context");
    await session.say("go");
    await session.shows("Done.");
    expect(existsSync(join(worktrees(), "fix", "made.txt"))).toBe(true);
    expect(await session.quit()).toContain("Worktree fix kept");
  });
});
