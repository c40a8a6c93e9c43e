import { describe, expect, test } from "bun:test";
import { findNearDuplicate, measureSimilarity } from "../../src/knowledge/similar.ts";
import { knowledge } from "../support/knowledge-entry.ts";

const LONG = "This project uses Bun spawn for process execution instead of the child process module of Node";

function isKnown(content: string, existing: string): boolean {
  return findNearDuplicate([knowledge("a", { content: existing })], content) !== undefined;
}

describe("a text is a duplicate", () => {
  test.each([
    ["Uses Bun.", "uses  bun"],
    ["Uses Bun.", "\n“USES BUN!”\u200b"],
    ["Don’t use npm", "don't use npm!"],
    ["Never push to main.", "**Never** push to main"],
    ["！！！", "!!!"],
    ["プロジェクトは日本語です", "プロジェクトは日本語です。"],
    ["The tests are in `test/`.", "the tests are in `test/`"],
    [LONG, `${LONG} now`],
    [LONG, `Note: ${LONG}`],
  ])("%p of %p", (content, existing) => {
    expect([isKnown(content, existing), isKnown(existing, content)]).toEqual([true, true]);
  });

  test.each([
    ["Uses Bun.", "Uses npm."],
    ["Always use tabs", "Never use tabs"],
    ["!!!", "???"],
    [LONG, "This project uses Bun"],
    ["Uses Bun.", ""],
  ])("%p not of %p", (content, existing) => {
    expect(isKnown(content, existing)).toBe(false);
  });

  test.each([
    ["another order of words", "Use bun instead of npm", "Use npm instead of bun"],
    [
      "another order in a long text",
      LONG,
      LONG.replace("Bun", "X").replace("Node", "Bun").replace("X", "Node"),
    ],
    ["a word in another's place", LONG, LONG.replace("execution", "monitoring")],
    ["a negation", LONG, LONG.replace("uses", "never uses")],
    ["a negation in the verb", `${LONG} and they work`, `${LONG} and they don't work`],
    ["a negation in German", `${LONG} und das geht`, `${LONG} und das geht nicht`],
    ["a restriction", LONG, LONG.replace("uses", "only uses")],
    ["a number", LONG, `${LONG} 20`],
    ["the value of a number", "Port 8080 is taken", "Port 8081 is taken"],
    ["the sign of a number", "The offset is 1", "The offset is -1"],
    ["a decimal point", "Wait 1.5 seconds", "Wait 15 seconds"],
    ["a path", LONG, `${LONG}.js`],
    ["the name of a directory", "Tests are in test/", "Tests are in tests/"],
    ["the end of a file name", "Configuration is in app.ts", "Configuration is in app.tsx"],
    ["the case of an identifier", "Call getUser first", "Call getuser first"],
    ["the case of a word in code", "Import `Config` first", "Import `config` first"],
    ["the case of an acronym", "Set PATH first", "Set path first"],
    ["underscores", "Write __init__ first", "Write init first"],
    ["an operator", "x = 1 in the tests", "x != 1 in the tests"],
    ["a language's sign", "Written in C", "Written in C++"],
  ])("of no text that differs in %s", (_, content, existing) => {
    expect([isKnown(content, existing), isKnown(existing, content)]).toEqual([false, false]);
  });
});

test("the limit is 0.85 of all the different pairs of neighboring words", () => {
  const words = (count: number) =>
    Array.from({ length: count }, (_, index) => `w${String.fromCharCode(97 + index)}`).join(" ");
  expect([isKnown(words(18), words(21)), isKnown(words(21), words(18))]).toEqual([true, true]);
  expect([isKnown(words(17), words(20)), isKnown(words(20), words(17))]).toEqual([false, false]);
});

test("similarity does not depend on the order of the words", () => {
  expect(measureSimilarity("a b c", "C, b; a.")).toBe(1);
  expect(measureSimilarity("a b", "b c")).toBe(1 / 3);
});

test("of several similar texts the most similar is found", () => {
  const entries = [knowledge("a", { content: `${LONG} here too` }), knowledge("b", { content: LONG })];
  expect(findNearDuplicate(entries, `${LONG} now`)?.id).toBe("b");
  expect(findNearDuplicate([], LONG)).toBeUndefined();
});
