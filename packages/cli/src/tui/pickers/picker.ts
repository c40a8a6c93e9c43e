import type { ActionId } from "../keys/keymap.ts";
import type { PickerDialog, PickerItem, View } from "../view.ts";
import { filterItems } from "./picker-view.ts";

/** A list and the effects of its choices; `dialog` is what the screen shows of it. */
export interface Picker {
  dialog: PickerDialog;
  /** Called when the list is on the screen; later results can be shown in it. */
  onOpened?(): void;
  choose(id: string): Promise<void> | void;
  /** Called when one of its own keys was pressed on an item. */
  pressKey?(action: ActionId, id: string | undefined): Promise<void> | void;
  /** Called when its question was confirmed. */
  confirm?(id: string | undefined): Promise<void> | void;
  /** Called when the requested line is complete. */
  submit?(text: string, id: string | undefined): Promise<void> | void;
  /** Called when it was closed without a choice. */
  close?(): void;
}

/** A new list with its initial selection. */
export function createPickerDialog(
  fields: Pick<PickerDialog, "name" | "title" | "items"> & Partial<Pick<PickerDialog, "keys" | "selected">>,
): PickerDialog {
  return { type: "picker", filter: "", selected: 0, keys: [], ...fields };
}

/** The view with a list changed, if that list is open. */
export function changePicker(view: View, name: string, change: (dialog: PickerDialog) => PickerDialog): View {
  const { dialog } = view;
  return dialog?.type === "picker" && dialog.name === name ? { ...view, dialog: change(dialog) } : view;
}

/** The view without a list, if that list is open. */
export function closePicker(view: View, name: string): View {
  const { dialog } = view;
  return dialog?.type === "picker" && dialog.name === name ? { ...view, dialog: undefined } : view;
}

/** A list with new items; the selected item stays selected, wherever it is now. */
export function replaceItems(dialog: PickerDialog, items: readonly PickerItem[]): PickerDialog {
  const marked = filterItems(dialog)[dialog.selected]?.id;
  const shown = filterItems({ ...dialog, items });
  const position = shown.findIndex(({ id }) => id === marked);
  const selected = position < 0 ? Math.min(dialog.selected, Math.max(0, shown.length - 1)) : position;
  return { ...dialog, items, selected };
}

/** One of several choices; `detail` is shown dim after it. */
export interface Choice {
  label: string;
  detail?: string;
  run(): Promise<void> | void;
}

/** A list of a few choices; closing it does nothing. */
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

/**
 * The open list, and the effects of its keys: each resolves when it is done, or when its failure was
 * reported.
 */
export class OpenPicker {
  private picker: Picker | undefined;

  constructor(
    private readonly change: (change: (view: View) => View) => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  /** Never covers a question that a run is waiting for. */
  open(picker: Picker): void {
    let isAsked = false;
    this.change((view) => {
      isAsked = view.dialog?.type === "approval";
      return isAsked ? view : { ...view, dialog: picker.dialog };
    });
    if (isAsked) this.fail(new Error(`${picker.dialog.title} is available after you answer the question.`));
    else {
      this.replace(picker);
      void this.run(() => picker.onOpened?.());
    }
  }

  private replace(picker: Picker): void {
    const before = this.picker;
    this.picker = picker;
    if (before !== picker) void this.run(() => before?.close?.());
  }

  choose(id: string): Promise<void> {
    const { picker } = this;
    this.picker = undefined;
    return this.run(() => picker?.choose(id));
  }

  pressKey(action: ActionId, id: string | undefined): Promise<void> {
    return this.run(() => this.picker?.pressKey?.(action, id));
  }

  confirm(id: string | undefined): Promise<void> {
    return this.run(() => this.picker?.confirm?.(id));
  }

  submit(text: string, id: string | undefined): Promise<void> {
    return this.run(() => this.picker?.submit?.(text, id));
  }

  close(): Promise<void> {
    const { picker } = this;
    this.picker = undefined;
    return this.run(() => picker?.close?.());
  }

  private run(work: () => Promise<void> | void): Promise<void> {
    return Promise.resolve().then(work).catch(this.fail);
  }
}
