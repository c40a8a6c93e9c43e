import { expect, test } from "bun:test";
import { join } from "node:path";
import { HIGHLIGHTED_LANGUAGES } from "../../../src/tui/markdown/renderer.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "support", "render-in-color.ts");

interface Rendered {
  before: string[][];
  lines: string[][];
}

/** Renders in a process whose output has colours. Nothing may be written to stderr. */
async function renderInColor(texts: readonly string[]): Promise<Rendered> {
  const child = Bun.spawn([process.execPath, SCRIPT], {
    stdin: new Blob([JSON.stringify(texts)]),
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env.PATH, FORCE_COLOR: "1" },
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(errors).toBe("");
  return JSON.parse(output);
}

test("sentences are styled, and code is highlighted for its language", async () => {
  const { lines } = await renderInColor([
    "# One\n\n## Two **bold**",
    "**a** *b* ~~c~~ `d:e` [f](http://g)",
    '```ts\n// a\nconst b = "c";\n/* d\ne */\n```\n',
    "```\nconst a = 1;\n```",
    "```klingon\nconst a = 1;\n```",
    "1. a\n2. `b`",
  ]);
  expect(lines).toEqual([
    ["\x1b[1m\x1b[4mOne\x1b[24m\x1b[22m", "", "\x1b[1mTwo \x1b[1mbold\x1b[22m\x1b[1m\x1b[22m"],
    [
      "\x1b[1ma\x1b[22m \x1b[3mb\x1b[23m \x1b[9mc\x1b[29m \x1b[35md:e\x1b[39m \x1b[4mf\x1b[24m (\x1b[2mhttp://g\x1b[22m)",
    ],
    [
      "  \x1b[2m// a\x1b[22m",
      '  \x1b[35mconst\x1b[39m b = \x1b[32m"c"\x1b[39m;',
      "  \x1b[2m/* d\x1b[22m",
      "  \x1b[2me */\x1b[22m",
    ],
    ["  const a = 1;"],
    ["  const a = 1;"],
    ["1. a", "2. \x1b[35mb\x1b[39m"],
  ]);
});

test("code whose fence is still open is highlighted line by line", async () => {
  const { lines } = await renderInColor(["```ts\n/* a\nconst b", "```ts\n/* a\nconst b\n```"]);
  expect(lines).toEqual([
    ["  \x1b[2m/* a\x1b[22m", "  \x1b[35mconst\x1b[39m b"],
    ["  \x1b[2m/* a\x1b[22m", "  \x1b[2mconst b\x1b[22m"],
  ]);
});

test("the highlighter knows every listed language, and no code is lost", async () => {
  const code = 'a < b && "c" // <i>&amp;</i>\n# \'d\' /* e */\n\n{ f: 1 } <g h="i"/> $j `k` \\n\n';
  const { lines } = await renderInColor(
    [...HIGHLIGHTED_LANGUAGES].map((name) => `\`\`\`${name}\n${code}\`\`\``),
  );
  const plain = lines.map((part) => Bun.stripANSI(part.join("\n")));
  const indented = code
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`))
    .join("\n");
  expect(new Set(plain)).toEqual(new Set([indented]));
});

test("before the libraries are loaded, Markdown is shown as text, wrapped and safe", async () => {
  const { before } = await renderInColor([
    "\n# One\n\n- **a** \x1b[31m and a line that is longer than it is wide\n",
  ]);
  expect(before).toEqual([["# One", "", "- **a** \\x1b[31m and a line that is", "longer than it is wide"]]);
});
