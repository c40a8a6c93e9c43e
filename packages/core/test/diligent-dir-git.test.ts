import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDiligentDir } from "../src/infrastructure/diligent-dir.ts";
import { makeTempDir } from "./support/temp-dir.ts";

const EARLIER = `# Written by diligent: sessions and knowledge belong to this machine, not to the repository.
sessions/
knowledge/
`;

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: makeTempDir(),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_ALLOW_PROTOCOL: "file",
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, "Test"],
      [`GIT_${role}_EMAIL`, "test@example.test"],
    ]),
  ),
};

function git(cwd: string, ...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd, env: ENVIRONMENT });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString();
}

function createRepository(): string {
  const root = join(makeTempDir(), "project");
  git("/", "init", "-q", "-b", "main", root);
  writeFileSync(join(root, "a.txt"), "a\n");
  git(root, "add", "-A");
  git(root, "commit", "-qm", "first");
  return root;
}

/** Each makes a repository and returns the project in it. */
const REPOSITORIES: Readonly<Record<string, () => string>> = {
  "a plain repository": createRepository,
  "a repository without a commit": () => {
    const root = join(makeTempDir(), "project");
    git("/", "init", "-q", root);
    return root;
  },
  "a worktree": () => {
    const root = createRepository();
    git(root, "worktree", "add", "-q", join(root, "..", "tree"));
    return join(root, "..", "tree");
  },
  "a submodule": () => {
    const outer = createRepository();
    git(
      outer,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      createRepository(),
      "inner",
    );
    return join(outer, "inner");
  },
  "a worktree of a bare repository": () => {
    const bare = join(makeTempDir(), "bare.git");
    git("/", "clone", "-q", "--bare", createRepository(), bare);
    git(bare, "worktree", "add", "-q", join(bare, "..", "tree"), "main");
    return join(bare, "..", "tree");
  },
  "a repository with the earlier .diligent/.gitignore": () => {
    const root = createRepository();
    mkdirSync(join(root, ".diligent", "sessions"), { recursive: true });
    writeFileSync(join(root, ".diligent", ".gitignore"), EARLIER);
    return root;
  },
  "a repository that tracks the earlier .diligent/.gitignore": () => trackIgnoreFile(EARLIER),
  "a repository that tracks another .diligent/.gitignore": () => trackIgnoreFile("# ours\n!*\n"),
  "a repository that tracks it in an index of version 4": () => {
    const root = trackIgnoreFile(EARLIER);
    git(root, "update-index", "--index-version", "4");
    return root;
  },
};

function trackIgnoreFile(text: string): string {
  const root = createRepository();
  mkdirSync(join(root, ".diligent"));
  writeFileSync(join(root, ".diligent", ".gitignore"), text);
  git(root, "add", "-A");
  git(root, "commit", "-qm", "second");
  return root;
}

describe.each(Object.entries(REPOSITORIES))("in %s", (_, create) => {
  async function openProject() {
    const root = create();
    const { sessions, knowledge } = await ensureDiligentDir(root);
    const files = [join(sessions, "a.jsonl"), join(knowledge, "knowledge.jsonl")];
    for (const file of files) writeFileSync(file, "{}\n");
    return { root, areThere: () => files.every((file) => existsSync(file)) };
  }

  test("git status, stash -u, clean -fd twice and add -A neither see nor remove sessions and knowledge", async () => {
    const { root, areThere } = await openProject();
    const before = git(root, "status", "--porcelain");
    expect(before.split("\n").filter((line) => line.includes(".diligent"))).toEqual([]);
    writeFileSync(join(root, "new.txt"), "new\n");
    if (existsSync(join(root, "a.txt"))) git(root, "stash", "-u", "-q");
    expect(areThere()).toBe(true);
    git(root, "clean", "-fdq");
    git(root, "clean", "-fdq");
    expect(areThere()).toBe(true);
    git(root, "add", "-A");
    expect(git(root, "diff", "--cached", "--name-only")).toBe("");
  });

  test("skills, commands and agents are visible", async () => {
    const { root } = await openProject();
    const names = ["skills/a/SKILL.md", "commands/b.md", "agents/c.md"].map((name) => `.diligent/${name}`);
    for (const name of names) {
      mkdirSync(join(root, name, ".."), { recursive: true });
      writeFileSync(join(root, name), "text\n");
    }
    const untracked = git(root, "ls-files", "--others", "--exclude-standard").trim().split("\n");
    expect(untracked.sort()).toEqual(names.sort());
  });
});

test("a .gitignore that git tracks, or that somebody else wrote, stays unchanged", async () => {
  for (const root of [trackIgnoreFile(EARLIER), trackIgnoreFile("# ours\n")]) {
    const path = join(root, ".diligent", ".gitignore");
    const before = readFileSync(path, "utf8");
    await ensureDiligentDir(root);
    expect(readFileSync(path, "utf8")).toBe(before);
  }
  const root = createRepository();
  const path = join(root, ".diligent", ".gitignore");
  mkdirSync(join(root, ".diligent"));
  writeFileSync(path, `${EARLIER}mine/\n`);
  await ensureDiligentDir(root);
  expect(readFileSync(path, "utf8")).toBe(`${EARLIER}mine/\n`);
});
