import { describe, expect, test } from "bun:test";
import { createKeymap } from "../../../src/tui/keys/keymap.ts";
import { applyKey } from "../../../src/tui/keys-to-effects.ts";
import { changePicker, createPickerDialog, replaceItems } from "../../../src/tui/pickers/picker.ts";
import { filterItems, pickerLines } from "../../../src/tui/pickers/picker-view.ts";
import { visibleWidth } from "../../../src/tui/screen/screen-text.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { createView, type PickerDialog, type View } from "../../../src/tui/view.ts";

const theme = createTheme({ color: false });
const keymap = createKeymap();

const items = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `id${index}`, label: `item ${index}` }));

function open(dialog: Partial<PickerDialog> = {}): View {
  const picker = createPickerDialog({
    name: "test",
    title: "Things",
    items: items(30),
    keys: [{ action: "list.rename", label: "rename" }],
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
  test("move to the first and the last item with Home and End, respecting the filter", () => {
    expect(dialogOf(press(open(), "end").view)?.selected).toBe(29);
    expect(dialogOf(press(open({ selected: 12 }), "home").view)?.selected).toBe(0);
    expect(dialogOf(press(open({ filter: "item 1" }), "end").view)?.selected).toBe(11);
    expect(dialogOf(press(open({ filter: "nothing" }), "end", "home").view)?.selected).toBe(0);
  });

  test("move the selection within the list, by one and by a page", () => {
    const selected = (...names: string[]) => dialogOf(press(open(), ...names).view)?.selected;
    expect([
      selected("up"),
      selected("down", "down"),
      selected("pageDown"),
      selected("pageDown", "pageUp"),
    ]).toEqual([0, 2, 10, 0]);
    expect(selected(...Array.from({ length: 40 }, () => "down"))).toBe(29);
  });

  test("filter by typed words, and choose from what is left", () => {
    const { view, effects } = press(open(), "2", "9", "enter");
    expect([view.dialog, effects]).toEqual([undefined, [{ type: "choose", id: "id29" }]]);
    expect(dialogOf(press(open(), "a", "b", " ", "c", "ctrl+w", "backspace").view)?.filter).toBe("ab");
    expect(dialogOf(press(open(), "a", "ctrl+u").view)?.filter).toBe("");
  });

  test("suspend with Ctrl+Z, and the list, its question and its line are still there afterwards", () => {
    for (const dialog of [{}, { question: "Sure?" }, { input: { label: "Name", text: "a" } }]) {
      const before = open(dialog);
      expect(press(before, "ctrl+z")).toEqual({ view: before, effects: [{ type: "suspend" }] });
    }
  });

  test("choose nothing if nothing matches", () => {
    const { view, effects } = press(open(), "x", "y", "z", "down", "enter");
    expect(effects).toEqual([]);
    expect(dialogOf(view)?.selected).toBe(0);
  });

  test("of the list itself are reported with the selected item, and the list stays open", () => {
    const { view, effects } = press(open(), "down", "ctrl+r");
    expect(effects).toEqual([{ type: "pickerKey", action: "list.rename", id: "id1" }]);
    expect(view.dialog).toBeDefined();
  });

  test("of the list itself, and all others, are shown as the user has bound them", () => {
    const own = createKeymap({ "list.rename": ["f2"], "list.close": [], "list.choose": ["ctrl+j"] });
    const dialog = dialogOf(open());
    const shown = dialog ? pickerLines(dialog, { width: 60, rows: 12, theme, keymap: own }) : [];
    expect(shown.at(-1)).toBe("Ctrl+J choose · F2 rename");
    const context = { keymap: own, isPromptEmpty: true, now: 0, rows: 24, columns: 80 };
    const effects = (name: string) => applyKey(open(), { name, data: "\x1b" }, context).effects;
    expect(effects("f2")).toEqual([{ type: "pickerKey", action: "list.rename", id: "id0" }]);
    expect(effects("ctrl+r")).toEqual([]);
  });

  test("close it", () => {
    expect(press(open(), "escape")).toMatchObject({
      view: { dialog: undefined },
      effects: [{ type: "closePicker" }],
    });
  });

  test("answer a question: only y confirms, and the key has no other effect", () => {
    const asked = open({ question: "Sure?" });
    expect(press(asked, "y").effects).toEqual([{ type: "confirmPicker", id: "id0" }]);
    for (const key of ["n", "enter", "escape", "ctrl+r", "down"]) {
      const { view, effects } = press(asked, key);
      expect([effects, dialogOf(view)?.question, dialogOf(view)?.filter]).toEqual([[], undefined, ""]);
    }
  });

  test("type into a requested line, and submit or cancel it", () => {
    const asked = open({ input: { label: "Name", text: "ab" }, selected: 3 });
    const { view, effects } = press(asked, "c", "y", "backspace", " ", "d", "enter");
    expect(effects).toEqual([{ type: "submitPicker", id: "id3", text: "abc d" }]);
    expect(dialogOf(view)).toMatchObject({ input: undefined, filter: "" });
    expect(press(asked, "x", "escape").effects).toEqual([]);
  });
});

describe("the filter of a list", () => {
  test("shows whole words first, then beginnings of words, each in their order", () => {
    const named = ["pronto", "gpt pro-mini", "the o", "pro", "probe"].map((label, index) => ({
      id: `${index}`,
      label,
    }));
    const found = (filter: string) => filterItems({ items: named, filter }).map(({ label }) => label);
    expect(found("pro")).toEqual(["gpt pro-mini", "pro", "pronto", "probe"]);
    expect(found("o")).toEqual(["the o", "pronto", "gpt pro-mini", "pro", "probe"]);
    expect(found("pro mini")).toEqual(["gpt pro-mini"]);
    const tree = named.map((item) => ({ ...item, depth: 0 }));
    expect(filterItems({ items: tree, filter: "pro" }).map(({ id }) => id)).toEqual(["0", "1", "3", "4"]);
  });

  const list = [
    { id: "1", label: "Alpha", detail: "first", searchText: "hidden" },
    { id: "2", label: "beta" },
  ];

  test("searches label, detail and search text, whatever the case and order", () => {
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
  test("keeps the selection on its item, or near its position if that is gone", () => {
    const dialog = createPickerDialog({ name: "test", title: "", items: items(5), selected: 3 });
    expect(replaceItems(dialog, items(5).toReversed()).selected).toBe(1);
    expect(replaceItems(dialog, items(2)).selected).toBe(1);
    expect(replaceItems(dialog, []).selected).toBe(0);
  });

  test("changes only while it is open", () => {
    const view = open();
    const rename = (dialog: PickerDialog) => ({ ...dialog, title: "Other" });
    expect(dialogOf(changePicker(view, "test", rename))?.title).toBe("Other");
    expect(changePicker(view, "another", rename)).toBe(view);
    expect(changePicker(createView({ cwd: "/" }), "test", rename).dialog).toBeUndefined();
  });
});

describe("the rendering of a list", () => {
  const look = { width: 60, rows: 12, theme, keymap };
  const lines = (dialog: Partial<PickerDialog>, at = look) => {
    const shown = dialogOf(open(dialog));
    return shown ? pickerLines(shown, at) : [];
  };

  test("shows title, filter, position, the items around the selected one, and the keys", () => {
    expect(lines({ selected: 15 })).toEqual([
      "Things  type to filter  16/30",
      "  item 13",
      "  item 14",
      "› item 15".padEnd(60),
      "  item 16",
      "  item 17",
      "Enter choose · Ctrl+R rename · Esc close",
    ]);
  });

  test("aligns details in one column, and indents", () => {
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

  test("shows the text being typed, and a question instead of the keys", () => {
    expect(lines({ input: { label: "Name", text: "ab " } })[0]).toBe("Things  Name: ab ▏  1/30");
    expect(lines({ question: "Delete it?" }).at(-1)).toBe("Delete it? [y/N]");
    expect(lines({ filter: "nothing" }).slice(0, 2)).toEqual(["Things  nothing  0/0", "  no matches"]);
  });

  test("fits into any width and height, whatever the texts contain", () => {
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
        const shown = lines({ title: nasty, items: list, ...fields }, { width, rows: 5, theme, keymap });
        expect(shown.filter((line) => visibleWidth(line) > Math.max(2, width))).toEqual([]);
        expect(shown.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
      }
  });
});
