import { describe, expect, test } from "bun:test";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import { BUSY_MS } from "../../../../core/test/support/busy-machine.ts";
import { readTokens, toScreenLine } from "../../../src/tui/screen/line.ts";
import {
  fitLine,
  padLine,
  TAB_COLUMNS,
  visibleWidth,
  wrapText,
} from "../../../src/tui/screen/screen-text.ts";
import { Chance } from "../../support/chance.ts";

const BOLD = "\x1b[1m";
const RED = "\x1b[31m";
const RESET = "\x1b[m";
const LINK = "\x1b]8;;https://example.com\x1b\\";
const LINK_END = "\x1b]8;;\x1b\\";
const CURSOR = "\x1b_pi:c\x07";

describe("visibleWidth()", () => {
  test.each([
    ["plain", 5],
    ["", 0],
    ["漢字", 4],
    ["한글", 4],
    ["ｱｲ", 2],
    ["😀", 2],
    ["👨‍👩‍👧‍👦", 2],
    ["👍🏽", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["e\u0301", 1],
    ["a\u0308\u0323", 1],
    ["مرحبا", 5],
    ["שָׁלוֹם", 4],
    ["नि", 2],
    ["กำ", 2],
    ["─│•…", 4],
    ["⠋", 1],
    [`${BOLD}${RED}ab${RESET}`, 2],
    [`${LINK}ab${LINK_END}`, 2],
    [`ab${CURSOR}cd`, 4],
    ["a\tb", 2 + TAB_COLUMNS],
  ])("of %j is %i", (text, columns) => {
    expect(visibleWidth(text)).toBe(columns);
  });

  test("of a text is the sum of its characters' widths", () => {
    const pieces = [
      "a",
      "漢",
      "😀",
      "e\u0301",
      "नि",
      "\t",
      " ",
      BOLD,
      RESET,
      "é",
      "👨‍👩‍👧‍👦",
      "x",
      "—",
      "🇩🇪",
      // Half of a Korean syllable, with nothing before it.
      "\u1161",
      CURSOR,
    ] as const;
    const chance = new Chance(1);
    for (let count = 0; count < 300; count++) {
      const text = Array.from({ length: chance.between(0, 30) }, () => chance.pick(pieces)).join("");
      const columns = [...readTokens(text)].reduce((sum, token) => sum + token.columns, 0);
      expect(columns, JSON.stringify(text)).toBe(visibleWidth(text));
    }
  });
});

describe("fitLine()", () => {
  test("returns a line that fits unchanged", () => {
    for (const line of ["", "abc", "漢字x", `${BOLD}abcde${RESET}`, `${LINK}abcde${LINK_END}`])
      expect(fitLine(line, 5)).toBe(line);
  });

  test.each([
    ["abcdef", "abcd…"],
    ["漢字漢", "漢字…"],
    ["a漢字漢", "a漢…"],
    ["e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301e\u0301…"],
    ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦…"],
    [`${RED}abcdef`, `${RED}abcd…${RESET}`],
    [`${BOLD}ab${RESET}cdef`, `${BOLD}ab${RESET}cd…`],
    [`${BOLD}ab\x1b[22mcdef`, `${BOLD}ab\x1b[22mcd…`],
    [`${LINK}abcdef${LINK_END}`, `${LINK}abcd…${LINK_END}`],
    ["\x1b[38;2;1;2;3mabcdef\x1b[39m", "\x1b[38;2;1;2;3mabcd…\x1b[m"],
  ])("cuts %j and closes what is open", (line, cut) => {
    expect(fitLine(line, 5)).toBe(cut);
  });

  test("never exceeds its width, however small", () => {
    for (const line of ["abcdef", "漢字漢字", `${RED}abc漢字${RESET}`, "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "\t\t\t"])
      for (let width = 0; width < 8; width++)
        expect(visibleWidth(fitLine(line, width))).toBeLessThanOrEqual(width);
  });

  test("reads no more of a huge line than fits", () => {
    const startedAt = performance.now();
    expect(fitLine("é".repeat(3_000_000), 80)).toBe(`${"é".repeat(79)}…`);
    expect(performance.now() - startedAt).toBeLessThan(200 + BUSY_MS);
  });
});

test("padLine() pads a line to exactly its width, in the style it ends with", () => {
  expect(padLine("ab", 5)).toBe("ab   ");
  expect(padLine("漢", 5)).toBe("漢   ");
  expect(padLine("abcdef", 5)).toBe("abcd…");
  expect(padLine("\x1b[41mab", 4)).toBe("\x1b[41mab  ");
});

describe("wrapText()", () => {
  test.each([
    ["the quick brown fox", 10, ["the quick", "brown fox"]],
    ["    indented code that is long", 12, ["    indented", "code that is", "long"]],
    ["a\n\nb\r\nc", 10, ["a", "", "b", "c"]],
    ["", 10, [""]],
    ["x".repeat(25), 10, ["x".repeat(10), "x".repeat(10), "x".repeat(5)]],
    ["one 漢字漢字漢字 two", 10, ["one 漢字漢", "字漢字 two"]],
    ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 5, ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"]],
    ["e\u0301".repeat(7), 5, ["e\u0301".repeat(5), "e\u0301".repeat(2)]],
    ["שלום עולם טוב", 9, ["שלום עולם", "טוב"]],
  ])("breaks %j at %i columns", (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  test("gives each line its styles and links, and ends them", () => {
    expect(wrapText(`${BOLD}${RED}one two${RESET} three`, 5)).toEqual([
      `${BOLD}${RED}one${RESET}`,
      "\x1b[1;31mtwo\x1b[m",
      "three",
    ]);
    const lines = wrapText(`${LINK}one two${LINK_END} three`, 5);
    expect(lines.map((line) => Bun.stripANSI(line))).toEqual(["one", "two", "three"]);
    for (const line of lines.slice(0, 2))
      expect([line.startsWith(LINK), line.endsWith(LINK_END)]).toEqual([true, true]);
  });
});

describe("a line for the screen", () => {
  test("has no invisible blanks at its end", () => {
    expect(toScreenLine("abc   ").text).toBe("abc");
    expect(toScreenLine(`${BOLD}abc${RESET}   `).text).toBe(`${BOLD}abc${RESET}`);
    expect(toScreenLine("\x1b[41mabc  ").text).toBe("\x1b[41mabc  \x1b[m");
    expect(toScreenLine("abc\u3000").columns).toBe(5);
  });

  test("knows the cursor position, never outside the terminal", () => {
    expect(toScreenLine(`漢字${CURSOR} `).cursorColumn).toBe(4);
    expect(toScreenLine(`abcde${CURSOR}`, 5)).toMatchObject({ text: "abcde", cursorColumn: 4 });
    expect(toScreenLine(`abcdefgh${CURSOR}`, 5)).toMatchObject({ text: "abcd…", cursorColumn: 4 });
  });

  test("knows whether terminals agree on its columns", () => {
    for (const text of ["plain", "naïve — ✓ “quoted” … • ─", "漢字かな한글", `${RED}red${RESET}`, "⠋ 12 %"])
      expect(toScreenLine(text).isSettled, text).toBe(true);
    for (const text of ["😀", "❤️", "e\u0301", "🇩🇪", "नि", "👨‍👩‍👧‍👦"])
      expect(toScreenLine(text).isSettled, text).toBe(false);
  });
});

test("wrapText() breaks printable ASCII as pi-tui does", () => {
  const chance = new Chance(7);
  const pieces: readonly [string, ...string[]] = [
    " ",
    "  ",
    "\n",
    "a",
    "word",
    "(b)",
    "x".repeat(30),
    " ".repeat(20),
  ];
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: 200 }, () => chance.pick(pieces)).join("");
    const width = chance.between(1, 40);
    expect(wrapText(text, width)).toEqual(wrapTextWithAnsi(text, width));
  }
});
