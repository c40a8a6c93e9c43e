import { expect, test } from "bun:test";
import { asRecord, countOf, parseJson, toWellFormedJson } from "../../src/provider/wire-format.ts";

test("text that is not JSON is undefined", () => {
  expect(["", "{", "{'a':1}", '{"a":1} x'].map(parseJson)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(parseJson('{"a":[1,"[[{"]}')).toEqual({ a: [1, "[[{"] });
});

test("values that are nested too deeply to be walked are undefined, not counting brackets in strings", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(parseJson(nested(1_000))).toBeArray();
  expect(parseJson(nested(1_001))).toBeUndefined();
  expect(parseJson(JSON.stringify(`\\"${"[".repeat(5_000)}`))).toBeString();
});

test("lone surrogates are replaced in keys and in strings at every depth", () => {
  expect(toWellFormedJson({ "k\ud83d": ["\udc00", { a: null, b: 1, c: "🎉" }] })).toEqual({
    "k\ufffd": ["\ufffd", { a: null, b: 1, c: "🎉" }],
  });
});

test("a value that is not an object reads as an empty one", () => {
  expect([null, [1], "x", 3, undefined].map(asRecord)).toEqual([{}, {}, {}, {}, {}]);
});

test("a count is a whole number of at least zero for any value", () => {
  const sent = [7, 0, -3, 1.9, -0.5, null, "5", undefined, Number.NaN, Number.POSITIVE_INFINITY, 1e300];
  expect(sent.map(countOf)).toEqual([7, 0, 0, 1, 0, 0, 0, 0, 0, 0, Number.MAX_SAFE_INTEGER]);
});
