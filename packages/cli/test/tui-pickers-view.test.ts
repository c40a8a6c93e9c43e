import { describe, expect, test } from "bun:test";
import { applyKey } from "../src/tui/apply-key.ts";
import { createKeymap } from "../src/tui/keys/keymap.ts";
import { changePicker, createPickerDialog, replaceItems } from "../src/tui/pickers/picker.ts";
import { filterItems } from "../src/tui/pickers/picker-items.ts";
import { pickerLines } from "../src/tui/pickers/picker-view.ts";
import { visibleWidth } from "../src/tui/screen/screen-text.ts";
import { createTheme } from "../src/tui/theme.ts";
import { createView, type PickerDialog, type View } from "../src/tui/view.ts";

const theme = createTheme({ color: false });
const keymap = createKeymap();

const items = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `id${index}`, label: `item ${index}` }));

function open(dialog: Partial<PickerDialog> = {}): View {
  const picker = createPickerDialog({
    name: "test",
    title: "Things",
    items: items(30),
    keys: [{ key: "ctrl+r", label: "rename" }],
  });
  return { ...createView({ cwd: "/work" }), dialog: { ...picker, ...dialog } };
}

function press(view: View, ...names: string[]) {
  return names.reduce(
    (before, name) => {
      const context = { keymap, isPromptEmpty: true, now: 0, rows: 24, columns: 80 };
      const after = applyKey(before.view, { name, data: name }, context);
      return { view: after.view, effects: [...before.effects, ...after.effects] };
    },
    { view, effects: [] as readonly unknown[] },
  );
}

const dialogOf = ({ dialog }: View) => (dialog?.type === "picker" ? dialog : undefined);

describe("keys in a list", () => {
  test("move the mark within the list, by one and by a page", () => {
    const selected = (...names: string[]) => dialogOf(press(open(), ...names).view)?.selected;
    expect([
      selected("up"),
      selected("down", "down"),
      selected("pageDown"),
      selected("pageDown", "pageUp"),
    ]).toEqual([0, 2, 14, 0]);
    expect(selected(...Array.from({ length: 40 }, () => "down"))).toBe(29);
  });

  test("filter by what is typed, word by word, and choose what is left", () => {
    const { view, effects } = press(open(), "2", "9", "enter");
    expect([view.dialog, effects]).toEqual([undefined, [{ type: "choose", picker: "test", id: "id29" }]]);
    expect(dialogOf(press(open(), "a", "b", " ", "c", "ctrl+w", "backspace").view)?.filter).toBe("ab");
    expect(dialogOf(press(open(), "a", "ctrl+u").view)?.filter).toBe("");
  });

  test("that match nothing choose nothing", () => {
    const { view, effects } = press(open(), "x", "y", "z", "down", "enter");
    expect(effects).toEqual([]);
    expect(dialogOf(view)?.selected).toBe(0);
  });

  test("of its own are told with the marked item, and the list stays open", () => {
    const { view, effects } = press(open(), "down", "ctrl+r");
    expect(effects).toEqual([{ type: "pickerKey", picker: "test", key: "ctrl+r", id: "id1" }]);
    expect(view.dialog).toBeDefined();
  });

  test("close it", () => {
    expect(press(open(), "escape")).toMatchObject({
      view: { dialog: undefined },
      effects: [{ type: "closePicker", picker: "test" }],
    });
  });

  test("answer a question: only y is a yes, and nothing else is done with that key", () => {
    const asked = open({ question: "Sure?" });
    expect(press(asked, "y").effects).toEqual([{ type: "confirmPicker", picker: "test", id: "id0" }]);
    for (const key of ["n", "enter", "escape", "ctrl+r", "down"]) {
      const { view, effects } = press(asked, key);
      expect([effects, dialogOf(view)?.question, dialogOf(view)?.filter]).toEqual([[], undefined, ""]);
    }
  });

  test("write a line where one is asked for, and hand it over or leave it", () => {
    const asked = open({ input: { label: "Name", text: "ab" }, selected: 3 });
    const { view, effects } = press(asked, "c", "y", "backspace", " ", "d", "enter");
    expect(effects).toEqual([{ type: "submitPicker", picker: "test", id: "id3", text: "abc d" }]);
    expect(dialogOf(view)).toMatchObject({ input: undefined, filter: "" });
    expect(press(asked, "x", "escape").effects).toEqual([]);
  });
});

describe("the filter", () => {
  const list = [
    { id: "1", label: "Alpha", detail: "first", searchText: "hidden" },
    { id: "2", label: "beta" },
  ];

  test("looks at label, detail and search text, whatever the case and order", () => {
    const ids = (filter: string) => filterItems({ items: list, filter }).map(({ id }) => id);
    expect([ids("ALPHA"), ids("first alp"), ids("HID"), ids("a"), ids("gamma")]).toEqual([
      ["1"],
      ["1"],
      ["1"],
      ["1", "2"],
      [],
    ]);
  });
});

describe("a list whose items change", () => {
  test("keeps the mark on its item, or near its place where that is gone", () => {
    const dialog = createPickerDialog({ name: "test", title: "", items: items(5), selected: 3 });
    expect(replaceItems(dialog, items(5).toReversed()).selected).toBe(1);
    expect(replaceItems(dialog, items(2)).selected).toBe(1);
    expect(replaceItems(dialog, []).selected).toBe(0);
  });

  test("is changed only while it is the one that is open", () => {
    const view = open();
    const rename = (dialog: PickerDialog) => ({ ...dialog, title: "Other" });
    expect(dialogOf(changePicker(view, "test", rename))?.title).toBe("Other");
    expect(changePicker(view, "another", rename)).toBe(view);
    expect(changePicker(createView({ cwd: "/" }), "test", rename).dialog).toBeUndefined();
  });
});

describe("the look of a list", () => {
  const look = { width: 60, rows: 12, theme };
  const lines = (dialog: Partial<PickerDialog>, at = look) => {
    const shown = dialogOf(open(dialog));
    return shown ? pickerLines(shown, at) : [];
  };

  test("shows title, filter, place, the items around the marked one, and the keys", () => {
    expect(lines({ selected: 15 })).toEqual([
      "Things  type to filter  16/30",
      "  item 12",
      "  item 13",
      "  item 14",
      "› item 15".padEnd(60),
      "  item 16",
      "  item 17",
      "  item 18",
      "Enter choose · Ctrl+R rename · Esc close",
    ]);
  });

  test("has details in one column, and indents", () => {
    const list = [
      { id: "1", label: "short", detail: "one" },
      { id: "2", label: "a longer label", detail: "two" },
      { id: "3", label: "inner", depth: 1 },
    ];
    expect(lines({ items: list, selected: 2, keys: [] }).slice(1, -1)).toEqual([
      "  short           one",
      "  a longer label  two",
      "›   inner".padEnd(60),
    ]);
  });

  test("cuts a long label so that there is room for its detail", () => {
    const [, line = ""] = lines({ items: [{ id: "1", label: "x".repeat(200), detail: "two days ago" }] });
    expect(line).toMatch(/^› x+… {2}two days ago/);
  });

  test("shows what is being written, and a question in place of the keys", () => {
    expect(lines({ input: { label: "Name", text: "ab " } })[0]).toBe("Things  Name: ab ▏  1/30");
    expect(lines({ question: "Delete it?" }).at(-1)).toBe("Delete it? [y/N]");
    expect(lines({ filter: "nothing" }).slice(0, 2)).toEqual(["Things  nothing  0/0", "  nothing matches"]);
  });

  test("fits into any width and height, whatever the texts hold", () => {
    const nasty = `\x1b[2J漢字\u202e👨\u200d👩\u200d👧 \t\n${"long ".repeat(50)}`;
    const list = Array.from({ length: 9 }, (_, index) => ({
      id: String(index),
      label: nasty,
      detail: nasty,
      depth: index * 5,
    }));
    for (const width of [1, 5, 12, 20, 40, 79, 200])
      for (const fields of [
        {},
        { filter: nasty },
        { question: nasty },
        { input: { label: "Label", text: nasty } },
      ]) {
        const shown = lines({ title: nasty, items: list, ...fields }, { width, rows: 5, theme });
        expect(shown.filter((line) => visibleWidth(line) > Math.max(2, width))).toEqual([]);
        expect(shown.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
      }
  });
});
