// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { describe, expect, test } from "bun:test";
import { fullText, renderToolCall } from "../../../src/tui/blocks/tool-renderers.ts";
import { visibleWidth } from "../../../src/tui/screen/screen-text.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { Chance } from "../../support/chance.ts";
import { hostileDocument } from "../../support/hostile-documents.ts";
import { toolCall } from "../../support/tool-calls.ts";

const plain = createTheme({ color: false });
const colored = createTheme({ color: true });

type Call = Parameters<typeof renderToolCall>[0];

function render(call: Call, { width = 60, now = 0, cwd = "/home/u/shop" } = {}): string[] {
  return renderToolCall(call, { width, theme: plain, now, cwd });
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");
}

describe("a tool call", () => {
  test("of an unknown tool shows its main argument and its first lines", () => {
    expect(render(toolCall("weather", { city: "Rome", days: 2 }, { output: `${numbered(7)}\n` }))).toEqual([
      '✓ weather {"city":"Rome","days":2}',
      ...["line 1", "line 2", "line 3", "line 4", "line 5"].map((line) => `  ${line}`),
      "  … 2 more lines",
    ]);
    expect(render(toolCall("fetch", { url: "http://a" }, { output: "" }))).toEqual(["✓ fetch http://a"]);
    expect(render(toolCall("now", {}))).toEqual(["• now"]);
  });

  test("that failed shows the first lines of the error, wrapped", () => {
    const output = `There is no file a.ts. Did you mean b.ts?\n\n${numbered(9)}`;
    expect(render(toolCall("edit", { file_path: "a.ts" }, { output, isError: true }), { width: 30 })).toEqual(
      [
        "✗ edit a.ts · failed",
        "  There is no file a.ts. Did",
        "    you mean b.ts?",
        "  line 1",
        "  line 2",
        "  line 3",
        "  line 4",
        "  … 5 more lines",
      ],
    );
  });

  test.each([
    ["rejected", "rejected"],
    ["skipped", "not run"],
    ["interrupted", "interrupted"],
    ["failed", "failed"],
    [undefined, "failed"],
  ] as const)("that was not carried out says so by its outcome, not by its text: %s", (outcome, state) => {
    for (const output of ["Refused: connection to db:5432", "Not run: 3 tests", "The user said no"]) {
      const result = { output, isError: true, ...(outcome && { outcome }) };
      expect(render(toolCall("write", { file_path: "a" }, result), { width: 100 })).toEqual([
        `✗ write a · ${state}`,
        `  ${output}`,
      ]);
    }
  });

  test("with invalid arguments shows them as they came", () => {
    expect(render(toolCall("bash", '{"command": "a'))).toEqual(['• bash {"command": "a']);
    expect(render(toolCall("read", null))).toEqual(["• read ?"]);
    expect(render(toolCall("grep", ["a"]))).toEqual(["• grep ?"]);
  });

  test("renders to lines with only text and our own styles that fit the width, whatever it contains", () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const chance = new Chance(seed);
      const text = () => hostileDocument(chance);
      const name = chance.pick([
        "read",
        "edit",
        "write",
        "bash",
        "grep",
        "glob",
        "ls",
        "add_knowledge",
        text(),
      ]);
      const input = {
        command: text(),
        file_path: text(),
        pattern: text(),
        path: text(),
        content: text(),
        type: text(),
      };
      const metadata = {
        diff: `@@ -1,9 +1,9 @@\n-${text()}\n+${text()}\n ${text()}`,
        count: 3,
        signal: text(),
        added: 1,
        removed: 1,
      };
      const result = { output: text(), isError: chance.next() < 0.4, metadata };
      const call = { ...toolCall(name, input, chance.next() < 0.7 ? result : undefined), partial: text() };
      const width = chance.between(20, 60);
      const theme = chance.pick([plain, colored]);
      const safe = [...renderToolCall(call, { width, theme, now: 5_000 }), ...fullText(call).split("\n")];
      for (const line of safe.slice(0, -fullText(call).split("\n").length)) {
        expect(visibleWidth(line), `seed ${seed}`).toBeLessThanOrEqual(width);
      }
      for (const line of safe) {
        const shown = theme.isColored ? line.replace(/\x1b\[[\d;]*m/g, "") : line;
        const controls = shown.match(/[\x00-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]/g);
        expect(controls, `seed ${seed}: ${JSON.stringify(line)}`).toBeNull();
      }
    }
  });
});

describe("the full text of a tool call", () => {
  test("contains a command and all of its output", () => {
    const call = toolCall("bash", { command: "a\nb" }, { output: `${numbered(50)}\n\x1b[1m` });
    expect(fullText(call)).toBe(`bash\n\n$ a\nb\n\n${numbered(50)}\n\\x1b[1m\n`);
  });

  test("contains a complete diff", () => {
    const diff = `--- a\n+++ a\n@@ -1,0 +1,90 @@\n${numbered(90).replace(/^/gm, "+")}\n`;
    const call = toolCall("edit", { file_path: "a" }, { output: "Edited a.", metadata: { diff } });
    expect(fullText(call)).toBe(`edit\n\n${diff}\nEdited a.\n`);
  });

  test("contains the arguments of any other tool, and the current output of a running one", () => {
    expect(fullText({ ...toolCall("weather", { city: "Rome" }), partial: "sunny" })).toBe(
      'weather\n\n{\n  "city": "Rome"\n}\n\nsunny\n',
    );
  });
});
