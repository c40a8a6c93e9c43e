// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { beforeAll, describe, expect, test } from "bun:test";
import { loadMarkdown, renderMarkdown } from "../../../src/tui/markdown/render.ts";
import { visibleWidth } from "../../../src/tui/screen/screen-text.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { Chance } from "../../support/chance.ts";
import { hostileDocument } from "../../support/hostile-documents.ts";
import { documentOfLines } from "../../support/markdown-documents.ts";

const plain = createTheme({ color: false });
const colored = createTheme({ color: true });

beforeAll(loadMarkdown);

function render(markdown: string, width = 40): string[] {
  return renderMarkdown(markdown, { width, theme: plain });
}

describe("Markdown blocks", () => {
  test("a heading without colours keeps its signs", () => {
    expect(render("# One\n## Two\ntext")).toEqual(["# One", "", "## Two", "", "text"]);
  });

  test("a paragraph is wrapped to the width, and its hard line breaks stay", () => {
    expect(render("one\ntwo three  \nfour<br>five\\\nsix", 20)).toEqual([
      "one two three",
      "four",
      "five",
      "six",
    ]);
  });

  test("a tight list shows styled sentences, with nested lists indented", () => {
    expect(render("- **a** and `b`\n  - c: d\n    1. e\n- f")).toEqual([
      "- a and `b`",
      "  - c: d",
      "    1. e",
      "- f",
    ]);
  });

  test("the items of a loose list are separated, with all their blocks", () => {
    expect(render("1. a\n\n   b\n\n   ```\n   c\n   ```\n2. d")).toEqual([
      "1. a",
      "",
      "   b",
      "",
      "     c",
      "",
      "2. d",
    ]);
  });

  test("numbers count up from the first and are aligned", () => {
    expect(render("9. a\n9. b")).toEqual([" 9. a", "10. b"]);
  });

  test("a task has one checkbox", () => {
    expect(render("- [ ] a\n- [x] b\n\n- [X] c")).toEqual(["- [ ] a", "", "- [x] b", "", "- [x] c"]);
  });

  test("tasks and plain items of one list have their marks in one column, at every depth", () => {
    expect(render("- plain\n- [ ] open\n  - [x] inner\n  - inner plain\n- plain")).toEqual([
      "- plain",
      "- [ ] open",
      "      - [x] inner",
      "      - inner plain",
      "- plain",
    ]);
    expect(render("9. plain\n10. [x] done\n11. plain")).toEqual([" 9. plain", "10. [x] done", "11. plain"]);
  });

  test("items continue below their text", () => {
    expect(render("- a rather long item that is wrapped\n  - and another one that is wrapped", 20)).toEqual([
      "- a rather long item",
      "  that is wrapped",
      "  - and another one",
      "    that is wrapped",
    ]);
  });

  test("text in a deep list never becomes too narrow to read", () => {
    const deep = Array.from({ length: 12 }, (_, level) => `${"  ".repeat(level)}- item ${level}\n`).join("");
    const lines = render(deep, 20);
    expect(lines.filter((line) => visibleWidth(line) > 20)).toEqual([]);
    expect(lines.slice(-2)).toEqual(["          -", "          item 11"]);
  });

  test("code keeps its indentation and blank lines, tabs become spaces, long lines continue below", () => {
    expect(render("```\nif (a) {\n\n\treturn a + b + c + d;\n}\n```", 22)).toEqual([
      "  if (a) {",
      "",
      "      return a + b +",
      "        c + d;",
      "  }",
    ]);
  });

  test("a quote is marked at each of its lines", () => {
    expect(render("> a\n>\n> - b\n> > c")).toEqual(["│ a", "│", "│ - b", "│", "│ │ c"]);
  });

  test("HTML is shown as it is written", () => {
    expect(render("<details>\n<summary>a</summary>\n</details>\n\n<b>c</b>")).toEqual([
      "<details>",
      "<summary>a</summary>",
      "</details>",
      "",
      "<b>c</b>",
    ]);
  });

  test("a line is as wide as the text", () => {
    expect(render("a\n\n---\n\nb", 20)).toEqual(["a", "", "─".repeat(20), "", "b"]);
  });
});

describe("Markdown tables", () => {
  const table = "| a | b | c |\n|---|--:|:-:|\n| 日本 | `x` | y\\|z |\n| **d** |\n";

  test("have aligned columns, counting wide characters", () => {
    expect(render(table)).toEqual([
      "a    │   b │  c",
      "─────┼─────┼────",
      "日本 │ `x` │ y|z",
      "d    │     │",
    ]);
  });

  test("have their widest columns narrowed and wrapped, with rows then separated", () => {
    const wide = "| name | text |\n|-|-|\n| a | one two three four five six |\n| b | seven |\n";
    expect(render(wide, 22)).toEqual([
      "name │ text",
      "─────┼────────────────",
      "a    │ one two three",
      "     │ four five six",
      "─────┼────────────────",
      "b    │ seven",
    ]);
  });

  test("become lists if the columns would be too narrow", () => {
    const cells = ["alpha one", "beta two", "gamma three", "delta four"];
    const row = (values: readonly string[]) => `| ${values.join(" | ")} |\n`;
    expect(
      render(row(cells) + row(["-", "-", "-", "-"]) + row(["first cell", "second cell", "3", "4"]), 20),
    ).toEqual([
      "alpha one: first",
      "  cell",
      "beta two: second",
      "  cell",
      "gamma three: 3",
      "delta four: 4",
    ]);
  });
});

describe("Markdown sentences", () => {
  test("show where a link leads, unless its text does", () => {
    expect(
      render("[a](http://b/c) <http://d> http://e.f www.g.h i@j.k [http://l.m](http://l.m) [](n)", 200),
    ).toEqual(["a (http://b/c) http://d http://e.f http://www.g.h i@j.k http://l.m n"]);
  });

  test("show the real target of a link that pretends to lead elsewhere", () => {
    expect(render("[http://good.com](http://evil.com)")).toEqual(["http://good.com (http://evil.com)"]);
  });

  test("leave a link by label and its definition as they are written", () => {
    expect(render('See [the docs][1].\n\n[1]: http://a.b "Title"\n[2]: http://c')).toEqual([
      "See [the docs][1].",
      "",
      '[1]: http://a.b "Title"',
      "[2]: http://c",
    ]);
  });

  test("name an image", () => {
    expect(render("![a *b*](c.png) ![](d.png)")).toEqual(["[image: a *b*] (c.png) [image] (d.png)"]);
  });

  test("replace character references once, and not in code", () => {
    expect(render("&lt;b&gt; &amp;lt; &#65;&#x42; &nope; \\&lt; `&lt;`", 80)).toEqual([
      "<b> &lt; AB &nope; &lt; `&lt;`",
    ]);
  });

  test("leave colons, stars and emoji names unchanged", () => {
    expect(render(":smile: *#COLON|* ^*||*^ a:b `c:d` 2 * 3 * 4", 80)).toEqual([
      ":smile: #COLON| ^||^ a:b `c:d` 2 * 3 * 4",
    ]);
  });
});

describe("Markdown from outside", () => {
  test("shows control sequences as escapes, even those written as references", () => {
    expect(
      render("a \x1b[31mb\x9b2J &#27;]0;c&#7; [d](http://e\x07f) `\x1bc`\n\n```\n\x1b[2J\r\n```", 200),
    ).toEqual(["a \\x1b[31mb\\x9b2J \\x1b]0;c\\x07 d (http://e\\x07f) `\\x1bc`", "", "  \\x1b[2J"]);
  });

  test("renders to lines with only text and our own styles that fit the width, whatever it contains", () => {
    for (let seed = 1; seed <= 3_000; seed++) {
      const chance = new Chance(seed);
      const document = hostileDocument(chance);
      const width = chance.between(20, chance.pick([20, 40, 120]));
      const theme = chance.pick([plain, colored]);
      for (const line of renderMarkdown(document, { width, theme })) {
        const text = theme.isColored ? line.replace(/\x1b\[[\d;]*m/g, "") : line;
        const controls = text.match(/[\x00-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]/g);
        expect([controls, visibleWidth(line) > width], `seed ${seed}: ${JSON.stringify(document)}`).toEqual([
          null,
          false,
        ]);
      }
    }
  });

  test("renders every word of a document", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const document = documentOfLines(new Chance(seed)).replace(/\[x\]: http:\/\/u/g, "[x]:  http://u");
      const shown = render(document, 200).join(" ");
      const words = document.match(/[a-z]{4,}/g) ?? [];
      expect(
        words.filter((word) => !shown.includes(word)),
        `seed ${seed}: ${JSON.stringify(document)}`,
      ).toEqual([]);
    }
  });

  test("is shown as text if marked cannot parse it", () => {
    const nested = `${">".repeat(4_000)} deep`;
    expect(render(nested, 80).join("")).toContain("deep");
  });
});
