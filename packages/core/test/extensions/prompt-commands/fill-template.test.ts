import { describe, expect, test } from "bun:test";
import {
  fillTemplate,
  type PromptTemplate,
  splitArguments,
  type TemplateStyle,
} from "../../../src/extensions/prompt-commands/fill-template.ts";
import { BUSY_MS } from "../../support/busy-machine.ts";

const CLAUDE: TemplateStyle = {
  missing: "keep",
  marks: "backticks",
  shell: "after_space",
  appended: "labelled",
};
const OPENCODE: TemplateStyle = {
  ...CLAUDE,
  missing: "remove",
  lastTakesRest: true,
  shell: "anywhere",
  appended: "plain",
};
const CODEX: TemplateStyle = {
  ...CLAUDE,
  missing: "remove",
  hasNamedArguments: true,
  shell: "never",
  appended: "plain",
};
const GEMINI: TemplateStyle = { missing: "remove", marks: "braces", shell: "anywhere", appended: "plain" };

function fill(text: string, args: string, style = CLAUDE, more: Partial<PromptTemplate> = {}) {
  return fillTemplate({ text, style, argumentNames: [], ...more }, args)
    .parts.map((part) => (part.kind === "text" ? part.text : `<${part.command}>`))
    .join("");
}

describe("fillTemplate()", () => {
  test.each([
    ["all arguments", "Fix $ARGUMENTS now", "a  b", "Fix a  b now"],
    ["arguments by number, from one", "$1 then $2", "a 'b c'", "a then b c"],
    ["arguments from zero in a file with $0", "$0 then $1", "a b", "a then b"],
    ["arguments from zero in a file with $ARGUMENTS[…]", "$ARGUMENTS[0] $1", "a b", "a b"],
    ["a missing one as it is written", "awk '{print $2}' $1", "a", "awk '{print $2}' a"],
    ["an escaped placeholder as text", "\\$1 costs $1", "5", "$1 costs 5"],
    ["arguments without a placeholder below it", "Review.", "src", "Review.\n\nARGUMENTS: src"],
    ["no arguments", "Review $1$ARGUMENTS.", "", "Review $1."],
    ["an unknown name and a price as text", "$HOME costs $5.00 of $x", "", "$HOME costs $5.00 of $x"],
    ["two-digit numbers as one", "$10", "a b c d e f g h i j", "j"],
  ])("fills in %s", (_, text, args, expected) => {
    expect(fill(text, args)).toBe(expected);
  });

  test("reads the placeholders of opencode, pi, Codex and gemini-cli", () => {
    expect(fill("$1: $2", "a b c d", OPENCODE)).toBe("a: b c d");
    expect(fill("$1: $2.", "a", OPENCODE)).toBe("a: .");
    expect(fill(`Do $@ as \${1:-x}, \${3:-z}; \${@:2} \${@:1:1}`, "a b", OPENCODE)).toBe(
      "Do a b as a, z; b a",
    );
    expect(fill("$FILE has $TOPIC; $1 $OTHER", 'FILE=a.ts TOPIC="two words" rest', CODEX)).toBe(
      "a.ts has two words; rest $OTHER",
    );
    expect(fill("Do {{args}} with $1 and !{grep {{args}} x | awk '{print}'}", "it's $1", GEMINI)).toBe(
      "Do it's $1 with $1 and <grep 'it'\\''s $1' x | awk '{print}'>",
    );
    expect(fill("Explain", "this", GEMINI)).toBe("Explain\n\nthis");
    expect(fill("never closed !{ls", "", GEMINI)).toBe("never closed !{ls");
  });

  test("fills in names from the frontmatter and variables", () => {
    const more = { argumentNames: ["issue", "branch"], variables: { CLAUDE_SKILL_DIR: "/skills/x" } };
    expect(fill(`$issue on $branch in \${CLAUDE_SKILL_DIR} \${OTHER}`, "7 main", CLAUDE, more)).toBe(
      `7 on main in /skills/x \${OTHER}`,
    );
  });

  test("never reads an argument as a placeholder, a command or a pattern", () => {
    const args = "$1 $ARGUMENTS !`touch x` {{args}} $& $$ @secret";
    expect(fill("A $ARGUMENTS B", args)).toBe(`A ${args} B`);
    expect(fill("A {{args}} B", args, GEMINI)).toBe(`A ${args} B`);
    const { parts } = fillTemplate({ text: "$1", style: CLAUDE, argumentNames: [] }, '"!`touch x`"');
    expect(parts).toEqual([{ kind: "text", text: "!`touch x`" }]);
  });

  test("separates shell commands, which begin after white space or at the beginning of a line", () => {
    expect(fill("!`git status`\nDone!`code` and !`echo $1`.", "a")).toBe(
      "<git status>\nDone!`code` and <echo a>.",
    );
  });

  test("separates them anywhere for opencode, and nowhere for Codex", () => {
    expect(fill("Done!`ls`", "", OPENCODE)).toBe("Done<ls>");
    expect(fill("See !`ls`", "", CODEX)).toBe("See !`ls`");
  });

  test("finds the files that the text and its arguments mention, and none in code or addresses", () => {
    const mentions = (text: string, args = "", style = CLAUDE) =>
      fillTemplate({ text, style, argumentNames: [] }, args).mentions;
    expect(mentions('See @src/$1.ts, @"a b.md" and @docs/.', "main")).toEqual([
      "src/main.ts",
      "a b.md",
      "docs/",
    ]);
    expect(mentions("mail me@example.com, @ alone", "@x.ts")).toEqual(["x.ts"]);
    expect(mentions("Look: @{src/a b.ts} !{cat @y}", "", GEMINI)).toEqual(["src/a b.ts", "src/a"]);
  });

  test("takes a large template and many arguments in linear time", () => {
    const text = `${"$1 !`x` @a {".repeat(20_000)}${"`".repeat(20_000)}${"!{".repeat(20_000)}`;
    const started = performance.now();
    fill(text, "word ".repeat(20_000));
    fill(text, "word", GEMINI);
    expect(performance.now() - started).toBeLessThan(2_000 + BUSY_MS);
  });
});

test("splitArguments() follows the quotes of a shell, and an apostrophe in a word is a letter", () => {
  expect(splitArguments(`a "b \\"c" 'd e' don't "open x="y z"`)).toEqual([
    "a",
    'b "c',
    "d e",
    "don't",
    '"open',
    "x=y z",
  ]);
  expect(splitArguments("  ")).toEqual([]);
});
