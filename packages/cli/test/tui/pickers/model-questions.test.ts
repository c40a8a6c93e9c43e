import { expect, test } from "bun:test";
import { parseChoice } from "../../../src/line-prompt/questions.ts";

const COLORS = { question: "Which?", options: [{ label: "red" }, { label: "blue" }] };

test.each([
  ["1", ["red"]],
  [" 2 ", ["blue"]],
  ["3", undefined],
  ["0", undefined],
  ["green", ["green"]],
  ["1, 2", ["1, 2"]],
])("the line %j answers a question with one answer as %j", (line, expected) => {
  expect(parseChoice(line, COLORS)).toEqual(expected);
});

test.each([
  ["1,2", ["red", "blue"]],
  ["2 1 2", ["blue", "red"]],
  ["1,3", undefined],
  ["both", ["both"]],
])("the line %j answers a question with several answers as %j", (line, expected) => {
  expect(parseChoice(line, { ...COLORS, multiSelect: true })).toEqual(expected);
});

test("without options, a number is an answer of its own", () => {
  expect(parseChoice("42", { question: "How many?", options: [] })).toEqual(["42"]);
});
