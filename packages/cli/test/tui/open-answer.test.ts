import { beforeAll, expect, test } from "bun:test";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { OpenAnswer } from "../../src/tui/block-writer.ts";
import { type BlockEnd, renderBlocks } from "../../src/tui/blocks/render-blocks.ts";
import { loadMarkdown } from "../../src/tui/markdown/render.ts";
import { cutFinished, findStableEnd } from "../../src/tui/markdown/stream.ts";
import { createTheme } from "../../src/tui/theme.ts";
import type { Block } from "../../src/tui/view.ts";
import { Chance } from "../support/chance.ts";
import { documentOfLines } from "../support/markdown-documents.ts";

const theme = createTheme({ color: false });

beforeAll(loadMarkdown);

type Answer = Extract<Block, { type: "answer" }>;
const answer = (markdown: string): Answer => ({ type: "answer", markdown });

/**
 * The answer as it streams in, a frame after each piece, in a terminal whose width `widthOf` returns; all
 * rows, and the most live ones.
 */
function stream(markdown: string, chance: Pick<Chance, "between">, widthOf: () => number) {
  const open = new OpenAnswer();
  const rows: string[] = [];
  let above: BlockEnd = "none";
  let rest = "";
  let mostLive = 0;
  let mostLiveChars = 0;
  const finish = (text: string, width: number) => {
    const blocks = open.finish([answer(text)], { width, theme });
    const placed = renderBlocks(blocks, { width, theme, now: 0, cwd: "/" }, above);
    above = placed.end;
    rows.push(...placed.lines);
  };
  for (let at = 0; at < markdown.length; ) {
    const width = widthOf();
    const piece = markdown.slice(at, at + chance.between(1, 30));
    at += piece.length;
    const cut = cutFinished(rest + piece);
    if (cut.finished !== "") finish(cut.finished, width);
    rest = cut.rest;
    const written = open.write(answer(rest), { width, rows: 24, theme });
    if (written.length > 0) {
      rows.push(...(above === "none" || above === "open" ? [] : [""]), ...written);
      above = "open";
    }
    const live = renderBlocks([open.show(answer(rest))], { width, theme, now: 0, cwd: "/" }, above).lines;
    mostLive = Math.max(mostLive, live.length);
    mostLiveChars = Math.max(mostLiveChars, live.join("").length);
  }
  finish(rest, widthOf());
  return { rows, mostLive, mostLiveChars };
}

const whole = (markdown: string, width: number) =>
  renderBlocks([answer(markdown)], { width, theme, now: 0, cwd: "/" }).lines;

/** Without blanks: they depend on what follows in a list, as do those before its numbers. */
const words = (rows: readonly string[]) => rows.join("").replace(/\s+/g, "");

const ITEMS = Array.from({ length: 60 }, (_, at) => `item ${at} ${"of the list ".repeat(at % 12)}.`);
const PROSE = ITEMS.map((item, at) => `${item} with \`code ${at}\` and **bold ${at}** in it`).join(" ");
const TEXTS = {
  "a long paragraph": ITEMS.join(" "),
  "a long paragraph with marks, and a list": `${PROSE}\n\n${ITEMS.map((item) => `- ${item}`).join("\n")}`,
  "a list": ITEMS.map((item) => `- ${item}`).join("\n"),
  "a loose list": ITEMS.map((item) => `- ${item}`).join("\n\n"),
  "a numbered list below a sentence": `These:\n${ITEMS.map((item, at) => `${at + 1}. ${item}`).join("\n")}`,
  "a list within a list": ITEMS.map((item, at) => `${at % 5 === 0 ? "" : "  "}- ${item}`).join("\n"),
  code: `\`\`\`ts\n${ITEMS.map((item, at) => `const a${at} = "${item}";${at % 7 === 0 ? "\n\n" : ""}`).join("\n")}\n\`\`\`\n`,
  "code below a sentence, and a list": `So:\n\`\`\`\n${ITEMS.join("\n")}\n\`\`\`\n${ITEMS.map((item) => `* ${item}`).join("\n")}`,
};

test.each(Object.entries(TEXTS))("%s is written while it streams, each row once", (_, markdown) => {
  for (let seed = 1; seed <= 2; seed++) {
    const { rows, mostLive } = stream(markdown, new Chance(seed), () => 80);
    expect(words(rows)).toBe(words(whole(markdown, 80)));
    expect(rows.filter((row) => row !== "").length).toBe(
      whole(markdown, 80).filter((row) => row !== "").length,
    );
    expect(mostLive).toBeLessThan(14);
  }
});

for (const seed of [1, 2, 3, 4])
  test.each(Object.entries(TEXTS))(
    `%s is written once even if the width changes repeatedly, seed ${seed}`,
    (_, markdown) => {
      const chance = new Chance(seed);
      const { rows } = stream(markdown, chance, () => chance.pick([24, 40, 80, 120]));
      expect(words(rows)).toBe(words(whole(markdown, 80)));
    },
  );

test("the live part of a paragraph on a wide screen fits on a narrow one, so that no resize repeats it", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const { rows, mostLiveChars } = stream(TEXTS["a long paragraph"], new Chance(seed), () => 200);
    expect(rows).toEqual(whole(TEXTS["a long paragraph"], 200));
    // 15 rows of 40 columns.
    expect(mostLiveChars).toBeLessThan(600);
  }
});

test("a sentence that ends in a number never becomes a list if a row begins with the number", () => {
  const markdown = Array.from({ length: 60 }, (_, at) => `Sentence ${at} of it ends with number ${at}.`).join(
    " ",
  );
  for (const width of [60, 97, 100])
    for (const length of [3, 300]) {
      const pieces = { between: () => length };
      expect(stream(markdown, pieces, () => width).rows).toEqual(whole(markdown, width));
    }
});

test("a list of tasks and plain items looks the same streamed and unstreamed", () => {
  const items = ITEMS.slice(0, 20).map(
    (item, at) => `${at % 4 === 3 ? "  " : ""}- ${["", "[ ] ", "[x] "][at % 3]}${item}`,
  );
  for (const markdown of [
    items.join("\n"),
    items.toReversed().join("\n"),
    `So:\n${items.join("\n")}\n\nDone.`,
  ])
    for (let seed = 1; seed <= 2; seed++)
      expect(stream(markdown, new Chance(seed), () => 60).rows).toEqual(whole(markdown, 60));
});

test("no part of any document is lost or duplicated", () => {
  for (let seed = 1; seed <= 1_500; seed++) {
    const chance = new Chance(seed);
    const markdown = documentOfLines(chance);
    const { rows } = stream(markdown, chance, () => 60);
    expect(words(rows), `seed ${seed}: ${JSON.stringify(markdown)}`).toBe(words(whole(markdown, 60)));
  }
});

test("a code block of a megabyte is written as it streams, at a constant cost", () => {
  const code = `\`\`\`\n${Array.from({ length: 4_000 }, (_, at) => `line ${at} of it`).join("\n")}\n\`\`\`\n`;
  const open = new OpenAnswer();
  const rows: string[] = [];
  const startedAt = performance.now();
  for (let at = 500; at <= code.length; at += 500)
    rows.push(...open.write(answer(code.slice(0, at)), { width: 80, rows: 24, theme }));
  const placed = renderBlocks(
    open.finish([answer(code)], { width: 80, theme }),
    { width: 80, theme, now: 0, cwd: "/" },
    "open",
  );
  expect([...rows, ...placed.lines]).toEqual(Array.from({ length: 4_000 }, (_, at) => `  line ${at} of it`));
  expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
});

test.each([
  ["code whose fence is open, up to its last line", "```ts\na\nb\n", "c"],
  ["a list before its last item", "- a\n- b\n", "- c"],
  ["no part of a paragraph", "", "a\nb\nc\n"],
  ["no part of a table", "", "|a|b|\n|-|-|\n|1|2|\n"],
  ["no part of code in an item", "- a\n", "- b\n  ```\n  - x\n  - y\n"],
  ["no number in a sentence", "", "It was in\n1984. A year\n"],
])("the stable part of an open answer is %s", (_, stable, rest) => {
  expect(findStableEnd(stable + rest)).toBe(stable.length);
});
