import { describe, expect, test } from "bun:test";
import { compareTexts, findNearDuplicate } from "../src/knowledge/near-duplicate.ts";
import { knowledge } from "./support/knowledge-entry.ts";

const LONG = "This project uses Bun spawn for process execution instead of the child process module of Node";

function isKnown(content: string, existing: string): boolean {
  return findNearDuplicate([knowledge("a", { content: existing })], content) !== undefined;
}

describe("a text is known", () => {
  test.each([
    ["Uses Bun.", "uses  bun"],
    ["Uses Bun.", "\n“USES BUN!”\u200b"],
    ["！！！", "!!!"],
    ["プロジェクトは日本語です", "プロジェクトは日本語です。"],
    [LONG, `${LONG}.js`],
    [LONG, `Note: ${LONG}`],
    [LONG, LONG.split(" ").reverse().join(" ")],
  ])("%p by %p", (content, existing) => {
    expect([isKnown(content, existing), isKnown(existing, content)]).toEqual([true, true]);
  });

  test.each([
    ["Uses Bun.", "Uses npm."],
    ["Always use tabs", "Never use tabs"],
    ["!!!", "???"],
    [LONG, "This project uses Bun"],
    ["Uses Bun.", ""],
  ])("%p not by %p", (content, existing) => {
    expect(isKnown(content, existing)).toBe(false);
  });
});

test("the limit is 0.85 of all the different words", () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(" ");
  expect([compareTexts(words(17), words(20)), isKnown(words(17), words(20))]).toEqual([0.85, true]);
  expect([compareTexts(words(16), words(19)), isKnown(words(16), words(19))]).toEqual([16 / 19, false]);
});

test("of several the most alike is found", () => {
  const entries = [knowledge("a", { content: `${LONG} twenty two` }), knowledge("b", { content: LONG })];
  expect(findNearDuplicate(entries, `${LONG} more`)?.id).toBe("b");
  expect(findNearDuplicate([], LONG)).toBeUndefined();
});
