// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { beforeAll, expect, test } from "bun:test";
import { renderBlock, renderBlocks } from "../../../src/tui/blocks/render-blocks.ts";
import { loadMarkdown } from "../../../src/tui/markdown/render.ts";
import { visibleWidth } from "../../../src/tui/screen/screen-text.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import type { Block } from "../../../src/tui/view.ts";
import { Chance } from "../../support/chance.ts";
import { hostileDocument } from "../../support/hostile-documents.ts";
import { toolCall } from "../../support/tool-calls.ts";

const plain = createTheme({ color: false });
const colored = createTheme({ color: true });

beforeAll(loadMarkdown);

function render(block: Block, width = 30): string[] {
  return renderBlock(block, { width, theme: plain, now: 60_000 });
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");
}

test("the user's message is marked, wrapped and otherwise unchanged", () => {
  expect(render({ type: "prompt", text: "Fix **this**:\n\n\tand that, which is a longer line" })).toEqual([
    "> Fix **this**:",
    "",
    "      and that, which is a",
    "  longer line",
  ]);
});

test("a long prompt shows its beginning and its length", () => {
  const shown = ["> line 1", "  line 2", "  line 3", "  line 4", "  line 5", "  line 6"];
  expect(render({ type: "prompt", text: numbered(120) })).toEqual([...shown, "  [120 lines]"]);
  expect(render({ type: "prompt", text: numbered(12) })).toHaveLength(12);
  expect(render({ type: "prompt", text: "word ".repeat(1_000) }).slice(-2)).toEqual([
    "  word word word word word",
    "  [4,999 characters]",
  ]);
});

test("an answer is rendered as Markdown", () => {
  expect(render({ type: "answer", markdown: "- **a**\n" })).toEqual(["- a"]);
  expect(render({ type: "answer", markdown: "\n \n" })).toEqual([]);
});

test("thinking shows its last lines while it streams, then only its duration", () => {
  const text = `${numbered(50)}\n\nand then`;
  expect(render({ type: "thinking", text, startedAt: 0 })).toEqual([
    "line 48",
    "line 49",
    "line 50",
    "and then",
  ]);
  expect(render({ type: "thinking", text, startedAt: 0, endedAt: 12_300 })).toEqual(["Thought for 12 s"]);
  expect(render({ type: "thinking", text, startedAt: 0, endedAt: 3 })).toEqual(["Thought for 0.1 s"]);
  expect(render({ type: "thinking", text: "", startedAt: 0 })).toEqual([]);
});

test("notices show their level", () => {
  expect(render({ type: "notice", level: "info", text: "Context compacted" })).toEqual(["Context compacted"]);
  expect(render({ type: "notice", level: "warning", text: "the same result three times" })).toEqual([
    "warning: the same result three",
    "times",
  ]);
  expect(render({ type: "notice", level: "error", text: "no key\n" })).toEqual(["error: no key"]);
});

test("output of a slash command stays as it is, and long lines continue below", () => {
  expect(render({ type: "output", text: "\nModel\ta\n\n  tokens 1, tokens 2, tokens 33\n" })).toEqual([
    "Model   a",
    "",
    "  tokens 1, tokens 2, tokens",
    "    33",
  ]);
});

test("a resumed session shows how many messages are above", () => {
  const shown = ["… 1,042 messages above; /tree", "or diligent sessions show"];
  expect(render({ type: "resumed", hiddenMessages: 1_042 })).toEqual(shown);
});

test("a blank line separates blocks with content from each other and from what is above", () => {
  const blocks: Block[] = [
    { type: "prompt", text: "a" },
    { type: "thinking", text: " ", startedAt: 0 },
    { type: "answer", markdown: "b\n\nc" },
  ];
  const context = { width: 20, theme: plain, now: 0 };
  const shown = ["> a", "", "b", "", "c"];
  expect(renderBlocks(blocks, context)).toEqual({ lines: shown, end: "other" });
  expect(renderBlocks(blocks, context, "other")).toEqual({ lines: ["", ...shown], end: "other" });
  expect(renderBlocks([], context)).toEqual({ lines: [], end: "none" });
  expect(renderBlocks([], context, "call")).toEqual({ lines: [], end: "call" });
});

test("calls on one line stay together, others are separated", () => {
  const read: Block = {
    type: "tool",
    call: toolCall("read", { file_path: "a" }, { output: "1", metadata: {} }),
  };
  const bash: Block = { type: "tool", call: toolCall("bash", { command: "ls" }, { output: "a\n" }) };
  const context = { width: 20, theme: plain, now: 0 };
  expect(renderBlocks([read, read, bash, read, { type: "output", text: "b" }, read], context)).toEqual({
    lines: [
      ...["✓ read a", "✓ read a", "", "✓ bash ls", "  a", "", "✓ read a"],
      ...["", "b", "", "✓ read a"],
    ],
    end: "call",
  });
  expect(renderBlocks([read], context, "call").lines).toEqual(["✓ read a"]);
  expect(renderBlocks([bash], context, "call").lines).toEqual(["", "✓ bash ls", "  a"]);
});

test("blocks contain only text and our own styles, and fit the width, whatever they are given", () => {
  for (let seed = 1; seed <= 1_500; seed++) {
    const chance = new Chance(seed);
    const text = hostileDocument(chance);
    const block = chance.pick<Block>([
      { type: "prompt", text },
      { type: "thinking", text, startedAt: 0 },
      { type: "notice", level: chance.pick(["info", "warning", "error"]), text },
      { type: "output", text },
    ]);
    const width = chance.between(20, 60);
    const theme = chance.pick([plain, colored]);
    for (const line of renderBlock(block, { width, theme, now: 0 })) {
      const shown = theme.isColored ? line.replace(/\x1b\[[\d;]*m/g, "") : line;
      const controls = shown.match(/[\x00-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]/g);
      expect([controls, visibleWidth(line) > width], `seed ${seed}: ${JSON.stringify(block)}`).toEqual([
        null,
        false,
      ]);
    }
  }
});

test("the first line shows what is running here and where, as one dim line that a narrow screen wraps", () => {
  const block: Block = {
    type: "opening",
    version: "0.1.0",
    model: "claude-opus-5",
    cwd: "/home/somebody/work/shop",
    isSandboxed: true,
  };
  const context = { width: 200, theme: createTheme({ color: true }), now: 0, cwd: "/" };
  const whole = "diligent 0.1.0 · claude-opus-5 · /home/somebody/work/shop · sandbox on · / for commands";
  expect(renderBlock(block, context)).toEqual([`\x1b[2m${whole}\x1b[22m`]);
  expect(render({ ...block, isSandboxed: false }, 80)).toEqual([
    "diligent 0.1.0 · claude-opus-5 · shop · no sandbox · / for commands",
  ]);
  expect(render(block, 40)).toEqual(["diligent 0.1.0 · claude-opus-5 · shop", "sandbox on · / for commands"]);
  expect(render({ ...block, model: "a-rather-long-server/vendor/model-1" }, 62)).toEqual([
    "diligent 0.1.0 · model-1 · shop · sandbox on · / for commands",
  ]);
});
