// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { expect, test } from "bun:test";
import { createTheme } from "../../src/tui/theme.ts";

test("without colours every style leaves the text unchanged", () => {
  const { isColored, ...styles } = createTheme({ color: false });
  const painted = Object.values(styles).map((style) => style("a\nb"));
  expect(isColored).toBe(false);
  expect(new Set(painted)).toEqual(new Set(["a\nb"]));
});

test("with colours every style changes only the style, with the terminal's own colours", () => {
  const { isColored, ...styles } = createTheme({ color: true });
  expect(isColored).toBe(true);
  for (const [name, style] of Object.entries(styles)) {
    const painted = style("text");
    expect([name, Bun.stripANSI(painted)]).toEqual([name, "text"]);
    // Attributes and the eight colours with their defaults: none of our own colours, and none of the bright
    // ones.
    expect([name, painted.replace(/\x1b\[(?:[1-9]|2[2-9]|3[0-79])m/g, "")]).toEqual([name, "text"]);
    expect(painted).not.toBe("text");
  }
});

test("a style continues after another one inside it", () => {
  const { dim, bold, error } = createTheme({ color: true });
  expect(dim(`a ${bold("b")} c`)).toBe("\x1b[2ma \x1b[1mb\x1b[22m\x1b[2m c\x1b[22m");
  expect(error("a\nb")).toBe("\x1b[31ma\x1b[39m\n\x1b[31mb\x1b[39m");
});

test("a style takes one text, so that it can be passed to map", () => {
  expect(["a", "b"].map(createTheme({ color: false }).bold)).toEqual(["a", "b"]);
});
