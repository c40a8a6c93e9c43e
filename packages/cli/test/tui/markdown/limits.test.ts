import { describe, expect, test } from "bun:test";
import { isDeeplyNested } from "../../../src/tui/markdown/layout.ts";
import { liveTail } from "../../../src/tui/markdown/stream.ts";

describe("the open end of an answer", () => {
  test("is laid out completely while it is short", () => {
    const text = "a\n".repeat(8_000);
    expect(liveTail(text)).toBe(text);
  });

  test("is laid out only as far as a screen can show, from the beginning of a line", () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`).join("");
    const tail = liveTail(text);
    expect(tail.length).toBeLessThan(14_100);
    expect(tail.length).toBeGreaterThan(11_000);
    expect(text.endsWith(`\n${tail}`)).toBe(true);
  });

  test("starts at the same position of one long line while more arrives", () => {
    const text = "x".repeat(100_001);
    expect(liveTail(`${text}yy`)).toBe(`${liveTail(text)}yy`);
    expect(liveTail(text).length).toBeLessThan(14_100);
  });

  test("keeps open code as code, and text after closed code as text", () => {
    const code = "const a = 1;\n".repeat(5_000);
    expect(liveTail(`Look:\n\`\`\`\`ts\n${code}`)).toStartWith("````ts\nconst a = 1;\n");
    expect(liveTail(`~~~\n\`\`\`\n~~~\n${code}`)).toStartWith("const a = 1;\n");
  });
});

describe("isDeeplyNested() for lists and quotes", () => {
  test.each([
    "> ".repeat(60),
    ">".repeat(60),
    "- ".repeat(60),
    `text\n${"1. > * ".repeat(20)}`,
    `${" ".repeat(120)}- a`,
    `${"\t".repeat(30)}1) a`,
  ])("is true for %j", (markdown) => {
    expect(isDeeplyNested(markdown)).toBe(true);
  });

  test.each([
    "-".repeat(80),
    "=".repeat(80),
    "* ".repeat(20),
    `${" ".repeat(120)}a - b`,
    "> > > a",
    "#".repeat(90),
  ])("is false for %j", (markdown) => {
    expect(isDeeplyNested(markdown)).toBe(false);
  });
});
