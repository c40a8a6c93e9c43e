import { expect, test } from "bun:test";
import { LineStyle, readTokens, toScreenLine } from "../../src/tui/screen/line.ts";
import { Chance } from "../support/chance.ts";

test.each([
  ["a style that continues after a blank", "\x1b[35ma\x1b[39m \x1b[35mb\x1b[39m", "\x1b[35ma b\x1b[m"],
  ["two styles side by side", "\x1b[2ma\x1b[22m\x1b[1mb\x1b[22m", "\x1b[2ma\x1b[0;1mb\x1b[m"],
  ["one more attribute", "\x1b[1ma\x1b[31mb\x1b[0m", "\x1b[1ma\x1b[31mb\x1b[m"],
  ["another colour", "\x1b[31ma\x1b[39m\x1b[32mb\x1b[39m", "\x1b[31ma\x1b[32mb\x1b[m"],
  ["the background of a blank", "\x1b[41ma\x1b[49m b", "\x1b[41ma\x1b[m b"],
  ["a blank that is underlined", "a\x1b[4m \x1b[24mb", "a\x1b[4m \x1b[mb"],
  ["an unused style", "a\x1b[31m\x1b[39mb", "ab"],
  ["blanks at the end that only have a colour", "\x1b[31mab  \x1b[39m  ", "\x1b[31mab\x1b[m"],
])("%s takes the fewest possible bytes", (_, raw, text) => {
  expect(toScreenLine(raw).text).toBe(text);
});

const PIECES: [string, ...string[]] = ["a", "bc", " ", "  ", "漢", "\x1b[m", "\x1b[0m"];
const CODES = [
  1,
  2,
  3,
  4,
  7,
  9,
  22,
  23,
  24,
  27,
  29,
  31,
  32,
  39,
  41,
  49,
  53,
  55,
  "38;5;9",
  "48;2;1;2;3",
  "1;31",
];
const LINKS = ["\x1b]8;;http://a\x1b\\", "\x1b]8;;http://b\x07", "\x1b]8;;\x1b\\"];

const SEQUENCES = [...LINKS, ...CODES.map((code) => `\x1b[${code}m`)];
const PARTS: [string, ...string[]] = [...PIECES, ...PIECES, ...SEQUENCES];

/** Each visible character with its style; for blanks only what is visible on them. */
function cellsOf(line: string): string[] {
  const style = new LineStyle();
  const cells: string[] = [];
  for (const token of readTokens(line)) {
    if (token.kind === "style") style.apply(token.text);
    else for (const character of token.text) cells.push(cellOf(character, style));
  }
  return cells.slice(0, cells.findLastIndex((cell) => cell !== " ") + 1);
}

function cellOf(character: string, style: LineStyle): string {
  if (character === " " && !style.isSeenOnBlanks) return " ";
  // The order of the attributes makes no difference.
  return character + [...style.opening()].sort().join("");
}

test("lines with random styles look as requested", () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const chance = new Chance(seed);
    const raw = Array.from({ length: chance.between(1, 14) }, () => chance.pick(PARTS)).join("");
    const { text, columns } = toScreenLine(raw);
    expect(cellsOf(text), JSON.stringify(raw)).toEqual(cellsOf(raw));
    expect(columns, JSON.stringify(raw)).toBe(Bun.stringWidth(text));
  }
});
