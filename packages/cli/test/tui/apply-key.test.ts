import { describe, expect, test } from "bun:test";
import { type ActionId, createKeymap } from "../../src/tui/keys/keymap.ts";
import { applyKey } from "../../src/tui/keys-to-effects.ts";
import { createView, type View } from "../../src/tui/view.ts";

const QUIET = createView({ cwd: "/p" });
const WORKING: View = { ...QUIET, activity: { type: "waiting", since: 0 } };
const TAKE_BACK = { type: "takeBack", which: "all" };

interface Press {
  key: string;
  at?: number;
  isPromptEmpty?: boolean;
  bindings?: Partial<Record<ActionId, readonly string[]>>;
}

/** The effect of each key and the hint that it leaves, one after the other. */
function play(
  start: View,
  presses: readonly Press[],
): { effects: readonly object[]; hint: string | undefined }[] {
  let view = start;
  return presses.map(({ key, at = 0, isPromptEmpty = true, bindings = {} }) => {
    const context = { keymap: createKeymap(bindings), isPromptEmpty, now: at, rows: 24, columns: 80 };
    const outcome = applyKey(view, { name: key, data: key }, context);
    view = outcome.view;
    return { effects: outcome.effects, hint: view.hint };
  });
}

describe("Esc", () => {
  test("stops what is running each time, and returns queued prompts", () => {
    const stopped = { effects: [TAKE_BACK, { type: "abort" }], hint: undefined };
    expect(play(WORKING, [{ key: "escape" }, { key: "escape" }])).toEqual([stopped, stopped]);
  });

  test("pressed twice opens the tree on an empty prompt, and clears any other prompt", () => {
    expect(play(QUIET, [{ key: "escape" }, { key: "escape", at: 1_000 }])).toEqual([
      { effects: [], hint: undefined },
      { effects: [{ type: "openPicker", name: "tree" }], hint: undefined },
    ]);
    const written = { key: "escape", isPromptEmpty: false };
    expect(play(QUIET, [written, written])).toEqual([
      { effects: [], hint: "Press Esc again to clear the prompt" },
      { effects: [{ type: "clearPrompt" }], hint: undefined },
    ]);
  });

  test("pressed twice with another key or too much time between counts once", () => {
    const once = { key: "escape" };
    expect(play(QUIET, [once, { key: "x" }, once]).at(-1)?.effects).toEqual([]);
    expect(play(QUIET, [once, { ...once, at: 1_001 }]).at(-1)?.effects).toEqual([]);
  });
});

describe("Ctrl+C", () => {
  test("clears the prompt before it stops anything, and quits when pressed again", () => {
    const hint = "Press Ctrl+C again to quit";
    expect(
      play(WORKING, [
        { key: "ctrl+c", isPromptEmpty: false },
        { key: "ctrl+c", at: 500 },
      ]),
    ).toEqual([
      { effects: [{ type: "clearPrompt" }], hint },
      { effects: [{ type: "exit" }], hint: undefined },
    ]);
    expect(play(WORKING, [{ key: "ctrl+c" }])).toEqual([{ effects: [TAKE_BACK, { type: "abort" }], hint }]);
    expect(play(QUIET, [{ key: "ctrl+c" }, { key: "ctrl+c", at: 1_001 }]).at(-1)).toEqual({
      effects: [],
      hint,
    });
  });
});

test("hints name the keys as the user has bound them", () => {
  const bindings = { "app.interrupt": ["ctrl+x"], "app.clear": ["f4"] };
  const hints = play(QUIET, [
    { key: "ctrl+x", bindings, isPromptEmpty: false },
    { key: "f4", bindings },
    { key: "escape", bindings },
  ]);
  expect(hints).toEqual([
    { effects: [], hint: "Press Ctrl+X again to clear the prompt" },
    { effects: [], hint: "Press F4 again to quit" },
    { effects: [{ type: "edit", data: "escape" }], hint: undefined },
  ]);
});
