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

/** What bash offers for a line; it splits the line at spaces and `=`, as readline does. The last word is completed. */
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
  // In front of a command stands nothing but -C; its value may be called as a command is.
  ["diligent -C knowledge kno", ["knowledge"]],
  ["diligent -Cbin sessions sh", ["show"]],
  ["diligent -m sonnet kno", []],
  ["diligent --model=sonnet kno", []],
  ["diligent -p sess", []],
  ["diligent sess", ["sessions"]],
  ["diligent sessions ", ["list", "find", "show", "compact", "name", "label", "archive", "unarchive", "rm"]],
  ["diligent sessions show --fu", ["--full"]],
  ["diligent export --format ", ["md", "jsonl"]],
  ["diligent export --format=j", ["jsonl"]],
  ["diligent completions f", ["fish"]],
  // Sessions by their numbers, wherever one may be named, but not those of another directory.
  ["diligent --continue ", ["1", "2", "12"]],
  ["diligent --fork=1", ["1", "12"]],
  ["diligent -r fix", []],
  ["diligent sessions rm 2", ["2"]],
  ["diligent sessions list ", []],
  ["diligent export ", ["1", "2", "12"]],
  ["diligent undo -s ", ["1", "2", "12"]],
  ["diligent -C elsewhere export ", []],
  // Left to the completion of file names: a prompt, a file, and what stands behind `--`.
  ["diligent fix sess", []],
  ["diligent --record ", []],
  ["diligent -- --app", []],
])("bash offers for %p", async (line, words) => {
  expect(await offer(line)).toEqual(words);
});

test("where bash only lists, it says which sessions these are", async () => {
  expect(await offer("diligent -c 1", { COMP_TYPE: "63" })).toEqual([
    "1 [2026-02-25 10:30] $(touch canary): `x` (1 message)",
    "12 [] c",
  ]);
});

test("bash offers every option of the program, and those of a subcommand only", async () => {
  expect((await offer("diligent -")).sort()).toEqual([...new Set(optionSpellings())].sort());
  expect(await offer("diligent doctor -")).toEqual(["-m", "--model", "--offline", "--json", "-h", "--help"]);
});

test.each(["zsh", "fish"])(
  "the script for %s names every option and passes the shell's own check",
  async (shell) => {
    const path = await writeScript(shell);
    const text = await Bun.file(path).text();
    const isNamed = (name: string) => text.includes(shell === "fish" ? `-l ${name}` : `--${name}`);
    const longNames = OPTIONS.filter(({ name }) => name !== "directory");
    expect(longNames.filter(({ name }) => !isNamed(name))).toEqual([]);
    // The check is made where there is such a shell.
    if (Bun.which(shell)) expect(Bun.spawnSync([shell, "-n", path]).exitCode).toBe(0);
  },
);

test.each([
  [[], "completions needs a shell: bash, zsh, fish"],
  [["bsh"], "completions: unknown shell bsh (did you mean bash?)"],
  [["csh"], "completions: unknown shell csh (choose bash, zsh or fish)"],
  [["constructor"], "completions: unknown shell constructor (choose bash, zsh or fish)"],
  [["bash", "zsh"], "completions takes one shell, not also zsh"],
])("for %p there is no script", async (words, complaint) => {
  expect(await run(...words)).toEqual({ exitCode: 2, stdout: "", stderr: `diligent: ${complaint}\n` });
});
