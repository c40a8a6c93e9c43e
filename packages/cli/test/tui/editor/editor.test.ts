import { expect, test } from "bun:test";
import { KEYS, TypedEditor } from "../../support/typed-editor.ts";

test("typed text is shown after the marker, with the cursor, and sent with Enter", () => {
  const typed = new TypedEditor().type("hello");
  expect(typed.rows()).toEqual(["> hello|"]);
  expect(typed.editor.text).toBe("hello");
  typed.type(KEYS.enter);
  expect(typed.sent).toEqual(["hello"]);
  expect(typed.rows()).toEqual(["> |"]);
  expect(typed.editor.isEmpty).toBe(true);
});

test("an emoji is one character", () => {
  const typed = new TypedEditor().type("a👩‍👩‍👧b");
  expect(typed.rows()).toEqual(["> a👩‍👩‍👧b|"]);
  expect(typed.type(KEYS.left, KEYS.backspace).editor.text).toBe("ab");
});

test("keys of the Kitty protocol type their character, and those without one nothing", () => {
  const typed = new TypedEditor().type(
    "\x1b[97u",
    "\x1b[98;2u",
    "\x1b[233u",
    "\x1b[57376u",
    "\x1b[155u",
    "\x1b[8238u",
  );
  expect(typed.editor.text).toBe("abé\u202e");
  expect(typed.rows()).toEqual(["> abé\\u{202e}|"]);
});

test("a blank prompt is not sent", () => {
  const typed = new TypedEditor().type("  ", KEYS.enter, KEYS.enter);
  typed.paste("\t\n\t").type(KEYS.enter);
  expect(typed.sent).toEqual([]);
});

for (const [name, key] of [
  ["Ctrl+J", "\n"],
  ["Alt+Enter", "\x1b\r"],
  ["Alt+Enter with the Kitty protocol", "\x1b[13;3u"],
  ["Shift+Enter with the Kitty protocol", "\x1b[13;2u"],
  ["Shift+Enter of xterm", "\x1b[27;2;13~"],
] as const)
  test(`${name} inserts a line break`, () => {
    const typed = new TypedEditor().type("a", key, "b");
    expect(typed.rows()).toEqual(["> a", "  b|"]);
    expect(typed.type(KEYS.enter).sent).toEqual(["a\nb"]);
  });

test("a backslash before Enter becomes a line break", () => {
  const typed = new TypedEditor().type("a\\", KEYS.enter, "b", KEYS.enter);
  expect(typed.sent).toEqual(["a\nb"]);
});

test("the cursor moves over words, words are deleted, killed text is yanked, and everything can be undone", () => {
  const typed = new TypedEditor().type("one two three", KEYS.deleteWord);
  expect(typed.editor.text).toBe("one two ");
  typed.type("\x1bb", KEYS.deleteToLineStart);
  expect(typed.editor.text).toBe("two ");
  typed.type("\x05", KEYS.yank);
  expect(typed.editor.text).toBe("two one ");
  typed.type(KEYS.undo, KEYS.undo, KEYS.undo);
  expect(typed.editor.text).toBe("one two three");
});

test("setText can be undone", () => {
  const typed = new TypedEditor().type("mine");
  typed.editor.setText("");
  expect(typed.editor.isEmpty).toBe(true);
  expect(typed.type(KEYS.undo).editor.text).toBe("mine");
});

test("Up moves to earlier prompts and Down back to the text being typed", () => {
  const typed = new TypedEditor({ history: ["newest", "older\nof two lines"] });
  typed.type("draft", KEYS.home, KEYS.up);
  expect(typed.editor.text).toBe("newest");
  typed.type(KEYS.up);
  expect(typed.editor.text).toBe("older\nof two lines");
  typed.type(KEYS.up);
  expect(typed.editor.text).toBe("older\nof two lines");
  typed.type(KEYS.down, KEYS.down, KEYS.down);
  expect(typed.editor.text).toBe("draft");
});

test("the cursor is at the end of an earlier prompt, however it is reached", () => {
  const typed = new TypedEditor({ history: ["newest", "older\nof two lines"] }).type(KEYS.up);
  expect(typed.rows()).toEqual(["> newest|"]);
  expect(typed.type("!", KEYS.up).editor.text).toBe("newest!");
  typed.editor.setText("");
  expect(typed.type(KEYS.up, KEYS.up).rows()).toEqual(["> older", "  of two lines|"]);
  expect(typed.type(KEYS.up, KEYS.down, KEYS.down).rows()).toEqual(["> newest|"]);
});

test("Ctrl+P and Ctrl+N move through earlier prompts wherever the cursor is", () => {
  const typed = new TypedEditor({ history: ["newest", "older\nof two lines", "oldest"] }).type("draft");
  expect(typed.type(KEYS.ctrlP).rows()).toEqual(["> newest|"]);
  expect(typed.type(KEYS.ctrlP, KEYS.ctrlP).rows()).toEqual(["> oldest|"]);
  expect(typed.type(KEYS.ctrlN, KEYS.ctrlN, KEYS.ctrlN).rows()).toEqual(["> draft|"]);
});

test("cleared text is the newest entry of the history", () => {
  const typed = new TypedEditor({ history: ["before"] }).type("not sent");
  typed.editor.clear();
  expect(typed.rows()).toEqual(["> |"]);
  expect(typed.type(KEYS.up).editor.text).toBe("not sent");
  expect(typed.type(KEYS.up).editor.text).toBe("before");
  expect(typed.sent).toEqual([]);
});

test("a sent prompt is the first one that Up shows", () => {
  const typed = new TypedEditor({ history: ["before"] }).type("sent", KEYS.enter, KEYS.up);
  expect(typed.editor.text).toBe("sent");
  expect(typed.type(KEYS.up).editor.text).toBe("before");
});

test("a history that is loaded late comes after prompts sent meanwhile", () => {
  const typed = new TypedEditor().type("first", KEYS.enter, "second", KEYS.enter);
  typed.editor.setHistory(["before", "long before"]);
  const seen = [1, 2, 3, 4].map(() => typed.type(KEYS.up).editor.text);
  expect(seen).toEqual(["second", "first", "before", "long before"]);
});

test("every change is reported with the whole text", () => {
  const typed = new TypedEditor().type("ab", KEYS.backspace);
  expect(typed.changes).toEqual(["a", "ab", "a"]);
});

for (const [rows, most] of [
  [40, 12],
  [24, 7],
  [15, 5],
  [12, 4],
  [5, 1],
] as const)
  test(`on a screen of ${rows} rows at most ${most} are used, and arrows show that there are more`, () => {
    const typed = new TypedEditor({ rows });
    typed.editor.setText(Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n"));
    const shown = typed.rows();
    expect(shown).toHaveLength(most);
    expect(shown[0]).toStartWith("↑ line ");
    expect(shown.at(-1)).toEndWith(" line 30|");
    typed.type(...Array.from({ length: 29 }, () => KEYS.up));
    const top = typed.rows();
    expect(top).toHaveLength(most);
    expect(top[0]).toBe(most === 1 ? "↓ line 1|" : "> line 1|");
    expect(top.at(-1)).toStartWith("↓ line ");
  });

test("no row is wider than the screen, whatever it contains", () => {
  const text =
    "漢字".repeat(30) + "👩‍👩‍👧".repeat(20) + "\t".repeat(20) + "\u202e".repeat(9) + "x".repeat(100);
  for (const columns of [20, 21, 60]) {
    const typed = new TypedEditor({ columns });
    typed.editor.setText(text);
    const widths = typed.rawRows().map((row) => Bun.stringWidth(row.replace("\x1b_pi:c\x07", "")));
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  }
});

test("the cursor is marked only while the editor has the focus", () => {
  const typed = new TypedEditor().type("ab", KEYS.left);
  expect(typed.rawRows().map((row) => row.trimEnd())).toEqual(["> a\x1b_pi:c\x07b"]);
  typed.editor.focused = false;
  expect(typed.rawRows()[0]?.trimEnd()).toBe("> ab");
});

test("keys can differ from the default ones", () => {
  const typed = new TypedEditor({ keys: { "tui.editor.undo": ["ctrl+z"], "tui.input.submit": ["ctrl+s"] } });
  typed.type("a", "\x1a", "b", KEYS.enter);
  expect(typed.sent).toEqual([]);
  expect(typed.type("\x13").sent).toEqual(["b"]);
});

test("a letter with more marks than a row has columns is split, and narrow screens work", () => {
  const typed = new TypedEditor({ columns: 20 });
  typed.editor.setText(`क${"\u093e".repeat(100)} 👩‍👩‍👧 漢`);
  expect(typed.rows().join("")).toContain("|");
  for (const columns of [1, 2, 3, 4, 5]) {
    const narrow = new TypedEditor({ columns });
    narrow.editor.setText("漢字 👩‍👩‍👧 text");
    expect(narrow.paste("line\n".repeat(20)).rows().join("")).toContain("|");
  }
});
