import { expect, test } from "bun:test";
import { hideKey, toOneLine } from "../../src/provider/endpoint.ts";

test("white space of every kind becomes one space and the ends are trimmed", () => {
  expect(toOneLine("  a\r\n\tb\u2028c\u00a0d\x85e  ")).toBe("a b c d e");
});

test("escape sequences are removed with their contents, also a link that is never closed", () => {
  expect(toOneLine("\x1b[31;1mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b]0;title")).toBe(
    "red link",
  );
  expect(toOneLine("a\x1bb\x9b31mc\x00d")).toBe("a b 31mc d");
});

test("characters that change direction or hide text are removed and halves of characters are replaced", () => {
  expect(toOneLine("user\u202egnp.exe\u200b \ud83d")).toBe("usergnp.exe \ufffd");
});

test("long text is cut between characters", () => {
  expect(toOneLine("🎉🎉🎉", 2)).toBe("🎉🎉…");
  expect(toOneLine("abc", 3)).toBe("abc");
});

test("every occurrence of the key is hidden", () => {
  const vendor = { keyPlaceholder: "[key of local]" };
  expect(hideKey("sk-1 and sk-1", { host: "h", apiKey: "sk-1" }, vendor)).toBe(
    "[key of local] and [key of local]",
  );
  expect(hideKey("text", { host: "h", apiKey: "" }, vendor)).toBe("text");
});
