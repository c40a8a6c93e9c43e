import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { collectChanges, ReviewError, type ReviewTarget } from "../../../src/extensions/review/index.ts";
import { git } from "../../support/git-repository.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

let root: string;
let home: string;
const environment = () => ({ PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR });

function put(path: string, text: string): string {
  const absolute = join(root, path);
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, text);
  return absolute;
}

function commit(message: string): void {
  git(root, "add", "-A");
  git(root, "commit", "-qm", message);
}

beforeEach(() => {
  const top = makeTempDir();
  root = join(top, "project");
  home = join(top, "home");
  mkdirSync(root);
  mkdirSync(home);
  git(root, "init", "-q");
  put("a.txt", "one\ntwo\n");
  commit("first");
});

const collect = (target: ReviewTarget, paths?: readonly string[]) =>
  collectChanges(target, { root, environment: environment() }, paths);

describe("collectChanges()", () => {
  test("has what is not committed: staged, not staged, removed, and files that git does not track", async () => {
    put("b.txt", "b\n");
    commit("second");
    put("a.txt", "one\nTWO\n");
    git(root, "add", "a.txt");
    rmSync(join(root, "b.txt"));
    put("src/new.txt", "n\n");
    put(".gitignore", "ignored/\n");
    put("ignored/x.txt", "x\n");

    const { files, title, countLines } = await collect({ kind: "uncommitted" });
    expect(title).toBe("the uncommitted changes");
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      "changed a.txt",
      "removed b.txt",
      "added .gitignore",
      "added src/new.txt",
    ]);
    expect(await Promise.all(["a.txt", "b.txt", "../home"].map(countLines))).toEqual([
      2,
      undefined,
      undefined,
    ]);
  });

  test("has only what is staged, with the lines of the staged version", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    git(root, "add", "a.txt");
    put("a.txt", "one\n");
    put("new.txt", "n\n");
    const { files, countLines } = await collect({ kind: "staged" });
    expect(files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(await countLines("a.txt")).toBe(3);
  });

  test("has the changes of a range of commits, and of one commit against the working tree", async () => {
    git(root, "checkout", "-qb", "topic");
    put("topic.txt", "1\n2\n");
    commit("topic");
    git(root, "checkout", "-q", "main");
    put("a.txt", "other\n");
    commit("main");
    const paths = async (range: string) =>
      (await collect({ kind: "range", range })).files.map(({ path }) => path);
    expect(await paths("main...topic")).toEqual(["topic.txt"]);
    expect(await paths("main..topic")).toEqual(["a.txt", "topic.txt"]);
    expect(await paths("HEAD~1")).toEqual(["a.txt"]);
    expect(await (await collect({ kind: "range", range: "main...topic" })).countLines("topic.txt")).toBe(2);
  });

  test("has everything before the first commit", async () => {
    const empty = join(root, "nested");
    mkdirSync(empty);
    git(empty, "init", "-q");
    writeFileSync(join(empty, "staged.txt"), "s\n");
    git(empty, "add", "staged.txt");
    writeFileSync(join(empty, "new.txt"), "n\n");
    const { files } = await collectChanges(
      { kind: "uncommitted" },
      { root: empty, environment: environment() },
    );
    expect(files.map(({ path }) => path)).toEqual(["staged.txt", "new.txt"]);
  });

  test("is limited to the given paths, which are no patterns", async () => {
    put("src/a*.txt", "1\n");
    put("src/ab.txt", "1\n");
    put("a.txt", "changed\n");
    const { files } = await collect({ kind: "uncommitted" }, ["src/a*.txt"]);
    expect(files.map(({ path }) => path)).toEqual(["src/a*.txt"]);
  });

  test("leaves out files that may hold secrets, also under their earlier name, and those that rules withhold", async () => {
    put("keys/.env", "KEY=original-secret\n");
    put("private/plan.txt", "withheld text\n");
    commit("second");
    git(root, "mv", "keys/.env", "keys/settings.txt");
    put("private/plan.txt", "withheld text, changed\n");
    put("id_rsa", "new secret\n");
    put("seen.txt", "seen\n");
    const { files, notes } = await collectChanges(
      { kind: "uncommitted" },
      { root, environment: environment(), isWithheld: (path) => path.startsWith(join(root, "private")) },
    );
    expect(files.map(({ path }) => path)).toEqual(["seen.txt"]);
    expect(JSON.stringify(files)).not.toMatch(/original-secret|withheld text|new secret/);
    expect(notes.map((note) => note.split(" ")[0]).sort()).toEqual([
      "id_rsa",
      "keys/settings.txt",
      "private/plan.txt",
    ]);
  });

  test("reads no link and no binary or large new file", async () => {
    symlinkSync("/etc/passwd", join(root, "link"));
    put("binary.bin", "a\0b");
    put("large.txt", "x".repeat(300 * 1024));
    const { files, notes } = await collect({ kind: "uncommitted" });
    expect(files.map(({ path, isBinary = false }) => [path, isBinary])).toEqual([["binary.bin", true]]);
    expect(notes).toHaveLength(2);
  });

  test("reads the names and prefixes of git as they are, whatever the settings say", async () => {
    git(root, "config", "diff.noprefix", "true");
    git(root, "config", "diff.mnemonicPrefix", "true");
    git(root, "config", "color.ui", "always");
    git(root, "config", "diff.external", "true");
    put("ä b.txt", "x\n");
    git(root, "add", "-A");
    put("a.txt", "one\n");
    const { files } = await collect({ kind: "uncommitted" });
    expect(files.map(({ path }) => path)).toEqual(["a.txt", "ä b.txt"]);
  });

  test.each([
    [{ kind: "range", range: "no-such-branch..HEAD" } as const, "no-such-branch"],
    [{ kind: "range", range: "--output=made" } as const, "not a range"],
    [{ kind: "range", range: "" } as const, "not a range"],
    [{ kind: "diff", name: "x.diff", text: "hello\n" } as const, "names no file"],
  ])("says why %j cannot be reviewed", async (target, reason) => {
    const collecting = collect(target);
    await expect(collecting).rejects.toThrow(ReviewError);
    await expect(collecting).rejects.toThrow(reason);
    expect(existsSync(join(root, "made"))).toBe(false);
  });

  test("takes no repository above for one whose own .git is not a repository", async () => {
    const inner = join(root, "inner");
    mkdirSync(join(inner, ".git"), { recursive: true });
    const collecting = collectChanges({ kind: "uncommitted" }, { root: inner, environment: environment() });
    await expect(collecting).rejects.toThrow("not a git repository");
  });

  test("runs no program that the repository names, and writes nothing into it", async () => {
    const canary = join(home, "canary");
    const script = put("run.sh", `#!/bin/sh\ntouch ${canary}\ncat\n`);
    chmodSync(script, 0o755);
    const hooks = join(root, "hooks");
    for (const hook of ["post-index-change", "pre-commit", "fsmonitor-watchman"])
      chmodSync(put(`hooks/${hook}`, `#!/bin/sh\ntouch ${canary}\n`), 0o755);
    put(".gitattributes", "* diff=evil filter=evil\n");
    const inner = join(root, "sub");
    mkdirSync(inner);
    git(inner, "init", "-q");
    writeFileSync(join(inner, "s.txt"), "s\n");
    git(inner, "add", "-A");
    git(inner, "commit", "-qm", "inner");
    git(root, "add", "-A");
    git(root, "commit", "-qm", "evil");
    const dangers = {
      "core.fsmonitor": script,
      "core.hooksPath": hooks,
      "core.pager": script,
      "core.sshCommand": script,
      "diff.external": script,
      "diff.evil.command": script,
      "diff.evil.textconv": script,
      "filter.evil.clean": script,
      "filter.evil.smudge": script,
      "filter.evil.process": script,
      "filter.evil.required": "true",
      "alias.diff": `!${script}`,
      "diff.submodule": "log",
    };
    for (const directory of [root, inner])
      for (const [name, value] of Object.entries(dangers)) git(directory, "config", name, value);
    put("a.txt", "one\nTWO\n");
    writeFileSync(join(inner, "s.txt"), "changed\n");
    put("new.txt", "n\n");
    rmSync(canary, { force: true });
    const targets: readonly (readonly [ReviewTarget, number])[] = [
      [{ kind: "uncommitted" }, 2],
      [{ kind: "staged" }, 0],
      [{ kind: "range", range: "HEAD~1..HEAD" }, 6],
      [{ kind: "range", range: "HEAD" }, 1],
    ];
    for (const [target, count] of targets) {
      const { files, countLines } = await collect(target);
      expect(files).toHaveLength(count);
      await countLines("a.txt");
    }
    expect(existsSync(canary)).toBe(false);
    // The same call of git, as a person would make it, runs them.
    expect(() => git(root, "diff", "HEAD")).toThrow("filter 'evil' failed");
    expect(existsSync(canary)).toBe(true);
  });
});
