import { expect, test } from "bun:test";
import { formatSubcommandHelp } from "../src/arguments/help.ts";
import { isSubcommandName, SUBCOMMAND_PAGES } from "../src/arguments/subcommands.ts";
import { runCli } from "../src/run-cli.ts";
import { FakeIo } from "./support/fake-io.ts";

const NAMES = Object.keys(SUBCOMMAND_PAGES).filter(isSubcommandName);

async function run(...argv: string[]) {
  const io = new FakeIo();
  return { exitCode: await runCli(argv, io), stdout: io.stdout.text, stderr: io.stderr.text };
}

test.each(NAMES)(
  "diligent %s --help prints a page of 80 columns with every option, wherever it is given",
  async (name) => {
    const page = { exitCode: 0, stdout: formatSubcommandHelp(name), stderr: "" };
    expect(await run(name, "--help")).toEqual(page);
    expect(await run(name, "-h")).toEqual(page);
    expect(await run(name, "something", "--wrong", "--help")).toEqual(page);
    const { title, options } = SUBCOMMAND_PAGES[name];
    const [first = "", second] = page.stdout.split("\n\n");
    expect([first.replaceAll("\n", " "), second]).toEqual([
      `diligent ${name}: ${title}`,
      expect.stringMatching(/^Usage: diligent /),
    ]);
    expect(options.filter(({ name: option }) => !page.stdout.includes(`--${option} `))).toEqual([]);
    expect(Math.max(...page.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(79);
  },
);

test("--help after -- is a word like any other", async () => {
  expect(await run("config", "--", "--help")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--help"),
  });
});

test("an unknown option of a subcommand is refused with the nearest one", async () => {
  const { exitCode, stderr } = await run("doctor", "--ofline");
  expect([exitCode, stderr]).toEqual([
    2,
    "diligent: doctor: unknown option --ofline (did you mean --offline?)\n",
  ]);
});
