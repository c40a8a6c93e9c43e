import { describe, expect, test } from "bun:test";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { escapeLine, escapeText } from "../src/approval/escaped-text.ts";

describe("escapeText()", () => {
  const cases: Record<string, [string, string]> = {
    "5,000 spaces": [`ls${" ".repeat(5_000)}; rm -rf .`, "ls⟦5000 spaces⟧; rm -rf ."],
    "200 blank lines": [`ls${"\n".repeat(201)}rm -rf .`, "ls\n⟦200 blank lines⟧\nrm -rf ."],
    "blank lines that hold blanks": [
      `ls${"\n  \t".repeat(9)}\nrm`,
      "ls\n⟦9 blank lines with 18 spaces and 9 tabs in them⟧\nrm",
    ],
    "blank lines at the beginning and the end": [
      `${"\n".repeat(5)}ls${"\n".repeat(5)}`,
      "⟦5 blank lines⟧\nls\n⟦5 blank lines⟧",
    ],
    "thousands of tabs": [`ls${"\t".repeat(3_000)}x`, "ls⟦3000 tabs⟧x"],
    "tabs and spaces in turn": [`ls${" \t".repeat(100)}x`, "ls⟦100 spaces and 100 tabs⟧x"],
    "one invisible character, repeated": [`ls${"\u200b".repeat(50)}x`, "ls⟦50 × \\u{200b}⟧x"],
    "lines of nothing but carriage returns": [
      `ls${"\n\r".repeat(50)}\nx`,
      "ls\n⟦50 blank lines with 50 × \\r in them⟧\nx",
    ],
    "the carriage return of a Windows line end": ["ls\r\nrm", "ls\\r\nrm"],
    "spaces of typography": ["ls\u00a0-la\u3000x\u2800y", "ls\\xa0-la\\u{3000}x\\u{2800}y"],
    "a text that looks like a mark": [
      "ls ⟦5000 spaces⟧ 〚x〛",
      "ls \\u{27e6}5000 spaces\\u{27e7} \\u{301a}x\\u{301b}",
    ],
    "what people write": [
      "if x; then\n\techo 'a   b'\n\n        done # é 日本 「」\nfi",
      "if x; then\n\techo 'a   b'\n\n        done # é 日本 「」\nfi",
    ],
    "a visible character, repeated": [`echo ${"=".repeat(60)}`, `echo ${"=".repeat(60)}`],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    test(name, () => expect(escapeText(text)).toBe(expected));
  }

  test("counts many kinds of invisible characters together", () => {
    const line = "\u200b\u200c\u200d\u2060\u2061\u2062";
    expect(escapeText(`a\n${Array(4).fill(line).join("\n")}\nb`)).toBe(
      "a\n⟦4 blank lines with 4 × \\u{200b} and 4 × \\u{200c} and 4 × \\u{200d} and 4 × \\u{2060} and 8 other invisible characters in them⟧\nb",
    );
  });

  test("formats the largest possible command at once", () => {
    const texts = [" ", "\n", "\n ", " \u200b", "\u200b", "x", "\r\n"].map((unit) => unit.repeat(128 * 1024));
    const begin = performance.now();
    for (const text of texts) escapeText(text);
    expect(performance.now() - begin).toBeLessThan(2_000 + BUSY_MS);
  });
});

test("escapeLine() shows line ends as escapes", () => {
  expect(escapeLine(`a\nb\r\n\x1b${" ".repeat(100)}c`)).toBe("a\\x0ab\\r\\x0a\\x1b⟦100 spaces⟧c");
});
