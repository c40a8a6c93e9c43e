import { expect, test } from "bun:test";
import { excerpt } from "../../../src/session/history/search/excerpt.ts";

const FAR = "some filling words ".repeat(20);

test.each([
  [
    "a whole word rather than a part of another one",
    `the algorithm is gone ${FAR}now go there`,
    "go",
    "now go there",
  ],
  ["the beginning of a word rather than its middle", `unparsed ${FAR}the parser`, "pars", "the parser"],
  ["a part of a word if there is nothing else", `${FAR}unparsed`, "pars", "unparsed"],
  ["a word with diacritics", `${FAR}in the Café there`, "cafe", "in the Café there"],
  ["a word without the diacritics of the search", `${FAR}a cafe`, "CAFÉ", "a cafe"],
  ["a word behind combining marks", `e\u0301 ${FAR}de\u0301ja\u0300 vu`, "déjà vu", "de\u0301ja\u0300 vu"],
  ["words that other signs separate", `${FAR}see src/parser.ts here`, "src parser", "see src/parser.ts here"],
  ["characters of a language without spaces", `${FAR}日本語の文章を探す`, "文章", "日本語の文章を探す"],
])("an excerpt shows %s", (_, text, word, shown) => {
  const found = excerpt(text, [word]);
  expect(found).toStartWith("…");
  expect(found).toEndWith(shown);
});

test("an excerpt begins at most 60 characters before the match, whatever the characters before it", () => {
  expect(excerpt(`${"é".repeat(100)} needle`, ["needle"])).toBe(`…${"é".repeat(59)} needle`);
});

test("an excerpt without a match is the beginning of the text", () => {
  expect(excerpt(`first ${FAR}`, ["absent", "…"])).toStartWith("first some");
});
