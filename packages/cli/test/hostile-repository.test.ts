import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM_BY_PATH, runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** Everything in a repository that Git would run, each leaving a trace. */
function plantGitSettings(canary: string): void {
  const run = `touch ${canary}; true`;
  place.write("run.sh", `#!/bin/sh\n${run}\n`);
  const script = join(place.project, "run.sh");
  chmodSync(script, 0o755);
  place.write(
    ".git/config",
    [
      "[core]",
      "\trepositoryformatversion = 0",
      ...["fsmonitor", "pager", "sshCommand", "editor", "askPass", "gitProxy"].map(
        (key) => `\t${key} = ${script}`,
      ),
      `\thooksPath = ${join(place.project, "hooks")}`,
      '[diff "evil"]',
      `\ttextconv = ${script}`,
      `\tcommand = ${script}`,
      "[diff]",
      `\texternal = ${script}`,
      '[filter "evil"]',
      `\tclean = ${script}`,
      `\tsmudge = ${script}`,
      `\tprocess = ${script}`,
      "[alias]",
      ...["status", "log", "diff", "rev-parse", "branch"].map((name) => `\t${name} = !${script}`),
      "[credential]",
      `\thelper = !${script}`,
      "",
    ].join("\n"),
  );
  place.write(".git/HEAD", "ref: refs/heads/main\n");
  for (const directory of ["objects", "refs"]) mkdirSync(join(place.project, ".git", directory));
  place.write(".gitattributes", "* diff=evil filter=evil\n");
  for (const hook of ["post-checkout", "pre-commit", "post-index-change", "reference-transaction"]) {
    for (const directory of ["hooks", ".git/hooks"]) {
      chmodSync(place.write(`${directory}/${hook}`, `#!/bin/sh\n${run}\n`), 0o755);
    }
  }
}

/**
 * Programs with the names of those that diligent looks for, in the project's root and in every possible bin
 * directory.
 */
function plantPrograms(canary: string): void {
  const names = [
    "git",
    "rg",
    "bash",
    "sh",
    "node",
    "npx",
    "ls",
    "cat",
    "grep",
    "find",
    "env",
    "diff",
    "uname",
    "which",
  ];
  for (const directory of [".", "bin", "node_modules/.bin", ".venv/bin"]) {
    for (const name of names) {
      chmodSync(place.write(join(directory, name), `#!/bin/sh\n/usr/bin/touch ${canary}\n`), 0o755);
    }
  }
}

const CALLS = [
  { name: "read", input: { file_path: "src/main.ts" } },
  { name: "grep", input: { pattern: "needle" } },
  { name: "grep", input: { pattern: "(?=needle)", output_mode: "content" } },
  { name: "glob", input: { pattern: "**/*.ts" } },
  { name: "ls", input: {} },
  { name: "edit", input: { file_path: "src/main.ts", old_string: "needle", new_string: "thread" } },
  { name: "write", input: { file_path: "src/new.ts", content: "x\n" } },
  // None of these needs approval.
  { name: "bash", input: { command: "ls src && cat src/main.ts | grep thread" } },
  { name: "bash", input: { command: "find . -name '*.ts'" } },
  { name: "bash", input: { command: "rg thread src" } },
];

test("a run in a stranger's repository runs nothing that the repository names or contains", async () => {
  const canary = join(place.top, "canary");
  plantGitSettings(canary);
  plantPrograms(canary);
  place.write("src/main.ts", "needle\n");
  const turns = [...CALLS.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const environment = {
    PATH: [
      ...[".", "", place.project, "bin", join(place.project, "node_modules/.bin")],
      ...["/usr/local/bin", "/usr/bin", "/bin"],
    ].join(":"),
    RIPGREP_CONFIG_PATH: place.write("ripgreprc", `--pre=${join(place.project, "rg")}\n`),
    GIT_DIR: join(place.project, ".git"),
    BASH_ENV: place.write("bash-env", `/usr/bin/touch ${canary}\n`),
    ENV: join(place.project, "bash-env"),
  };
  const options = { environment, program: PROGRAM_BY_PATH };
  const run = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"], options);
  // If the only ripgrep in PATH is the project's, the last call asks, or runs it in a sandbox; nothing else
  // fails.
  expect([run.stdout, run.stderr.match(/failed: (?!Refused: rg|\/usr\/bin\/touch: cannot touch)/g)]).toEqual([
    "Done.\n",
    null,
  ]);
  for (const args of [["--list"], ["sessions", "list"], ["config"], ["-c", "-p", "again"]]) {
    await runDiligent(place, args, options);
  }
  expect(existsSync(canary)).toBe(false);
});

test("the planted programs would leave their traces if they ran", async () => {
  const canary = join(place.top, "canary");
  plantGitSettings(canary);
  Bun.spawnSync(["git", "status"], { cwd: place.project, env: { PATH: process.env.PATH, HOME: place.home } });
  expect(existsSync(canary)).toBe(true);
});
