import { expect, test } from "bun:test";
import { createSignature, mayContain } from "../../src/session/recall.ts";
import { createRandom } from "../support/fuzzed-history.ts";

const random = createRandom(11);
const letters = "abcdefgäöü漢字🎉 0123._-/";
const word = (length: number) =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)] ?? "a").join("");

test("mayContain() is true for every part of a text", () => {
  for (let round = 0; round < 200; round++) {
    const text = word(Math.floor(random() ** 2 * 20_000));
    const signature = createSignature(text);
    for (let part = 0; part < 20; part++) {
      const start = Math.floor(random() * text.length);
      expect(mayContain(signature, text.slice(start, start + Math.floor(random() * 30)))).toBe(true);
    }
  }
});

test("mayContain() is false for nearly every word that is not in a text", () => {
  let wrong = 0;
  for (let round = 0; round < 200; round++) {
    const text = word(5_000);
    const signature = createSignature(text);
    const other = `x${word(8)}x`;
    if (!text.includes(other) && mayContain(signature, other)) wrong++;
  }
  expect(wrong).toBeLessThan(5);
});
