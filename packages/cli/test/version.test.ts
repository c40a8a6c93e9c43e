import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describeBuiltCommit } from "../scripts/built-commit.ts";
import { readCheckoutCommit } from "../src/version.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";
const OTHER = "f".repeat(40);

const directory = mkdtempSync(join(tmpdir(), "diligent-version-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;

/** A directory with these files. */
function checkout(files: Record<string, string>): string {
  const top = join(directory, String(count++));
  mkdirSync(top);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), content);
  }
  return top;
}

const BRANCH = { ".git/HEAD": "ref: refs/heads/a/b\n" };

test.each([
  ["of a branch", { ...BRANCH, ".git/refs/heads/a/b": `${HASH}\n` }],
  ["that is checked out itself", { ".git/HEAD": `${HASH}\n` }],
  [
    "of a packed branch",
    { ...BRANCH, ".git/packed-refs": `# pack-refs\n${OTHER} refs/heads/b\n${HASH} refs/heads/a/b\n` },
  ],
  [
    "of a packed branch that has moved",
    { ...BRANCH, ".git/packed-refs": `${OTHER} refs/heads/a/b\n`, ".git/refs/heads/a/b": HASH },
  ],
  [
    "of a worktree",
    {
      ".git": "gitdir: main/.git/worktrees/w\n",
      "main/.git/worktrees/w/HEAD": "ref: refs/heads/x\n",
      "main/.git/worktrees/w/commondir": "../..\n",
      "main/.git/refs/heads/x": HASH,
    },
  ],
])("readCheckoutCommit() returns the commit %s", async (_, files) => {
  expect(await readCheckoutCommit(checkout(files))).toBe("0123456");
});

test.each([
  ["no repository", {}],
  ["a branch without a commit", BRANCH],
  ["a HEAD that leads elsewhere", { ".git/HEAD": "ref: ../../secret\n", secret: HASH }],
  ["something else", { ".git/HEAD": "not a hash\n" }],
  ["a .git that names nothing", { ".git": "nonsense\n" }],
])("readCheckoutCommit() returns undefined for %s", async (_, files) => {
  expect(await readCheckoutCommit(checkout(files))).toBeUndefined();
});

test("a build states that it contains more than a commit", async () => {
  const top = checkout({ "a.txt": "one\n" });
  const git = (...words: string[]) => {
    const settings = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"];
    const run = Bun.spawnSync(["git", ...settings, ...words], { cwd: top, env: { PATH: process.env.PATH } });
    expect([words, run.exitCode]).toEqual([words, 0]);
  };
  expect(await describeBuiltCommit(top)).toBe("");
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "one");
  expect(await describeBuiltCommit(top)).toMatch(/^[0-9a-f]{7}$/);
  writeFileSync(join(top, "a.txt"), "two\n");
  expect(await describeBuiltCommit(top)).toMatch(/^[0-9a-f]{7}, changed$/);
});
