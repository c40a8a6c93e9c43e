import type { ActionId } from "../keys/actions.ts";
import type { PickerDialog, PickerItem, View } from "../view.ts";
import { filterItems } from "./picker-items.ts";

/** A list with what choosing means; `dialog` is what the screen shows of it. */
export interface Picker {
  dialog: PickerDialog;
  choose(id: string): Promise<void> | void;
  /** One of its own keys was pressed on an item. */
  pressKey?(action: ActionId, id: string | undefined): Promise<void> | void;
  /** Its question was answered with yes. */
  confirm?(id: string | undefined): Promise<void> | void;
  /** The line that it let the user write is ready. */
  submit?(text: string, id: string | undefined): Promise<void> | void;
  /** Closed without a choice. */
  close?(): void;
}

/** A list that nobody has moved in yet. */
export function createPickerDialog(
  fields: Pick<PickerDialog, "name" | "title" | "items"> & Partial<Pick<PickerDialog, "keys" | "selected">>,
): PickerDialog {
  return { type: "picker", filter: "", selected: 0, keys: [], ...fields };
}

/** The view with a list changed, if that list is what is open. */
export function changePicker(view: View, name: string, change: (dialog: PickerDialog) => PickerDialog): View {
  const { dialog } = view;
  return dialog?.type === "picker" && dialog.name === name ? { ...view, dialog: change(dialog) } : view;
}

/** The view without a list, if that list is what is open. */
export function closePicker(view: View, name: string): View {
  const { dialog } = view;
  return dialog?.type === "picker" && dialog.name === name ? { ...view, dialog: undefined } : view;
}

/** A list with other items; the item that was marked stays so, wherever it stands now. */
export function replaceItems(dialog: PickerDialog, items: readonly PickerItem[]): PickerDialog {
  const marked = filterItems(dialog)[dialog.selected]?.id;
  const shown = filterItems({ ...dialog, items });
  const position = shown.findIndex(({ id }) => id === marked);
  const selected = position < 0 ? Math.min(dialog.selected, Math.max(0, shown.length - 1)) : position;
  return { ...dialog, items, selected };
}
