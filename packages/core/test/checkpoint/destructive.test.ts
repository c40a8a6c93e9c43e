import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { describeTree } from "../support/tree-bytes.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const GIT = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: "/nowhere" };
const AUTHOR = ["-c", "user.name=Me", "-c", "user.email=me@example.org"];

function git(root: string, ...words: string[]): void {
  const run = Bun.spawnSync(["git", ...AUTHOR, ...words], { cwd: root, env: GIT });
  if (!run.success) throw new Error(run.stderr.toString());
}

/** A repository in the midst of work: changed, staged, untracked and ignored files of every kind, none of them committed. */
function fillProject(root: string): void {
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  git(root, "init", "-q");
  put(".gitignore", "build/\n*.log\n");
  for (const name of ["kept.txt", "changed.txt", "staged.txt", "src/deep/code.ts"]) put(name, "committed\n");
  git(root, "add", "-A");
  git(root, "commit", "-qm", "first");
  put("changed.txt", "not committed\n");
  put("staged.txt", "staged\n");
  git(root, "add", "staged.txt");
  put("src/deep/code.ts", "rewritten\n");
  put("untracked/notes.txt", "of days\n");
  put("untracked/blob.bin", new Uint8Array([0, 255, 10, 13, 0, 128]));
  put("build/out.bin", new Uint8Array([1, 2, 3, 0]));
  put("debug.log", "ignored\n");
  put("run.sh", "#!/bin/sh\n");
  chmodSync(join(root, "run.sh"), 0o755);
  mkdirSync(join(root, "untracked", "empty"));
  symlinkSync("notes.txt", join(root, "untracked", "link"));
}

/** All but the repository, which `checkpoint-git.test.ts` looks at: objects that git has stored stay in it. */
const describeWork = (root: string) => describeTree(root, [".git"]);

/** Each is allowed in the sandbox without a question, and takes something with it that no commit has. */
const COMMANDS: Readonly<Record<string, string>> = {
  "git reset --hard": "git reset -q --hard",
  "git clean of what is ignored": "git clean -qfdX",
  "git clean of everything": "git clean -qfdx",
  "git checkout over changes": "git checkout -q -- . && git stash -q -u && git stash drop -q",
  "rm -rf": "rm -rf untracked build debug.log src changed.txt",
  "all of them": "git reset -q --hard; git clean -qfdx; rm -rf -- * .gitignore",
};

describe.skipIf(problem !== undefined)("what a sandboxed command destroys is restored byte for byte", () => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    test(name, async () => {
      const place = await makeBoxedProject({ prepare: ({ root }) => fillProject(root) });
      const { root, home } = place;
      const environment = { HOME: home, XDG_STATE_HOME: place.at("state") };
      const checkpoints = new Checkpoints({ root, environment, sessionId: "one" });
      const before = describeWork(root);
      await checkpoints.beforeChanges({ isFirst: true, notify() {} });
      expect(await place.run(command)).toMatchObject({ isError: false });
      checkpoints.afterChanges();
      await checkpoints.settled();
      expect(describeWork(root)).not.toEqual(before);
      expect(await checkpoints.undo()).toMatchObject({ conflicts: [], notKept: [], failures: [] });
      expect(describeWork(root)).toEqual(before);
      checkpoints.close();
    });
  }
});
