import { expect, test } from "bun:test";
import { BUSY_MS } from "../../../../core/test/support/busy-machine.ts";
import { readPaste, SequenceReader } from "../../../src/tui/screen/sequence-reader.ts";
import { Chance } from "../../support/chance.ts";

function read(...pieces: string[]): string[] {
  const reader = new SequenceReader();
  return [...pieces.flatMap((piece) => reader.read(piece)), ...reader.flush()];
}

test.each<[string, string, string[]]>([
  ["letters one by one", "ab", ["a", "b"]],
  ["an emoji as one character", "a\u{1f469}b", ["a", "\u{1f469}", "b"]],
  ["arrows and a letter", "\x1b[Ax\x1b[1;3B", ["\x1b[A", "x", "\x1b[1;3B"]],
  ["two Escapes in one burst", "\x1b\x1b", ["\x1b", "\x1b"]],
  ["three Escapes and a letter with Alt", "\x1b\x1b\x1bx", ["\x1b", "\x1b", "\x1bx"]],
  ["an Escape before an arrow", "\x1b\x1b[A", ["\x1b", "\x1b[A"]],
  ["Alt+Enter", "\x1b\r", ["\x1b\r"]],
  ["keys of a keypad", "\x1bOPx", ["\x1bOP", "x"]],
  ["F1 of the Linux console", "\x1b[[Ax", ["\x1b[[A", "x"]],
  ["keys of the Kitty protocol", "\x1b[97;5u\x1b[27;1:3u", ["\x1b[97;5u", "\x1b[27;1:3u"]],
  ["a report of the mouse", "\x1b[<0;3;4Mx\x1b[M !!y", ["\x1b[<0;3;4M", "x", "\x1b[M !!", "y"]],
  ["replies in a row", "\x1b[?1;2c\x1b[>84;0;0c\x1b[3;3R", ["\x1b[?1;2c", "\x1b[>84;0;0c", "\x1b[3;3R"]],
  ["strings with either end", "\x1b]11;x\x07y\x1bP1+r\x1b\\z", ["\x1b]11;x\x07", "y", "\x1bP1+r\x1b\\", "z"]],
  ["Alt+] before an arrow", "\x1b]\x1b[A", ["\x1b]", "\x1b[A"]],
  ["a sequence that another one breaks off", "\x1b[1;\x1b[A", ["\x1b[1;", "\x1b[A"]],
  ["a paste as a whole", "x\x1b[200~a\x1b[Ab\n\x1b[201~y", ["x", "\x1b[200~a\x1b[Ab\n\x1b[201~", "y"]],
  ["an Escape before a paste", "\x1b\x1b[200~a\x1b[201~", ["\x1b", "\x1b[200~a\x1b[201~"]],
  ["a letter that is reported and sent", "\x1b[97uaa", ["\x1b[97u", "a"]],
])("SequenceReader reads %s", (_, input, expected) => {
  expect(read(input)).toEqual(expected);
});

const PIECES: readonly [string, ...string[]] = [
  ...(["a", " ", "é", "\u{1f469}", "\u0301", "\r", "\t", "\x7f", "\x03", "\x1b", "\x1b\x1b"] as const),
  ...["\x1b[A", "\x1b[1;3B", "\x1b[1~", "\x1bOP", "\x1b[[A", "\x1b\r", "\x1bd", "\x1b[97;5u", "\x1b[97u"],
  ...["\x1b[<0;3;4M", "\x1b[M !!", "\x1b[?1;2c", "\x1b[3;3R", "\x1b]11;x\x07", "\x1bP1+r\x1b\\", "\x1b]"],
  ...[
    "\x1b[200~one\ntwo\x1b[201~",
    "\x1b[200~\x1b[A\x1b[20\x1b[201~",
    "\x1b[",
    "\x1b[1;",
    "[",
    "O",
    "~",
    "M",
  ],
];

test("SequenceReader returns the same keys and pastes wherever the input is cut", () => {
  const chance = new Chance(7);
  for (let round = 0; round < 2_000; round++) {
    const input = Array.from({ length: chance.between(1, 8) }, () => chance.pick(PIECES)).join("");
    const pieces: string[] = [];
    for (let at = 0; at < input.length; ) {
      const end = at + chance.between(1, 4);
      pieces.push(input.slice(at, end));
      at = end;
    }
    expect(read(...pieces), JSON.stringify(pieces)).toEqual(read(input));
  }
});

test("SequenceReader keeps an incomplete sequence until its end arrives or nothing follows, and a paste for as long as it takes", () => {
  const reader = new SequenceReader();
  expect([reader.read("\x1b"), reader.unfinished]).toEqual([[], "escape"]);
  expect([reader.flush(), reader.unfinished]).toEqual([["\x1b"], "nothing"]);
  expect([reader.read("\x1b["), reader.unfinished, reader.read("A")]).toEqual([[], "sequence", ["\x1b[A"]]);
  expect([reader.read("\x1b[200~a"), reader.unfinished, reader.flush()]).toEqual([[], "paste", []]);
  expect(reader.read("\x1b[201~")).toEqual(["\x1b[200~a\x1b[201~"]);
});

test("SequenceReader reads a paste of megabytes in many pieces quickly", () => {
  const reader = new SequenceReader();
  const piece = "x".repeat(4_096);
  const startedAt = performance.now();
  reader.read("\x1b[200~");
  for (let count = 0; count < 2_000; count++) reader.read(piece);
  const [pasted = ""] = reader.read("\x1b[201~");
  expect(readPaste(pasted)?.length).toBe(piece.length * 2_000);
  expect(performance.now() - startedAt).toBeLessThan(5_000 + BUSY_MS);
});

test("readPaste() returns the content of a paste and undefined for a key", () => {
  expect([readPaste("\x1b[200~a\x1b[201~"), readPaste("\x1b[200~\x1b[201~")]).toEqual(["a", ""]);
  expect([readPaste("a"), readPaste("\x1b[A")]).toEqual([undefined, undefined]);
});
