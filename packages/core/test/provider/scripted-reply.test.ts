import { expect, test } from "bun:test";
import { splitIntoChunks } from "../../src/provider/scripted/reply.ts";

test("by default a chunk ends after a space and has about twelve characters", () => {
  expect([...splitIntoChunks("I look at the file, then I run the tests.")]).toEqual([
    "I look at the ",
    "file, then I ",
    "run the tests.",
  ]);
});

test("a text without spaces is split too", () => {
  expect([...splitIntoChunks("x".repeat(80))].map(({ length }) => length)).toEqual([36, 36, 8]);
});

test("a given length is exact", () => {
  expect([...splitIntoChunks("abcdefg", 3)]).toEqual(["abc", "def", "g"]);
});

test.each([1, 2, 3, undefined])("no chunk of length %p ends inside a surrogate pair", (chunkChars) => {
  const text = "a😀b😀😀".repeat(20);
  const chunks = [...splitIntoChunks(text, chunkChars)];
  expect(chunks.filter((chunk) => !chunk.isWellFormed())).toEqual([]);
  expect(chunks.join("")).toBe(text);
});

test("an empty text has no chunk", () => {
  expect([...splitIntoChunks("")]).toEqual([]);
});
