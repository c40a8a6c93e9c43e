import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPTIONS, optionSpellings } from "../src/arguments/options.ts";
import { runCli } from "../src/run-cli.ts";
import { plantSessionList } from "./support/completing-shells.ts";
import { FakeIo } from "./support/fake-io.ts";

const directory = mkdtempSync(join(tmpdir(), "diligent-completions-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function run(...argv: string[]) {
  const io = new FakeIo();
  return {
    exitCode: await runCli(["completions", ...argv], io),
    stdout: io.stdout.text,
    stderr: io.stderr.text,
  };
}

async function writeScript(shell: string): Promise<string> {
  const path = join(directory, `diligent.${shell}`);
  writeFileSync(path, (await run(shell)).stdout);
  return path;
}

/**
 * What bash offers for a line, which it splits at spaces and `=`, as readline does. The last word is
 * completed.
 */
async function offer(line: string, environment: Record<string, string> = {}): Promise<string[]> {
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
    $(complete -p diligent | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`;
  const path = await writeScript("bash");
  const env = { ...environment, PATH: `${plantSessionList(directory)}:/usr/bin:/bin` };
  const shell = Bun.spawn(["bash", "--norc", "-c", script, "bash", path, ...words], { env, stderr: "pipe" });
  const [output, errors] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
  expect(errors).toBe("");
  return output.split("\n").filter((word) => word !== "");
}

test.each([
  ["diligent --out", ["--output-format"]],
  ["diligent --approval ", ["ask", "accept-edits", "plan", "auto", "deny"]],
  ["diligent --approval=d", ["deny"]],
  ["diligent -p --output-format=", ["text", "json", "stream-json"]],
  ["diligent --output-format js", ["json"]],
  ["diligent -m son", ["sonnet"]],
  // Only -C may precede a command; its value may be named like a command.
  ["diligent -C knowledge kno", ["knowledge"]],
  ["diligent -Cbin sessions sh", ["show"]],
  ["diligent -m sonnet kno", []],
  ["diligent --model=sonnet kno", []],
  ["diligent -p sess", []],
  ["diligent sess", ["sessions"]],
  ["diligent sessions ", ["list", "find", "show", "compact", "name", "label", "archive", "unarchive", "rm"]],
  ["diligent sessions show --fu", ["--full"]],
  ["diligent export --format ", ["md", "html", "jsonl", "atif"]],
  ["diligent export --format=j", ["jsonl"]],
  ["diligent completions f", ["fish"]],
  // Session numbers wherever a session is accepted, but not those of another directory.
  ["diligent --continue ", ["1", "2", "12"]],
  ["diligent --fork=1", ["1", "12"]],
  ["diligent -r fix", []],
  ["diligent sessions rm 2", ["2"]],
  ["diligent sessions list ", []],
  ["diligent export ", ["1", "2", "12"]],
  ["diligent undo -s ", ["1", "2", "12"]],
  ["diligent -C elsewhere export ", []],
  // Left to file name completion: a prompt, a file, and everything after `--`.
  ["diligent fix sess", []],
  ["diligent --record ", []],
  ["diligent -- --app", []],
])("bash completion offers the right words for %p", async (line, words) => {
  expect(await offer(line)).toEqual(words);
});

test("bash completion describes the sessions when it only lists them", async () => {
  expect(await offer("diligent -c 1", { COMP_TYPE: "63" })).toEqual([
    "1 [2026-02-25 10:30] $(touch canary): `x` (1 message)",
    "12 [] c",
  ]);
});

test("bash completion offers all global options, and only a subcommand's own ones after its name", async () => {
  expect((await offer("diligent -")).sort()).toEqual([...new Set(optionSpellings())].sort());
  expect(await offer("diligent doctor -")).toEqual(["-m", "--model", "--offline", "--json", "-h", "--help"]);
});

test.each(["zsh", "fish"])(
  "the completion script for %s names every option and passes the shell's own check",
  async (shell) => {
    const path = await writeScript(shell);
    const text = await Bun.file(path).text();
    const isNamed = (name: string) => text.includes(shell === "fish" ? `-l ${name}` : `--${name}`);
    const longNames = OPTIONS.filter(({ name }) => name !== "directory");
    expect(longNames.filter(({ name }) => !isNamed(name))).toEqual([]);
    // The check runs if the shell is installed.
    if (Bun.which(shell)) expect(Bun.spawnSync([shell, "-n", path]).exitCode).toBe(0);
  },
);

test.each([
  [[], "completions needs a shell: bash, zsh, fish"],
  [["bsh"], "completions: unknown shell bsh (did you mean bash?)"],
  [["csh"], "completions: unknown shell csh (choose bash, zsh or fish)"],
  [["constructor"], "completions: unknown shell constructor (choose bash, zsh or fish)"],
  [["bash", "zsh"], "completions takes one shell, not also zsh"],
])("completions refuses %p", async (words, complaint) => {
  expect(await run(...words)).toEqual({ exitCode: 2, stdout: "", stderr: `diligent: ${complaint}\n` });
});
