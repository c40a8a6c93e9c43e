import { expect, test } from "bun:test";
import { Chance } from "../../support/chance.ts";
import { TypedEditor } from "../../support/typed-editor.ts";

const PIECES: readonly [string, ...string[]] = [
  "a",
  " ",
  "\\",
  '"',
  "@",
  "/",
  "é",
  "漢",
  "👩‍👩‍👧",
  "\u0301",
  "\u202e",
  "क\u093e",
  "\u{10f05b}",
  "\u{e0031}",
];
const EDITING: readonly [string, ...string[]] = [
  "\r",
  "\x1b\r",
  "\n",
  "\x1b",
  "\t",
  "\x1b[A",
  "\x1b[B",
  "\x1b[C",
  "\x1b[D",
  "\x1b[H",
  "\x7f",
  "\x1f",
  "\x17",
  "\x15",
  "\x0b",
  "\x19",
  "\x1b\x7f",
  "\x1bd",
  "\x1by",
  "\x01",
  "\x05",
  "\x1bb",
  "\x1bf",
  "\x1d",
  "\x1b[5~",
  "\x1b[6~",
  "\x9b",
  "\0",
];

for (const seed of [1, 2, 3, 4])
  test(`the prompt stays within its bounds and sends what it shows, whatever keys and pastes arrive (${seed})`, () => {
    const chance = new Chance(seed);
    const rows = chance.between(6, 45);
    const typed = new TypedEditor({ columns: chance.between(20, 60), rows });
    for (let step = 0; step < 400; step++) {
      const kind = chance.between(0, 9);
      const text = Array.from({ length: chance.between(0, 7) }, () => chance.pick(PIECES)).join("");
      if (kind < 4) typed.editor.handleInput(chance.pick(PIECES));
      else if (kind < 8) typed.editor.handleInput(chance.pick(EDITING));
      else if (kind === 8) typed.paste(text + chance.pick(["", "\n", "\tx\r\n", "line\n".repeat(20)]));
      else typed.editor.setText(typed.editor.text + text);
      expect(typed.rawRows().length).toBeLessThanOrEqual(Math.max(1, rows / 3));
      const shown = typed.rawRows().join("\n").replace("\x1b_pi:c\x07", "");
      expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Co}\u202e]|[\u{e0000}-\u{e007f}]/u);
      expect(typed.editor.text).not.toMatch(/(?![\n\t])\p{Cc}/u);
    }
    const { text } = typed.editor;
    typed.editor.setText(text);
    expect(typed.editor.text).toBe(text);
    typed.type("\x05", "\r");
    if (text.trim() !== "" && !text.endsWith("\\")) expect(typed.sent.at(-1)?.trim()).toBe(text.trim());
  });
