import { beforeAll, expect, test } from "bun:test";
import { loadMarkdown, renderMarkdown } from "../../../src/tui/markdown/render.ts";
import { cutFinished } from "../../../src/tui/markdown/stream.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { Chance } from "../../support/chance.ts";
import { documentOfLines, documentOfPieces } from "../../support/markdown-documents.ts";

const theme = createTheme({ color: false });

beforeAll(loadMarkdown);

/** The document as it is cut when it arrives in pieces of random length. */
function stream(document: string, chance: Chance): string[] {
  const parts: string[] = [];
  let open = "";
  for (let at = 0; at < document.length; ) {
    const piece = document.slice(at, at + chance.between(1, chance.pick([1, 3, 8, 30])));
    at += piece.length;
    open += piece;
    if (!piece.includes("\n")) continue;
    const { finished, rest } = cutFinished(open);
    expect(finished + rest).toBe(open);
    if (finished !== "") parts.push(finished);
    open = rest;
  }
  return [...parts, open];
}

function renderParts(parts: readonly string[], width: number): string[] {
  const rendered = parts.map((part) => renderMarkdown(part, { width, theme }));
  return rendered.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, ""]);
}

for (const [name, makeDocument, count] of [
  ["lines", documentOfLines, 1_500],
  ["characters", documentOfPieces, 2_000],
] as const) {
  test(`the parts of a streamed document of random ${name} render like the whole`, () => {
    let cuts = 0;
    for (let seed = 1; seed <= count; seed++) {
      const chance = new Chance(seed);
      const document = makeDocument(chance);
      const width = chance.pick([20, 40, 80]);
      const parts = stream(document, chance);
      cuts += parts.length - 1;
      expect(renderParts(parts, width), `seed ${seed}: ${JSON.stringify(parts)}`).toEqual(
        renderParts([document], width),
      );
    }
    expect(cuts).toBeGreaterThan(count / 5);
  });
}

test.each([
  ["a paragraph followed by a blank line", "one\n\n", ""],
  ["a heading", "# one\n", ""],
  ["the text before an open block", "one\n\n- a\n\nthree\n\n", ""],
  ["a closed fence", "```ts\nconst a = 1;\n\n```\n", ""],
  ["a table followed by a blank line", "|a|b|\n|-|-|\n|1|2|\n\n", ""],
  ["a quote followed by a blank line", "> one\n> two\n\n", ""],
  ["a list followed by text", "1. a\n\n   more\n2. b\n\ntext\n\n", ""],
  ["definitions followed by text", "[1]: http://a\n[2]: http://b\ntext\n\n", ""],
  ["lines that end with CRLF", "one\r\n\r\n", "two\r\n"],
])("cutFinished() finds a finished block: %s", (_, finished, rest) => {
  expect(cutFinished(finished + rest)).toEqual({ finished, rest });
});

test.each([
  ["a paragraph not followed by a blank line", "one\n"],
  ["a line that has not ended", "# one"],
  ["a list, which may continue after a blank line", "1. a\n2. b\n\n"],
  ["a list whose last item holds a closed fence", "- a\n  ```\n  x\n  ```\n\n"],
  ["an open fence with blank lines", "```ts\na\n\n# b\n\n"],
  ["a fence within a longer one", "````\n```\n\n```\n"],
  ["a table that may get another row", "|a|b|\n|-|-|\n|1|2|\n"],
  ["a paragraph whose next line makes a table", "a\n|x|y|\n"],
  ["indented code", "    a\n\n"],
  ["HTML without its end", "<!-- a\n\nb\n\n"],
  ["blank lines", "\n\n"],
  ["nothing", ""],
])("cutFinished() finds the block still open: %s", (_, rest) => {
  expect(cutFinished(rest)).toEqual({ finished: "", rest });
});

test.each([
  ["a table below a paragraph that the next line turns into a heading", "a\n[b[\n-:\n-\nc\n"],
  ["a list below a paragraph that the next line turns into a heading", "a\n+\tb\nc\n=\n\nd"],
  ["a list that the next lines turn into a rejected table", "?>\n1.\n-|-\n2. two\nb\n* c\n"],
  ["an item before a line of blanks other than spaces", "2. a\n\n- b\nc\n\u00a0\n- 1. d\n"],
  ["a fence followed by a tab, which closes nothing", "```\na\n```\t\n```b\n=\n"],
  ["a definition whose title begins on the next line", '[a]: /b\n"c\n\nd"\n\ne'],
  ["numbers that are all 1", "1. a\n1. b\n\n1. c\n\ntext\n\n1. d\n"],
  ["a label whose definition comes last", "See [the docs][1].\n\nMore.\n\n[1]: http://a\n"],
])("the parts cut line by line render like the whole: %s", (_, document) => {
  const parts: string[] = [];
  let open = "";
  for (const line of document.split(/(?<=\n)/)) {
    const { finished, rest } = cutFinished(open + line);
    parts.push(finished);
    open = rest;
  }
  expect(renderParts([...parts, open], 80)).toEqual(renderParts([document], 80));
});

test("text that marked cannot parse stays open", () => {
  const nested = `${"> ".repeat(5_000)}a\n\nb\n\n`;
  const { finished, rest } = cutFinished(nested);
  expect(finished + rest).toBe(nested);
});
