import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isGitConfig, mayHoldCredentials } from "../../src/infrastructure/paths/git.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("the settings of a repository, its worktrees and submodules are recognized by name", () => {
  const settings = ["/a/.git/config", ".GIT/Config", ".git/config.worktree", "x/.git/modules/y/config"];
  const others = [
    "/a/config",
    ".git/config.bak",
    ".git/hooks/x",
    "git/config",
    ".gitconfig",
    ".git",
    "config/.git",
  ];
  expect(settings.map(isGitConfig)).toEqual(settings.map(() => true));
  expect(others.map(isGitConfig)).toEqual(others.map(() => false));
});

const PLAIN = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogAllRefUpdates

[remote "origin"]
\turl = https://github.com/someone/app.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote "other"]
\turl = ssh://git@example.org/app.git
[remote "third"]
\turl = git@github.com:someone/app.git
[branch "feature/\\"x\\""]
\tremote = origin
\tmerge = refs/heads/main
[submodule "lib"]
\turl = ../lib.git
[user]
\tname = Some One
`;

describe("mayHoldCredentials", () => {
  const ask = (text: string) => {
    const path = join(makeTempDir(), "config");
    writeFileSync(path, text);
    return mayHoldCredentials(path);
  };

  test("is false for what Git writes by itself", () => {
    expect(ask(PLAIN)).toBe(false);
    expect(ask(PLAIN.replaceAll("\n", "\r\n"))).toBe(false);
    expect(ask("")).toBe(false);
    expect(mayHoldCredentials("/missing/.git/config")).toBe(false);
  });

  const cases: Record<string, string> = {
    "a token in an address": '[remote "x"]\nurl = https://ghp_x@github.com/a/b\n',
    "a password in an address": '[remote "x"]\npushurl = HTTPS://a:b@host/x\n',
    "a token in a section's name": '[url "https://x:y@github.com/"]\ninsteadOf = gh:\n',
    "a header": '[http "https://github.com/"]\nextraheader = AUTHORIZATION: basic eA==\n',
    "a helper": "[credential]\nhelper = !echo password=x\n",
    "a section nobody knows": "[secrets]\nx = y\n",
    "a section named like a property of every object": "[constructor]\nx = y\n",
    "a setting nobody knows": "[core]\naskpass = x\n",
    "a comment": "[core]\n# password: x\n",
    "a setting on the section's line": "[http] extraheader = x\n",
    "a continued line": "[core]\neditor = a \\\nb\n",
    "a setting without a section": "token = x\n",
    "more than anybody writes": "\n".repeat(300_000),
  };
  for (const [name, text] of Object.entries(cases)) {
    test(`${name} may contain some`, () => expect(ask(text)).toBe(true));
  }

  test("a link may lead to some", () => {
    const top = makeTempDir();
    writeFileSync(join(top, "plain"), PLAIN);
    symlinkSync("plain", join(top, "config"));
    expect(mayHoldCredentials(join(top, "config"))).toBe(true);
  });
});
