import type { ActionId } from "../keys/actions.ts";
import type { View } from "../view.ts";
import type { Picker } from "./picker.ts";

/** The list that is open, and what its keys do: each resolves when it is done, or what went wrong was said. */
export class OpenPicker {
  private picker: Picker | undefined;

  constructor(
    private readonly change: (change: (view: View) => View) => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  /** A question that a run waits for is never covered up. */
  open(picker: Picker): void {
    let isAsked = false;
    this.change((view) => {
      isAsked = view.dialog?.type === "approval";
      return isAsked ? view : { ...view, dialog: picker.dialog };
    });
    if (isAsked) this.fail(new Error(`${picker.dialog.title} can be opened once the question is answered.`));
    else this.replace(picker);
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
