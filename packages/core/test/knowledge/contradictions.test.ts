import { expect, test } from "bun:test";
import { findContradicted, findContradictions } from "../../src/knowledge/similar.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { knowledge } from "../support/knowledge-entry.ts";

const entriesOf = (...contents: string[]) =>
  contents.map((content, index) => knowledge(`id${index}`, { content }));

const pairsOf = (...contents: string[]) =>
  findContradictions(entriesOf(...contents)).map((pair) => pair.map(({ id }) => id));

test.each([
  ["Run the tests with bun test.", "Run the tests with vitest."],
  ["The API listens on port 8080.", "The API listens on port 9090."],
  ["Never commit to main.", "Commit to main."],
  ["The cache is cleared at every start", "The cache isn't cleared at every start"],
  ["Indentation is two spaces in this project.", "Indentation is tabs in this project."],
])("%p and %p contradict each other", (left, right) => {
  expect(pairsOf(left, right)).toEqual([["id1", "id0"]]);
  expect(pairsOf(right, left)).toEqual([["id1", "id0"]]);
});

test.each([
  ["Run the tests with bun test.", "Run the tests with bun test, from the root."],
  ["The parser is in src/parse.ts and reads JSON.", "Deployments need a signed tag and an approval."],
  ["Use tabs.", "Use spaces."],
  ["The server starts with bun start.", "The server starts with bun start."],
])("%p and %p do not", (left, right) => {
  expect(pairsOf(left, right)).toEqual([]);
});

test("entries that the user has kept together do not contradict each other", () => {
  const [left, right] = entriesOf("The API listens on port 8080.", "The API listens on port 9090.");
  if (!left || !right) throw new Error("there are two");
  expect(findContradictions([{ ...left, keptWith: ["id1"] }, right])).toEqual([]);
  expect(findContradictions([left, { ...right, keptWith: ["id0"] }])).toEqual([]);
  expect(findContradictions([left, { ...right, keptWith: ["other"] }])).toHaveLength(1);
});

test("the newest pair comes first, and a new entry finds the one that it contradicts", () => {
  const entries = entriesOf(
    "The API listens on port 8080.",
    "The API listens on port 9090.",
    "Sessions end after ten minutes.",
    "Sessions end after twenty minutes.",
  );
  expect(findContradictions(entries).map((pair) => pair.map(({ id }) => id))).toEqual([
    ["id3", "id2"],
    ["id1", "id0"],
  ]);
  const added = knowledge("new", { content: "The API listens on port 1." });
  expect(findContradicted(entries, added)?.id).toBe("id0");
  expect(
    findContradicted(entries, knowledge("new", { content: "Something else entirely here." })),
  ).toBeUndefined();
});

test.each([
  [
    "different",
    (index: number) => `Entry ${index} is about part-${index % 97} and file src/f${index}.ts of it.`,
  ],
  ["nearly equal", (index: number) => `The same statement about the port ${index} again`],
])("10,000 %s entries are compared in bounded time", (_, contentOf) => {
  const entries = Array.from({ length: 10_000 }, (__, index) =>
    knowledge(`id${index}`, { content: contentOf(index) }),
  );
  const begin = performance.now();
  expect(findContradictions(entries).length).toBeLessThanOrEqual(100);
  expect(performance.now() - begin).toBeLessThan(15_000 + BUSY_MS);
});
