import { expect, test } from "bun:test";
import {
  explainCheckout,
  explainMoved,
  explainSettings,
  explainUnreadable,
  findUnwrittenFiles,
} from "../../src/sandbox/box/explain.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const BUSY = "Device or resource busy";

test("the files of a commit that git could not write are those that it names", () => {
  const output = [
    `error: unable to unlink old '.env': ${BUSY}`,
    "error: unable to create file .github/workflows/ci.yml: Read-only file system",
    `warning: unable to unlink 'CLAUDE.md': ${BUSY}`,
  ].join("\n");
  expect(findUnwrittenFiles(output, "git checkout feat")).toEqual([
    ".env",
    ".github/workflows/ci.yml",
    "CLAUDE.md",
  ]);
  expect(findUnwrittenFiles(output, "make")).toEqual([]);
});

test("unwritten settings of a branch, and what replaces them, are not such files", () => {
  const settings = `error: could not write config file .git/config: ${BUSY}\n`;
  expect(findUnwrittenFiles(`Switched to branch 'feat'\n${settings}`, "git checkout feat")).toEqual([]);
  expect(explainSettings(settings)).toStartWith("a repository's settings (.git/config) cannot be written");
  const left = "warning: failed to remove .diligent: Read-only file system\n";
  expect(findUnwrittenFiles(left, "git reset --hard && git clean -fd")).toEqual([]);
  expect(explainSettings(left)).toBeUndefined();
});

test.each([
  "bash: line 1: /etc/log: Read-only file system",
  "cp: cannot create regular file '/etc/b': Read-only file system",
  "error: failed to write `/etc/target/x`: Read-only file system (os error 30)",
  "error: could not create directory '/etc/x': Read-only file system",
])("files that the shell or another program of the line could not write are not git's: %p", (output) => {
  expect(findUnwrittenFiles(output, "git checkout -q feat > /etc/log; cp a /etc/b; cargo build")).toEqual([]);
});

test("other work of git is not mentioned", () => {
  const output = `error: could not lock config file .git/config: ${BUSY}\nfatal: cannot set up tracking\n`;
  expect(explainSettings(output)).not.toContain("else");
  expect(explainCheckout(["a"], true)).toContain(
    "git could not write a in the sandbox, so the working tree may",
  );
});

test("a moved file matters to git only if git tracks it, or if it made a repository", () => {
  const root = makeTempDir();
  const explain = (path: string) => explainMoved([`${root}/${path}`], { root, mayLeave: true });
  expect(explain(".env")).toEqual([]);
  expect(explain("made/.git")).toEqual([
    "commands in the sandbox cannot create a repository: to create one, run it with outside_sandbox and a reason; that needs approval",
  ]);
});

const UNREADABLE = ["/p/.env", "/p/app/.env", "/p/app/server.key"];

function explain(output: string): string | undefined {
  return explainUnreadable(output, { mayLeave: true, unreadableFiles: UNREADABLE });
}

test.each([
  ['error: open(".env"): Permission denied', "/p/.env, /p/app/.env"],
  ["cat: app/.env: Permission denied", "/p/app/.env"],
  ["tar: ./app/server.key: Cannot open: Permission denied", "/p/app/server.key"],
  ["Error: EACCES: permission denied, open '/p/.env'", "/p/.env"],
  ["cannot open /p/app/server.key. Permission denied.", "/p/app/server.key"],
])("a file that could not be opened is named: %p", (output, names) => {
  expect(explain(`before\n${output}\nbehind`)).toStartWith(
    `it ran in a sandbox: no command in it can read ${names}, which may hold keys or passwords.`,
  );
});

test.each([
  "cat: .env.example: Permission denied",
  "cat: my.env: Permission denied",
  "cat: other/server.key: Permission denied",
  "reading .env\ntouch: cannot touch '/root/x': Permission denied",
  "server.key is fine",
])("a file that the error line does not name is not the reason: %p", (output) => {
  expect(explain(output)).toBeUndefined();
});
