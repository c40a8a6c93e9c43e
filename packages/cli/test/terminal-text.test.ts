import { describe, expect, test } from "bun:test";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import {
  revealTerminalText,
  sanitizeTerminalText,
  TerminalTextStream,
  toSingleLine,
} from "../src/text/terminal-text.ts";

/**
 * Everything that a terminal could interpret as anything but a visible character, except line feed and tab.
 */
const DANGEROUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
  /[\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{200b}\u{feff}\u{e0000}-\u{e007f}]/u;

const ATTACKS = {
  "a colour": ["\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"],
  "a window title": ["\x1b]0;pwned\x07", "\\x1b]0;pwned\\x07"],
  "a hyperlink": ["\x1b]8;;http://evil\x1b\\x", "\\x1b]8;;http://evil\\x1b\\x"],
  "a clipboard write without an end": ["\x1b]52;c;ZXZpbA==", "\\x1b]52;c;ZXZpbA=="],
  "a device control string": ["\x1bPq#0\x1b\\", "\\x1bPq#0\\x1b\\"],
  "an application command": ["\x1b_G\x1b\\", "\\x1b_G\\x1b\\"],
  "a privacy message": ["\x1b^x\x1b\\", "\\x1b^x\\x1b\\"],
  "a start of string": ["\x1bXx\x1b\\", "\\x1bXx\\x1b\\"],
  "a full reset": ["\x1bc", "\\x1bc"],
  "a cursor position request": ["\x1b[6n", "\\x1b[6n"],
  "a C1 control sequence": ["\x9b31m", "\\x9b31m"],
  "a C1 operating system command": ["\x9d52;c;eA==\x9c", "\\x9d52;c;eA==\\x9c"],
  "a carriage return that hides text": ["rm -rf /\rls", "rm -rf /\\rls"],
  backspaces: ["abc\b\b\bxyz", "abc\\x08\\x08\\x08xyz"],
  "a delete": ["a\x7f", "a\\x7f"],
  "a shift out": ["\x0e", "\\x0e"],
  "a form feed and a vertical tab": ["\f\v", "\\x0c\\x0b"],
  "a bell and a null": ["\x07\x00", "\\x07\\x00"],
  "a direction override": ["\u{202e}txt.exe", "\\u{202e}txt.exe"],
  "a direction isolate": ["\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"],
  "a zero-width space": ["pass\u{200b}word", "pass\\u{200b}word"],
  "invisible tags": ["a\u{e0041}", "a\\u{e0041}"],
  "what was never assigned beside the tags": ["a\u{e0080}b\u{e01f0}c", "a\\u{e0080}b\\u{e01f0}c"],
  "a line separator": ["a\u{2028}b", "a\\u{2028}b"],
  "a byte order mark": ["\u{feff}x", "\\u{feff}x"],
} as const;

describe("sanitizeTerminalText()", () => {
  for (const [name, [input, expected]] of Object.entries(ATTACKS)) {
    test(`shows ${name} as an escape`, () => {
      expect(sanitizeTerminalText(input)).toBe(expected);
    });
  }

  test("leaves ordinary text in any script unchanged", () => {
    const text = "Grüße\t日本語 العربية می‌خواهم 👨‍👩‍👧 ❤️ naïve\nline two\n";
    expect(sanitizeTerminalText(text)).toBe(text);
  });

  test("turns a Windows line end into a line feed", () => {
    expect(sanitizeTerminalText("a\r\nb\r\n")).toBe("a\nb\n");
  });

  test("gives the same result when applied twice", () => {
    for (const [input] of Object.values(ATTACKS)) {
      expect(sanitizeTerminalText(sanitizeTerminalText(input))).toBe(sanitizeTerminalText(input));
    }
  });
});

describe("revealTerminalText()", () => {
  test("shows joiners and variation selectors, too", () => {
    expect(revealTerminalText("a\u{200d}b\u{200c}c\u{fe0f}d\u{e0100}")).toBe(
      "a\\u{200d}b\\u{200c}c\\u{fe0f}d\\u{e0100}",
    );
  });

  test("shows carriage returns and unusual spaces anywhere", () => {
    expect(revealTerminalText("a\r\nb\rc\u{a0}d\u{2003}e\u{2800}")).toBe(
      "a\\r\nb\\rc\\xa0d\\u{2003}e\\u{2800}",
    );
  });

  test("leaves line feeds, tabs and letters unchanged", () => {
    expect(revealTerminalText("if x; then\n\techo é 日本\nfi")).toBe("if x; then\n\techo é 日本\nfi");
  });
});

describe("TerminalTextStream", () => {
  test("gives the same result however the text is split", () => {
    const random = createRandom(20261121);
    for (let round = 0; round < 2000; round++) {
      const text = randomText(random);
      const stream = new TerminalTextStream();
      let result = "";
      for (let at = 0; at < text.length; ) {
        const length = 1 + Math.floor(random() * 5);
        result += stream.push(text.slice(at, at + length));
        at += length;
      }
      result += stream.end();
      expect(result).toBe(sanitizeTerminalText(text));
      expect(result).not.toMatch(DANGEROUS);
    }
  });
});

describe("toSingleLine()", () => {
  test("turns line breaks and runs of spaces into one space", () => {
    expect(toSingleLine("a\n\n  b\tc\r\nd", 60)).toBe("a b c d");
  });

  test("cuts text beyond the given columns with an ellipsis, counting wide characters as two", () => {
    expect(toSingleLine("日本語日本語", 7)).toBe("日本語…");
    expect(toSingleLine("abcdefghij", 5)).toBe("abcd…");
  });

  test("does not cut text that just fits", () => {
    expect(toSingleLine("abcde", 5)).toBe("abcde");
  });

  test("reads only the visible part of a huge text", () => {
    const started = performance.now();
    expect(toSingleLine("x".repeat(50_000_000), 10)).toBe(`${"x".repeat(9)}…`);
    expect(performance.now() - started).toBeLessThan(500 + BUSY_MS);
  });
});

const PIECES = [
  ...Object.values(ATTACKS).map(([input]) => input),
  ..."\x1b[]P_^X\\;0123456789mnhlJKH?\r\n\t\x07\x9b\x9d\x90\x9c\x08 ab",
  "👩‍💻",
  "\u{e0041}",
  "日本",
  "\r\n",
];

function randomText(random: () => number): string {
  return Array.from({ length: 30 }, () => PIECES[Math.floor(random() * PIECES.length)] ?? "").join("");
}

/** A small deterministic generator (mulberry32), so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
