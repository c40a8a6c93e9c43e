import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFileIndex, FileIndex } from "../../src/tui/editor/file-index.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const never = () => new AbortController().signal;

test("lists the files and directories of a project, without hidden and ignored ones", async () => {
  using project = disposableProject({
    ".gitignore": "dist/\n",
    "a.ts": "",
    "src/deep/b.ts": "",
    "dist/out.js": "",
    ".env": "",
    ".hidden/c.ts": "",
    "a b.ts": "",
  });
  const index = createFileIndex({ cwd: project.path, root: project.path, environment: process.env });
  expect((await index.paths(never())).toSorted()).toEqual([
    "a b.ts",
    "a.ts",
    "src/",
    "src/deep/",
    "src/deep/b.ts",
  ]);
});

test("ignores ripgrep configuration files of the user and the project", async () => {
  using project = disposableProject({ "a.ts": "", ripgreprc: "--hidden\n--glob=!a.ts\n" });
  const environment = { ...process.env, RIPGREP_CONFIG_PATH: join(project.path, "ripgreprc") };
  const index = createFileIndex({ cwd: project.path, root: project.path, environment });
  expect((await index.paths(never())).toSorted()).toEqual(["a.ts", "ripgreprc"]);
});

test("lists no files for a deleted directory", async () => {
  const gone = "/nonexistent-directory";
  const index = createFileIndex({ cwd: gone, root: gone, environment: {} });
  expect(await index.paths(never())).toEqual([]);
});

function setUp() {
  const calls: AbortSignal[] = [];
  const answers: PromiseWithResolvers<readonly string[]>[] = [];
  let time = 0;
  const index = new FileIndex({
    list(signal) {
      calls.push(signal);
      const answer = Promise.withResolvers<readonly string[]>();
      signal.addEventListener("abort", () => answer.reject(signal.reason));
      answers.push(answer);
      return answer.promise;
    },
    now: () => time,
    abandonedAfterMs: 20,
  });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { index, calls, answers, pass };
}

test("FileIndex lists nothing again within two seconds, and everything later", async () => {
  const { index, calls, answers, pass } = setUp();
  const first = index.paths(never());
  answers[0]?.resolve(["a"]);
  expect(await first).toEqual(["a"]);
  pass(1_999);
  expect(await index.paths(never())).toEqual(["a"]);
  expect(calls).toHaveLength(1);
  pass(1);
  const second = index.paths(never());
  answers[1]?.resolve(["b"]);
  expect(await second).toEqual(["b"]);
});

test("FileIndex returns nothing at once to a cancelled request, and the next one shares the listing", async () => {
  const { index, calls, answers } = setUp();
  const abort = new AbortController();
  const first = index.paths(abort.signal);
  abort.abort();
  expect(await first).toEqual([]);
  const second = index.paths(never());
  answers[0]?.resolve(["a"]);
  expect(await second).toEqual(["a"]);
  expect(calls).toHaveLength(1);
});

test("FileIndex cancels a listing after a while if nobody waits for it, and starts again on request", async () => {
  const { index, calls, answers } = setUp();
  const abort = new AbortController();
  const first = index.paths(abort.signal);
  abort.abort();
  await first;
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(calls[0]?.aborted).toBe(true);
  const second = index.paths(never());
  answers[1]?.resolve(["a"]);
  expect(await second).toEqual(["a"]);
});

test("FileIndex offers nothing after a failed listing, and the next one may succeed", async () => {
  const { index, answers } = setUp();
  const first = index.paths(never());
  answers[0]?.reject(new Error("ripgrep is not installed here"));
  expect(await first).toEqual([]);
  const second = index.paths(never());
  answers[1]?.resolve(["a"]);
  expect(await second).toEqual(["a"]);
});

function disposableProject(files: Record<string, string>) {
  const { project, remove } = createTemporaryProject();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), content);
  }
  return { path: project, [Symbol.dispose]: remove };
}
