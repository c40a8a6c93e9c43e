import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { loadBashGrammar } from "../../src/approval/bash/grammar.ts";
import { type CommandReading, readCommand } from "../../src/approval/bash/parse.ts";
import { expandGlob } from "../../src/approval/bash/search-policy.ts";
import { createEntryBudget } from "../../src/approval/types.ts";

const readGrammar = await loadBashGrammar();
const top = realpathSync(mkdtempSync(join(tmpdir(), "command-syntax-")));
const log = join(top, "log");

mkdirSync(join(top, "bin"));
mkdirSync(join(top, "empty"));
writeFileSync(
  join(top, "bin", "p"),
  `#!/bin/sh\n{ for word in p "$@"; do printf '%s\\037' "$word"; done; printf '\\036'; } >> '${log}'\n`,
);
chmodSync(join(top, "bin", "p"), 0o755);

afterAll(() => rmSync(top, { recursive: true, force: true }));

function bash(command: string, cwd = join(top, "empty"), variables: Record<string, string> = {}): string {
  const env = { PATH: `${join(top, "bin")}:/usr/bin:/bin`, ...variables };
  return Bun.spawnSync(["bash", "-c", command], {
    cwd,
    env,
    stdin: "ignore",
    stderr: "ignore",
  }).stdout.toString();
}

/** The commands of a plain line, verbatim: `p` with its operands, in the order in which they run. */
function expectedRuns(reading: CommandReading): string | undefined {
  if (reading.kind !== "plain") return undefined;
  const isSimple = reading.pipelines.every(
    ({ runs, commands }) =>
      runs !== "after_failure" && commands.length === 1 && commands[0]?.[0]?.text === "p",
  );
  if (!isSimple) return undefined;
  const commands = reading.pipelines.flatMap((pipeline) => pipeline.commands);
  return commands.map((words) => `${words.map(({ text }) => `${text}\x1f`).join("")}\x1e`).join("");
}

function words(line: string): string[][] | string {
  const reading = readCommand(line, readGrammar);
  if (reading.kind === "opaque") return reading.unsupported;
  return reading.pipelines.flatMap(({ commands }) =>
    commands.map((command) => command.map(({ text }) => text)),
  );
}

describe("a line of plain words", () => {
  test("is parsed as bash parses it", () => {
    const atoms = [
      ...[
        "a",
        "p ",
        " p",
        " ",
        "'",
        '"',
        "\\",
        "$",
        "*",
        "?",
        "[",
        "]",
        "~",
        "#",
        "!",
        "{",
        "}",
        "=",
        "-",
        ";",
        "\n",
      ],
      ...[
        "&",
        "&&",
        "%",
        "@",
        "^",
        ",",
        ":",
        "/x",
        "'a b'",
        '"c d"',
        "\\ ",
        "\\'",
        "(",
        ")",
        "<",
        ">",
        "\t",
        "é",
      ],
      ...[" # x", "# '", " 2>&1 ", " >/dev/null ", " 1> /dev/null", " >&2", "2>", " time p "],
      ...["x=1", "$'", "0", "1", "if", "p -a", "; p ", "\np ", " \n "],
    ];
    let compared = 0;
    const property = fc.property(fc.array(fc.constantFrom(...atoms), { maxLength: 8 }), (pieces) => {
      const line = `p ${pieces.join("")}`;
      const expected = expectedRuns(readCommand(line, readGrammar));
      if (expected === undefined) return;
      compared += 1;
      writeFileSync(log, "");
      bash(line);
      expect([line, readFileSync(log, "utf8")]).toEqual([line, expected]);
    });
    fc.assert(property, { numRuns: 400 });
    expect(compared).toBeGreaterThan(20);
  });

  test("loses its quotes", () => {
    expect(words(`a 'b c' "d\\"e" f\\ g h'i'"j" '' "k\\l$"`)).toEqual([
      ["a", "b c", 'd"e', "f g", "hij", "", "k\\l$"],
    ]);
  });

  test("may contain any characters between quotes, and their positions are still found", () => {
    expect(words("echo 'äöü 😀 漢字' \"é\"; ls 'ß' a")).toEqual([
      ["echo", "äöü 😀 漢字", "é"],
      ["ls", "ß", "a"],
    ]);
  });

  test("may be broken after an operator and end in one line break or semicolon", () => {
    expect(words("\na |\n\n b &&\nc\n\nd;\n")).toEqual([["a"], ["b"], ["c"], ["d"]]);
  });

  test("ends a command at a line break where the grammar alone sees one command", () => {
    expect(words("a x | b x|c x\nd x&&e x")).toEqual([
      ["a", "x"],
      ["b", "x"],
      ["c", "x"],
      ["d", "x"],
      ["e", "x"],
    ]);
  });
});

describe("a line of more than plain words", () => {
  const cases: Record<string, string> = {
    "a $b": "it contains an expansion or substitution",
    "a > b": "it contains a redirection",
    "a=b": "it sets a variable",
    "'a' b": "the name of a program is quoted or a pattern",
    "a é": "it contains letters outside quotes that shells may read differently",
    "a 'b\u200b'": "it contains invisible characters",
    "a\\\nb": "it continues after a backslash at the end of a line",
    "a && && b": "an operator has no command next to it",
    "time -p a": "time is a shell keyword",
    "a;#b": "it contains a comment in an unusual place",
    "a #b\\": "it contains a comment that ends in a backslash",
    "a >/dev/null/b": "it contains a redirection",
    "export A": "it contains a declaration command",
    "a 'b": "a quote is not closed",
  };
  for (const [line, obstacle] of Object.entries(cases)) {
    test(`${JSON.stringify(line)}: ${obstacle}`, () => expect(words(line)).toBe(obstacle));
  }
});

describe("expandGlob", () => {
  test("expands a pattern exactly as bash does", () => {
    const place = join(top, "files");
    const names = [
      "a",
      "b.ts",
      "ab.ts",
      ".hidden",
      "-o",
      "x y",
      "sub/a.ts",
      "sub/.b",
      "sub/deep/c.ts",
      "[",
      "a]",
      "é",
      "n😀.ts",
    ];
    for (const name of names) {
      mkdirSync(join(place, name, ".."), { recursive: true });
      writeFileSync(join(place, name), "");
    }
    const parts = fc.constantFrom(
      "*",
      "?",
      "??",
      "a",
      "b",
      "n",
      ".",
      ".ts",
      "/",
      "sub",
      "[ab]",
      "[!a]",
      "[",
      "]",
      "-",
      "..",
      "**",
    );
    const property = fc.property(fc.array(parts, { minLength: 1, maxLength: 6 }), (pieces) => {
      const pattern = pieces.join("");
      if (pattern.startsWith("/") || !/[*?[]/.test(pattern)) return;
      const inLanguage = (LC_ALL: string) => bash(`printf '%s\\n' ${pattern}`, place, { LC_ALL }).trimEnd();
      const found = ["C", "C.UTF-8"].flatMap((language) => inLanguage(language).split("\n"));
      const expansion = expandGlob(pattern, place, createEntryBudget());
      const expected = "names" in expansion ? expansion.names : [];
      const tidy = (path: string) => path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
      const known = new Set([pattern, ...expected].map(tidy));
      expect([pattern, found.filter((name) => !known.has(tidy(name)))]).toEqual([pattern, []]);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
