import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ENVIRONMENT = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: "/nowhere" };
const AUTHOR = ["-c", "user.name=Me", "-c", "user.email=me@example.org", "-c", "init.defaultBranch=main"];

/** What git says. @throws Error where it fails. */
export function git(directory: string, ...words: string[]): string {
  const run = Bun.spawnSync(["git", ...AUTHOR, ...words], { cwd: directory, env: ENVIRONMENT });
  if (!run.success) throw new Error(`git ${words.join(" ")}: ${run.stderr.toString()}`);
  return run.stdout.toString();
}

export function commitTo(root: string, path: string, message: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${message}\n`);
  git(root, "add", path);
  git(root, "commit", "-qm", message);
}

/** A repository with commits, packed and loose, branches, a tag, a stash and something staged. */
export function fillRepository(root: string): void {
  git(root, "init", "-q");
  commitTo(root, "kept.txt", "first");
  commitTo(root, "kept.txt", "second");
  git(root, "branch", "topic");
  git(root, "gc", "-q");
  commitTo(root, "src/code.ts", "third");
  git(root, "tag", "v1");
  for (const text of ["one", "two"]) {
    writeFileSync(join(root, "kept.txt"), `stash ${text}\n`);
    git(root, "stash", "-q");
  }
  commitTo(root, "lost.txt", "only in the reflog");
  git(root, "reset", "-q", "--hard", "HEAD~1");
  writeFileSync(join(root, "staged.txt"), "staged\n");
  git(root, "add", "staged.txt");
}

/** All that a repository has: as git says it, and byte for byte. */
export function describeRepository(root: string) {
  const directory = git(root, "rev-parse", "--absolute-git-dir").trim();
  const common = git(root, "rev-parse", "--path-format=absolute", "--git-common-dir").trim();
  git(root, "fsck", "--full", "--strict");
  return {
    head: readFileSync(join(directory, "HEAD"), "utf8"),
    refs: git(root, "for-each-ref"),
    reflogs: git(root, "reflog", "show", "--all"),
    stashes: git(root, "stash", "list"),
    history: git(root, "log", "--all", "--reflog", "-p", "--format=raw"),
    index: git(root, "ls-files", "-s"),
    state: git(root, "--no-optional-locks", "status", "--porcelain"),
    bytes: listBytes(common),
    objects: git(root, "cat-file", "--batch-all-objects", "--batch-check", "--unordered").split("\n").sort(),
  };
}

/** Without the objects, which git stores as it likes, and the times in the index. */
function listBytes(directory: string, path = ""): string[] {
  return readdirSync(join(directory, path))
    .sort()
    .flatMap((name) => {
      const inner = path === "" ? name : `${path}/${name}`;
      const stats = lstatSync(join(directory, inner));
      if ((name === "objects" && stats.isDirectory()) || name === "index") return [];
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) return [`${inner} ${mode}`, ...listBytes(directory, inner)];
      return [`${inner} ${mode} ${Bun.hash(readFileSync(join(directory, inner))).toString(36)}`];
    });
}
