import { createPickerDialog, type Picker } from "./picker.ts";

/** One of the ways to go on; `detail` is shown dim behind it. */
export interface Choice {
  label: string;
  detail?: string;
  run(): Promise<void> | void;
}

/** A list of a few ways to go on; closing it does nothing. */
export function createChoice(name: string, title: string, choices: readonly Choice[]): Picker {
  const items = choices.map(({ label, detail }, index) => ({
    id: String(index),
    label,
    ...(detail !== undefined && { detail }),
  }));
  return {
    dialog: createPickerDialog({ name, title, items }),
    choose: (id) => choices[Number(id)]?.run(),
  };
}
