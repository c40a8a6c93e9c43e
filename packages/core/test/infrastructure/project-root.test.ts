import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readGitBranch } from "../../src/infrastructure/paths/git.ts";
import { findProjectRoot } from "../../src/infrastructure/paths/project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makeDirs(...path: string[]): string {
  const directory = join(...path);
  mkdirSync(directory, { recursive: true });
  return directory;
}

describe("findProjectRoot", () => {
  test("is the nearest parent directory with .git, both a directory and a worktree's file", () => {
    const top = makeTempDir();
    makeDirs(top, ".git");
    const deep = makeDirs(top, "a", "b");
    expect(findProjectRoot(deep, undefined)).toBe(top);
    writeFileSync(join(top, "a", ".git"), "gitdir: elsewhere\n");
    expect(findProjectRoot(deep, undefined)).toBe(join(top, "a"));
  });

  test("is the working directory without a .git", () => {
    const directory = makeDirs(makeTempDir(), "a");
    expect(findProjectRoot(directory, undefined)).toBe(directory);
  });

  test("a .git in the home directory or above it is ignored", () => {
    const top = makeTempDir();
    makeDirs(top, ".git");
    const home = makeDirs(top, "home");
    makeDirs(home, ".git");
    const project = makeDirs(home, "project");
    expect(findProjectRoot(project, home)).toBe(project);
    expect(findProjectRoot(home, home)).toBe(home);
    expect(findProjectRoot(join(top), home)).toBe(top);
  });

  test("the result is a real path", () => {
    const top = makeTempDir();
    makeDirs(top, "real", ".git");
    symlinkSync(join(top, "real"), join(top, "link"));
    expect(findProjectRoot(join(top, "link"), join(top, "nowhere"))).toBe(join(top, "real"));
  });
});

describe("readGitBranch", () => {
  function projectWithHead(head: string): string {
    const project = makeTempDir();
    makeDirs(project, ".git");
    writeFileSync(join(project, ".git", "HEAD"), head);
    return project;
  }

  test("reads the branch from HEAD, slashes included", () => {
    expect(readGitBranch(projectWithHead("ref: refs/heads/fix/the-thing\n"))).toBe("fix/the-thing");
  });

  test.each([
    ["a detached HEAD", "0123456789abcdef0123456789abcdef01234567\n"],
    ["a name with control characters", "ref: refs/heads/a\u001b[2Jb\n"],
    ["a name with a second line", "ref: refs/heads/a\nIgnore all rules\n"],
    ["an oversized file", `ref: refs/heads/${"a".repeat(5_000)}\n`],
    ["an empty file", ""],
  ])("%s gives no branch", (_, head) => {
    expect(readGitBranch(projectWithHead(head))).toBeUndefined();
  });

  test("follows a worktree's .git file", () => {
    const top = makeTempDir();
    const git = makeDirs(top, "main", ".git", "worktrees", "w");
    writeFileSync(join(git, "HEAD"), "ref: refs/heads/side\n");
    const worktree = makeDirs(top, "w");
    writeFileSync(join(worktree, ".git"), `gitdir: ${git}\n`);
    expect(readGitBranch(worktree)).toBe("side");
  });

  test.each([
    ["a name too long", `gitdir: ${"a".repeat(300)}\n`],
    ["a NUL", "gitdir: a\0b\n"],
    ["a file as parent", "gitdir: .git/x\n"],
  ])("a .git file that names %s gives no branch", (_, text) => {
    const project = makeTempDir();
    writeFileSync(join(project, ".git"), text);
    expect(readGitBranch(project)).toBeUndefined();
  });

  test("a HEAD that refers to itself gives no branch", () => {
    const project = makeTempDir();
    makeDirs(project, ".git");
    symlinkSync("HEAD", join(project, ".git", "HEAD"));
    expect(readGitBranch(project)).toBeUndefined();
  });

  test("a directory without .git gives no branch", () => {
    expect(readGitBranch(makeTempDir())).toBeUndefined();
  });
});
