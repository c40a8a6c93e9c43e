import { editLine } from "../edit-line.ts";
import type { KeyContext, KeyOutcome, KeyPress } from "../effects.ts";
import type { PickerDialog, View } from "../view.ts";
import { filterItems } from "./picker-items.ts";
import { listRows } from "./picker-view.ts";

interface PickerKey {
  key: KeyPress;
  context: KeyContext;
}

/** A key while a list is open: moves, filters, chooses, closes, or is one of the list's own. Pure. */
export function applyPickerKey(view: View, picker: PickerDialog, pressed: PickerKey): KeyOutcome {
  if (picker.question !== undefined) return answerQuestion(view, picker, pressed.key);
  if (picker.input !== undefined) return writeInput(view, { ...picker, input: picker.input }, pressed);
  const { key, context } = pressed;
  const { keymap } = context;
  const id = chosenId(picker);
  const own = picker.keys.find(({ action }) => keymap.matches(key.name, action));
  if (own) return { view, effects: [{ type: "pickerKey", action: own.action, id }] };
  if (keymap.matches(key.name, "list.close"))
    return { view: { ...view, dialog: undefined }, effects: [{ type: "closePicker" }] };
  if (keymap.matches(key.name, "list.choose")) {
    if (id === undefined) return { view, effects: [] };
    return { view: { ...view, dialog: undefined }, effects: [{ type: "choose", id }] };
  }
  const selected = moveTo(picker, pressed);
  if (selected !== undefined) return unanswered(view, { ...picker, selected });
  const filter = editLine(picker.filter, key);
  return filter === undefined ? { view, effects: [] } : unanswered(view, { ...picker, filter, selected: 0 });
}

function chosenId(picker: PickerDialog): string | undefined {
  return filterItems(picker)[picker.selected]?.id;
}

/** Everything but a clear yes is a no. */
function answerQuestion(view: View, picker: PickerDialog, { name }: KeyPress): KeyOutcome {
  const asked = { ...view, dialog: { ...picker, question: undefined } };
  const isYes = name === "y" || name === "shift+y" || name === "Y";
  if (!isYes) return { view: asked, effects: [] };
  return { view: asked, effects: [{ type: "confirmPicker", id: chosenId(picker) }] };
}

function writeInput(
  view: View,
  picker: PickerDialog & { input: NonNullable<PickerDialog["input"]> },
  { key, context: { keymap } }: PickerKey,
): KeyOutcome {
  const { input } = picker;
  const written = { ...view, dialog: { ...picker, input: undefined } };
  if (keymap.matches(key.name, "list.close")) return { view: written, effects: [] };
  if (keymap.matches(key.name, "list.choose")) {
    const id = chosenId(picker);
    return { view: written, effects: [{ type: "submitPicker", id, text: input.text }] };
  }
  const text = editLine(input.text, key);
  return unanswered(view, text === undefined ? picker : { ...picker, input: { ...input, text } });
}

/** Where the mark goes; undefined for a key that does not move it. */
function moveTo(picker: PickerDialog, { key, context }: PickerKey): number | undefined {
  const { keymap, rows } = context;
  const last = filterItems(picker).length - 1;
  const steps = [
    ["list.up", -1],
    ["list.down", 1],
    ["list.pageUp", -listRows(rows)],
    ["list.pageDown", listRows(rows)],
    ["list.first", -last],
    ["list.last", last],
  ] as const;
  const step = steps.find(([action]) => keymap.matches(key.name, action))?.[1];
  if (step === undefined) return undefined;
  return Math.max(0, Math.min(last, picker.selected + step));
}

function unanswered(view: View, dialog: PickerDialog): KeyOutcome {
  return { view: { ...view, dialog }, effects: [] };
}
