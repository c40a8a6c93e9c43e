import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionSpellings } from "../src/arguments/options.ts";
import { SUBCOMMAND_PAGES } from "../src/arguments/subcommands.ts";
import { runCli } from "../src/run-cli.ts";
import { type OfferInShell, offerInFish, offerInZsh, plantSessionList } from "./support/completing-shells.ts";
import { FakeIo } from "./support/fake-io.ts";

const directory = mkdtempSync(join(tmpdir(), "diligent-shells-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

beforeAll(() => {
  plantSessionList(directory);
  writeFileSync(join(directory, "hay.txt"), "");
  writeFileSync(join(directory, "bay.txt"), "");
});

async function writeScript(shell: string): Promise<string> {
  const io = new FakeIo();
  await runCli(["completions", shell], io);
  const path = join(directory, `.diligent.${shell}`);
  writeFileSync(path, io.stdout.text);
  return path;
}

/** What both shells offer, for lines that differ in one thing each. */
const OFFERED: Readonly<Record<string, string[]>> = {
  "diligent --out": ["--output-format"],
  "diligent --approval ": ["accept-edits", "ask", "auto", "deny", "plan"],
  "diligent -m son": ["sonnet"],
  "diligent --record h": ["hay.txt"],
  "diligent sess": ["sessions"],
  "diligent sessions ": ["archive", "compact", "find", "label", "list", "name", "rm", "show", "unarchive"],
  "diligent sessions show ": ["1", "12", "2"],
  "diligent sessions rm 12": ["12"],
  "diligent export ": ["1", "12", "2"],
  "diligent undo -s 1": ["1", "12"],
  "diligent -C bin export ": [],
  "diligent sessions show 1 --fu": ["--full"],
  "diligent sessions -m son": ["sonnet"],
  "diligent export --format ": ["atif", "html", "jsonl", "md"],
  "diligent completions f": ["fish"],
  "diligent completions bash ": [],
  // Only -C may precede a command; its value may be named like a command.
  "diligent -C knowledge kno": ["knowledge"],
  "diligent -Cbin kno": ["knowledge"],
  "diligent -C bin sessions sh": ["show"],
  "diligent -m sonnet kno": [],
  "diligent -p sess": [],
  "diligent -c sess": [],
  "diligent --fork 2": ["2"],
  "diligent --fork=": ["1", "12", "2"],
  "diligent --continue=1": ["1", "12"],
  // In a prompt there are options and files; after -- only files.
  "diligent fix sess": [],
  "diligent fix sessions h": ["hay.txt"],
  "diligent fix --appr": ["--approval"],
  "diligent fix --approval d": ["deny"],
  "diligent -- --app": [],
  "diligent -- sess": [],
};

const SHELLS: readonly (readonly [shell: string, offer: OfferInShell])[] = [
  ["fish", offerInFish],
  ["zsh", offerInZsh],
];

for (const [shell, offer] of SHELLS) {
  describe.skipIf(!Bun.which(shell))(`completion in ${shell} (skipped if it is not installed)`, () => {
    test("offers what fits at the cursor", async () => {
      const place = { script: await writeScript(shell), directory };
      const lines = Object.keys(OFFERED);
      const lists = await offer(place, lines);
      // Fish offers a value after `=` together with its option.
      const values = lists.map((list) => list.map((word) => word.replace(/^--[a-z-]+=/, "")));
      expect(Object.fromEntries(lines.map((line, index) => [line, values[index]]))).toEqual(OFFERED);
      // Session names are shown and never executed.
      expect(existsSync(join(directory, "canary"))).toBe(false);
    }, 60_000);

    test("offers every command and every option", async () => {
      const place = { script: await writeScript(shell), directory };
      const [words = [], long = [], short = []] = await offer(place, [
        "diligent ",
        "diligent --",
        "diligent -",
      ]);
      const commands = Object.keys(SUBCOMMAND_PAGES);
      expect(words.filter((word) => commands.includes(word))).toEqual(commands.sort());
      const spellings = [...new Set(optionSpellings())].sort();
      expect(long.filter((word) => spellings.includes(word))).toEqual(
        spellings.filter((spelling) => spelling.startsWith("--")),
      );
      expect(short.filter((word) => spellings.includes(word))).toEqual(spellings);
    }, 60_000);
  });
}

describe.skipIf(!Bun.which("zsh"))("completion in zsh (skipped if it is not installed)", () => {
  test("also loads the script from a directory of fpath", async () => {
    const functions = join(directory, ".functions");
    mkdirSync(functions);
    const script = await writeScript("zsh");
    writeFileSync(join(functions, "_diligent"), await Bun.file(script).text());
    const start = join(directory, ".start.zsh");
    writeFileSync(start, `fpath=(${functions} $fpath); compinit -u -D\n`);
    expect(await offerInZsh({ script: start, directory }, ["diligent sessions co"])).toEqual([["compact"]]);
  }, 60_000);
});
