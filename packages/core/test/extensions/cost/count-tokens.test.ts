import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { estimateTextTokens } from "../../../src/extensions/cost/count-tokens.ts";

const SOURCE = join(import.meta.dir, "..", "..", "..", "src");

/** A word of one letter that is not ASCII, after a space, is one token. */
function expectSame(text: string): void {
  const before = `${text}.`;
  expect(estimateTextTokens(`${before} é`)).toBeCloseTo(estimateTextTokens(before) + 1, 6);
}

test("a text of ASCII has as many tokens as one that is not", () => {
  for (const path of new Bun.Glob("**/*.{ts,md,json}").scanSync(SOURCE)) {
    const text = readFileSync(join(SOURCE, path), "utf8");
    if (/^[\0-\x7f]*$/.test(text)) expectSame(text);
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii", maxLength: 200 }), (text) => expectSame(text)),
    { numRuns: 5_000 },
  );
});
