import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import { loadKeybindings, ReloadableKeys } from "../../../src/tui/keys/keybindings.ts";
import {
  ACTIONS,
  createKeymap,
  describeKeys,
  EDITOR_ACTIONS,
  findConflicts,
  installEditorKeys,
  nameKey,
  readKeyName,
} from "../../../src/tui/keys/keymap.ts";
import { createTemporaryProject } from "../../support/temporary-project.ts";

/** The result of loading such a file; FILE stands for its path. */
async function load(content: string | undefined) {
  const { home, remove } = createTemporaryProject();
  const directory = join(home, ".config", "diligent");
  const path = join(directory, "keybindings.json");
  mkdirSync(directory, { recursive: true });
  if (content !== undefined) writeFileSync(path, content);
  try {
    const { keymap, editorKeys, problems, warnings } = await loadKeybindings({ HOME: home });
    const named = (lines: readonly string[]) => lines.map((line) => line.replaceAll(path, "FILE"));
    return { keymap, editorKeys, problems: named(problems), warnings: named(warnings) };
  } finally {
    remove();
  }
}

test("reloaded keys apply at once, in our components and in the text editor, and problems are reported", async () => {
  const { home, remove } = createTemporaryProject();
  try {
    const keys = new ReloadableKeys(await loadKeybindings({ HOME: home }), { HOME: home });
    const { keymap } = keys;
    expect(keymap.matches("ctrl+x", "app.model")).toBe(false);
    mkdirSync(join(home, ".config", "diligent"), { recursive: true });
    const path = join(home, ".config", "diligent", "keybindings.json");
    const bindings = { "app.model": "ctrl+x", "tui.input.submit": "ctrl+s", "app.modle": "ctrl+y" };
    writeFileSync(path, JSON.stringify(bindings));
    expect(await keys.reload()).toEqual([expect.stringContaining('did you mean "app.model"?')]);
    expect([keymap.matches("ctrl+x", "app.model"), keymap.nameOf("app.model")]).toEqual([true, "Ctrl+X"]);
    expect(keys.editorKeys).toEqual({ "tui.input.submit": ["ctrl+s"] });
    expect(getKeybindings().matches("\x13", "tui.input.submit")).toBe(true);
  } finally {
    installEditorKeys();
    remove();
  }
});

describe("keybindings.json", () => {
  test("keeps the default keys if it is missing", async () => {
    const { keymap, editorKeys, problems, warnings } = await load(undefined);
    expect(keymap.keysOf("app.interrupt")).toEqual(["escape"]);
    expect({ editorKeys, problems, warnings }).toEqual({ editorKeys: {}, problems: [], warnings: [] });
  });

  test("binds our actions and those of the editor, to one key, several or none", async () => {
    const { keymap, editorKeys, problems, warnings } = await load(`{
      // comments are allowed
      "$schema": "./x.json",
      "app.interrupt": ["escape", "Ctrl+X"],
      "app.model": [],
      "tui.editor.undo": "alt+u",
    }`);
    expect(keymap.keysOf("app.interrupt")).toEqual(["escape", "ctrl+x"]);
    expect(keymap.matches("ctrl+x", "app.interrupt")).toBe(true);
    expect(keymap.matches("alt+p", "app.model")).toBe(false);
    expect(keymap.keysOf("app.clear")).toEqual(["ctrl+c"]);
    expect(editorKeys).toEqual({ "tui.editor.undo": ["alt+u"] });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  });

  test("names an unknown action with its position and the nearest one, and the rest applies", async () => {
    const { keymap, problems } = await load(`{
  "app.interupt": "ctrl+x",
  "frobnicate": "ctrl+y",
  "app.exit": "ctrl+q"
}`);
    expect(problems).toEqual([
      'FILE:2:3: key "app.interupt": unknown action; did you mean "app.interrupt"?',
      'FILE:3:3: key "frobnicate": unknown action; /keys lists them',
    ]);
    expect(keymap.keysOf("app.exit")).toEqual(["ctrl+q"]);
  });

  test("names an invalid key with its line, and the others of its list apply", async () => {
    const { keymap, problems } = await load(`{
  "app.exit": ["ctrl+q",
    "ctrl+escpe"],
  "app.model": "hyper+m",
  "app.thinking": "ctrl++",
  "app.suspend": 5
}`);
    expect(problems).toEqual([
      'FILE:3:5: key "app.exit": "ctrl+escpe" is not a key; did you mean "escape"?',
      'FILE:4:3: key "app.model": "hyper+m" is not a key',
      'FILE:5:3: key "app.thinking": "ctrl++" ends in a plus, which cannot be bound',
      'FILE:6:3: key "app.suspend": expected a key such as "ctrl+g", or a list of keys; [] removes its keys',
    ]);
    expect(keymap.keysOf("app.exit")).toEqual(["ctrl+q"]);
    expect(keymap.keysOf("app.model")).toEqual(["alt+p"]);
  });

  test("may not bind a key that types text where text is typed, but may in an approval", async () => {
    const { keymap, problems } = await load(`{
  "app.model": "m",
  "tui.input.submit": ["space", "A"],
  "list.up": "k",
  "approval.session": "A"
}`);
    expect(problems).toEqual([
      'FILE:2:3: key "app.model": m types text there; add ctrl or alt',
      'FILE:3:24: key "tui.input.submit": space types text there; add ctrl or alt',
      'FILE:3:33: key "tui.input.submit": A types text there; add ctrl or alt',
      'FILE:4:3: key "list.up": k filters the list there; add ctrl or alt',
    ]);
    expect(keymap.matches("A", "approval.session")).toBe(true);
    expect(keymap.matches("shift+a", "approval.session")).toBe(true);
    expect(keymap.matches("a", "approval.session")).toBe(false);
  });

  test("causes a warning for one key with two actions at the same time, and for surprising keys", async () => {
    const { editorKeys, problems, warnings } = await load(`{
  "tui.editor.undo": "ctrl+z",
  "approval.once": "n",
  "list.sort": "ctrl+z",
  "list.up": "alt+n",
  "app.model": "ctrl+m",
  "tui.input.submit": [],
  "tui.input.submit": []
}`);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'FILE:8:3: key "tui.input.submit": it is set more than once; the last one applies',
      'FILE:4:3: key "list.sort": ctrl+z is bound to both app.suspend and list.sort',
      'FILE:2:3: key "tui.editor.undo": ctrl+z is bound to both app.suspend and tui.editor.undo',
      'FILE:3:3: key "approval.once": n is bound to both approval.once and approval.reject',
      'FILE:6:3: key "app.model": most terminals send ctrl+m as enter',
      'FILE:8:3: key "tui.input.submit": no key is left to send a prompt',
    ]);
    expect(editorKeys["tui.editor.undo"]).toEqual(["ctrl+z"]);
  });

  for (const [name, content, problem] of [
    ["a broken one", '{ "app.exit": }', "FILE:1:15: expected a value"],
    ["an empty one", "", "FILE:1:1: the file is empty; a configuration without settings is {}"],
    ["a list", "[]", "FILE:1:1: expected an object in { }"],
    ["one of other bytes", "\xff\xfe{}", undefined],
  ] as const)
    test(`with ${name} is reported, and the default keys apply`, async () => {
      const { keymap, problems } = await load(content);
      expect(problems).toHaveLength(1);
      if (problem !== undefined) expect(problems).toEqual([problem]);
      expect(keymap.keysOf("app.exit")).toEqual(["ctrl+d"]);
    });

  test("that is a directory is reported", async () => {
    const { home, remove } = createTemporaryProject();
    const path = join(home, ".config", "diligent", "keybindings.json");
    mkdirSync(path, { recursive: true });
    const { problems } = await loadKeybindings({ HOME: home });
    remove();
    expect(problems).toEqual([`${path}: it cannot be read: ${path} is a directory`]);
  });
});

describe("names of keys", () => {
  for (const [given, name] of [
    ["Control+Shift+P", "shift+ctrl+p"],
    ["esc", "escape"],
    ["RETURN", "enter"],
    ["PageUp", "pageUp"],
    ["alt + up", "alt+up"],
    ["cmd+k", "super+k"],
    ["ctrl+-", "ctrl+-"],
    ["A", "shift+a"],
    ["F12", "f12"],
    ["", undefined],
    ["ctrl", undefined],
    ["ctrl+ctrl+a", undefined],
    ["ctrl+é", undefined],
    ["+", undefined],
    ["toString", undefined],
    ["constructor+a", undefined],
  ] as const)
    test(`${JSON.stringify(given)} is ${name ?? "invalid"}`, () => {
      expect(readKeyName(given)).toBe(name);
    });

  test("Home and End are recognized in every form that a terminal or tmux sends", () => {
    expect(["\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"].map(nameKey)).toEqual(Array(4).fill("home"));
    expect(["\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"].map(nameKey)).toEqual(Array(4).fill("end"));
    expect(["\x1b[200~", "\x1b[9999~", "\x1b[I"].map(nameKey)).toEqual([undefined, undefined, undefined]);
  });

  test("all default keys have the names of the terminal library", () => {
    const keys = [...Object.values(ACTIONS), ...EDITOR_ACTIONS].flatMap(({ keys }) => [...keys]);
    expect(keys.filter((key) => readKeyName(key) !== key)).toEqual([]);
  });
});

test("the default keys, which overlap on purpose, are not a conflict", () => {
  expect(findConflicts(new Map())).toEqual([]);
});

test("a list's own keys are checked like all others", () => {
  expect(findConflicts(new Map([["list.rename", ["ctrl+d"]]]))).toEqual([
    { key: "ctrl+d", actions: ["list.delete", "list.rename"] },
  ]);
});

test("the same key in places that never appear together is not a conflict", () => {
  expect(findConflicts(new Map([["list.close", ["n"]]]))).toEqual([]);
});

test("keys are described with their current bindings", () => {
  const rows = describeKeys(createKeymap({ "app.exit": ["ctrl+q"] }), { "tui.editor.undo": ["ctrl+z"] });
  const row = (action: string) => rows.find((each) => each.action === action);
  expect(row("app.exit")).toEqual({
    action: "app.exit",
    keys: ["ctrl+q"],
    label: "Quit, on an empty prompt",
  });
  expect(row("tui.editor.undo")).toEqual({ action: "tui.editor.undo", keys: ["ctrl+z"], label: "Undo" });
  expect(row("tui.input.newLine")?.keys).toEqual(["shift+enter", "ctrl+j", "alt+enter"]);
  expect(row("tui.input.copy")).toBeUndefined();
  expect(rows).toHaveLength(Object.keys(ACTIONS).length + EDITOR_ACTIONS.length);
});
