import { describe, expect, test } from "bun:test";
import { applyText } from "../../src/tui/effects.ts";
import { readText } from "../../src/tui/keys-to-effects.ts";
import { createPickerDialog } from "../../src/tui/pickers/picker.ts";
import { type ApprovalDialog, createView, type Dialog, type PickerDialog } from "../../src/tui/view.ts";

const view = createView({ cwd: "/work" });

const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

const picker: PickerDialog = {
  ...createPickerDialog({ name: "test", title: "Things", items: [], selected: 3 }),
  filter: "a",
};

const approval: ApprovalDialog = {
  type: "approval",
  content: [],
  hasAlways: true,
  stored: [],
  scroll: 0,
  wasEndSeen: true,
  isEditable: true,
  guardedUntil: 0,
};

const apply = (dialog: Dialog, data: string) => applyText({ ...view, dialog }, dialog, readText(data));

describe("a paste while a list is open", () => {
  test("filters the list, on one line, and selects its first item", () => {
    expect(apply(picker, paste("b\r\n c\td")).dialog).toEqual({ ...picker, filter: "ab c d", selected: 0 });
  });

  test("is inserted into the line that the list asks for", () => {
    const input = { label: "New name", text: "my " };
    expect(apply({ ...picker, input }, paste("session")).dialog).toEqual({
      ...picker,
      input: { ...input, text: "my session" },
    });
  });

  test("answers no question, whatever its text", () => {
    const asked = { ...picker, question: "Delete it?" };
    const after = apply(asked, paste("y"));
    expect([after.dialog, after.hint]).toEqual([asked, "Pasted text was ignored; press y to confirm"]);
  });
});

describe("a paste while an approval is pending", () => {
  test("allows nothing", () => {
    const after = apply(approval, paste("y\r"));
    expect([after.dialog, after.hint]).toEqual([approval, "Pasted text was ignored; press a key to answer"]);
  });

  test("is inserted into the message of a denial", () => {
    expect(apply({ ...approval, message: "use " }, paste("npm\nci")).dialog).toEqual({
      ...approval,
      message: "use npm ci",
    });
  });
});

test("keys that only the Kitty protocol names are text; releases, replies and control characters are not", () => {
  expect(
    ["\x1b[233u", "\x1b[97;1:3u", "\x1b[?62c", paste("\x1b[31mred\x07"), paste("")].map(readText),
  ).toEqual(["é", "", "", "[31mred", ""]);
});

test("a line keeps a thousand characters of a paste of a megabyte", () => {
  expect(readText(paste("x".repeat(1_000_000)))).toHaveLength(1_000);
});
