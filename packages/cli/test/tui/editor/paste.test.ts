import { expect, test } from "bun:test";
import { KEYS, TypedEditor } from "../../support/typed-editor.ts";

const lines = (count: number, text = "line") =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}`).join("\n");

test("a paste of many lines is shown as a label and sent in full", () => {
  const typed = new TypedEditor().type("see ").paste(lines(120)).type(" there");
  expect(typed.rows()).toEqual(["> see [pasted 120 lines] there|"]);
  expect(typed.editor.text).toBe(`see ${lines(120)} there`);
  expect(typed.type(KEYS.enter).sent).toEqual([`see ${lines(120)} there`]);
});

test("a paste of ten lines and a thousand characters is shown, a longer one is not", () => {
  expect(new TypedEditor({ rows: 60 }).paste(lines(10)).rows()).toHaveLength(10);
  expect(new TypedEditor().paste(`${lines(10)}\n`).rows()[0]).toBe("↑ line 5");
  expect(new TypedEditor().paste(lines(11)).rows()).toEqual(["> [pasted 11 lines]|"]);
  expect(new TypedEditor().paste("x".repeat(1_000)).rows().join("")).toContain("xxx");
  expect(new TypedEditor().paste("x".repeat(1_001)).rows()).toEqual(["> [pasted 1001 characters]|"]);
});

test("half an emoji in a paste becomes a replacement character, and the other characters stay", () => {
  const typed = new TypedEditor().paste("a\ud83db😀\ude00").type(KEYS.enter);
  expect(typed.sent).toEqual(["a\ufffdb😀\ufffd"]);
});

test("a trailing line end in a paste does not count", () => {
  expect(new TypedEditor().paste(`${lines(120)}\n`).rows()).toEqual(["> [pasted 120 lines]|"]);
});

test("two pastes of the same size have different labels, and each keeps its content", () => {
  const typed = new TypedEditor({ columns: 80 }).paste(lines(20, "a")).type(" ").paste(lines(20, "b"));
  expect(typed.rows()).toEqual(["> [pasted 20 lines] [pasted 20 lines #2]|"]);
  typed.type(KEYS.home, "\x1b[3~", KEYS.enter);
  expect(typed.sent).toEqual([lines(20, "b")]);
});

test("the cursor moves over a label at once, and one key deletes it", () => {
  const typed = new TypedEditor().type("a").paste(lines(20)).type("b");
  typed.type(KEYS.left, KEYS.left);
  expect(typed.rows()).toEqual(["> a|[pasted 20 lines]b"]);
  typed.type(KEYS.right, KEYS.backspace);
  expect(typed.rows()).toEqual(["> a|b"]);
  expect(typed.type(KEYS.undo).editor.text).toBe(`a${lines(20)}b`);
});

test("a killed label returns with its content, even after others were deleted or sent", () => {
  const typed = new TypedEditor().paste(lines(20, "a")).paste(lines(30, "b"));
  typed.type(KEYS.deleteWord, KEYS.backspace, KEYS.yank);
  expect(typed.rows()).toEqual(["> [pasted 30 lines]|"]);
  typed.type(KEYS.enter, KEYS.yank, KEYS.yank, KEYS.enter);
  expect(typed.sent).toEqual([lines(30, "b"), lines(30, "b") + lines(30, "b")]);
});

test("Up shows a sent paste as its label again, with the cursor after it", () => {
  const typed = new TypedEditor().paste(lines(20)).type(KEYS.enter, KEYS.up);
  expect(typed.rows()).toEqual(["> [pasted 20 lines]|"]);
  expect(typed.type(KEYS.enter).sent).toEqual([lines(20), lines(20)]);
});

test("typed text that looks like a label is text", () => {
  const typed = new TypedEditor()
    .paste(lines(20))
    .type(" [pasted 20 lines] [paste #1 +20 lines]", KEYS.enter);
  expect(typed.sent).toEqual([`${lines(20)} [pasted 20 lines] [paste #1 +20 lines]`]);
});

test("a label is wrapped on a narrow screen and is still one unit", () => {
  const typed = new TypedEditor({ columns: 16 }).paste(lines(120));
  expect(typed.rows()).toEqual(["> [pasted 120 l", "  ines]|"]);
  typed.type(KEYS.backspace);
  expect(typed.editor.isEmpty).toBe(true);
});

test("labels are styled, blanks that stand for a tab are not", () => {
  const theme = {
    marker: (text: string) => text,
    label: (text: string) => `<${text}>`,
    selected: (text: string) => text,
    description: (text: string) => text,
  };
  const typed = new TypedEditor({ theme }).paste(lines(20)).paste("\tx");
  expect(typed.rows()).toEqual(["> <[pasted 20 lines]>    x|"]);
});

test("a paste with line ends, tabs and control characters is sent without the control characters", () => {
  const typed = new TypedEditor({ columns: 80 });
  typed.paste("a\r\nb\rc\tend\0\x07\x1b[31mred\x9b2J\x7f\u0085");
  expect(typed.rows()).toEqual(["> a", "  b", "  c    end[31mred2J|"]);
  expect(typed.type(KEYS.enter).sent).toEqual(["a\nb\nc\tend[31mred2J"]);
});

test("a long paste is cleaned in the same way", () => {
  const typed = new TypedEditor().paste("\tx\r\n\x1b]0;title\x07".repeat(20)).type(KEYS.enter);
  expect(typed.sent).toEqual(["\tx\n]0;title".repeat(20)]);
});

test("invisible characters are shown by their numbers and sent unchanged", () => {
  const typed = new TypedEditor({ columns: 80 }).paste("a\u202eb\u200bc");
  expect(typed.rows()).toEqual(["> a\\u{202e}b\\u{200b}c|"]);
  expect(typed.type(KEYS.backspace, KEYS.backspace, KEYS.enter).sent).toEqual(["a\u202eb"]);
});

test("control characters that tmux sends as keys within a paste are restored", () => {
  const typed = new TypedEditor().paste("a\x1b[106;5ub\x1b[105;5uc").type(KEYS.enter);
  expect(typed.sent).toEqual(["a\nb\tc"]);
});

test("a paste may have keys before and after it", () => {
  expect(new TypedEditor().type("x\x1b[200~one\ntwo\x1b[201~y").editor.text).toBe("xone\ntwoy");
});

test("visible text is distinguished from long pastes", () => {
  const typed = new TypedEditor()
    .type("@a.ts ")
    .paste(`@/etc/passwd\n${lines(20)}`)
    .paste("\t@b.ts");
  typed.type(KEYS.enter);
  expect(typed.visible).toEqual(["@a.ts  \t@b.ts"]);
});

const HOSTILE =
  "\x1b[2J\x1b]0;x\x07\x1b_pi:c\x07\x9b31m\x90q\x9c\0\x08\r\x7f\u202e\u2066\u200b\ufeff\ud800\u{10f05b}\u{10f15b}\u{e0041}\u{e0030}";

test("no control character reaches the terminal, however the text is entered", () => {
  const typed = new TypedEditor({ columns: 40, rows: 90, history: [HOSTILE] });
  typed.paste(HOSTILE);
  for (const character of HOSTILE) typed.editor.handleInput(character);
  for (const key of [KEYS.up, KEYS.up, KEYS.up]) {
    const shown = typed.rawRows().join("").replace("\x1b_pi:c\x07", "");
    expect(shown).not.toMatch(/[\p{Cc}\p{Co}\p{Cs}\u202e\u2066\u200b\ufeff\u{e0000}-\u{e007f}]/u);
    typed.type(key);
  }
  typed.editor.setText(HOSTILE);
  const shown = typed.rawRows().join("").replace("\x1b_pi:c\x07", "");
  expect(shown).not.toMatch(/[\p{Cc}\p{Co}\p{Cs}]/u);
});

test("characters that labels consist of are ordinary text when they come from outside", () => {
  const text = "a\u{10f05b}\u{e0030}\u{10f15d}b";
  const typed = new TypedEditor({ columns: 80 });
  typed.editor.setText(text);
  expect(typed.rows()).toEqual(["> a\\u{10f05b}\\u{e0030}\\u{10f15d}b|"]);
  expect(typed.type(KEYS.enter).sent).toEqual([text]);
});
